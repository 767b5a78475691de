#include "coordinator/report/fio_logs.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

typedef enum { BW, IOPS, CLAT, LAT, SLAT, KINDS } log_kind_t;
static const char *const kind_names[KINDS] = {"bw", "iops", "clat", "lat", "slat"};

static uint64_t value_of(log_kind_t kind, const rb_window_op_t *op, double seconds)
{
    double ops = (double)op->ops, value = 0;
    switch (kind) {
    case BW:
        value = (double)op->bytes / 1024 / seconds;
        break;
    case IOPS:
        value = ops / seconds;
        break;
    case CLAT:
        value = (double)op->service_sum_ns / ops;
        break;
    case LAT:
        value = (double)op->response_sum_ns / ops;
        break;
    case SLAT:
        value = (double)(op->response_sum_ns - op->service_sum_ns) / ops;
        break;
    case KINDS:
        break;
    }
    return (uint64_t)(value + 0.5);
}

typedef struct {
    const rb_result_t *result;
    const rb_result_phase_t *phase;
    log_kind_t kind;
    FILE *out;
} log_t;

static void put_window(const log_t *log, const rb_window_t *w)
{
    uint64_t at_ns, length_ns;
    rb_fold_window_time(log->result->fold, log->phase->index, w, &at_ns, &length_ns);
    if (length_ns == 0 || rb_result_window_part(log->result, log->phase, w) != RB_PART_MAIN)
        return;
    for (rb_op_t op = RB_OP_READ; op <= RB_OP_TRIM; op++) {
        bool rate = log->kind == BW || log->kind == IOPS;
        if (w->op[op] == NULL || (w->op[op]->ops == 0 && !rate))
            continue;
        fprintf(log->out, "%" PRIu64 ", %" PRIu64 ", %d, 0\n",
                (uint64_t)((at_ns + length_ns) / RB_NS_PER_MS),
                value_of(log->kind, w->op[op], (double)length_ns / RB_NS_PER_S), (int)op);
    }
}

static char *clean(const char *name)
{
    char *copy = rb_strdup(name);
    for (char *p = copy; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL)
            *p = '_';
    return copy;
}

static int put_file(const char *directory, log_t *log, const rb_result_host_t *host, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *phase = clean(log->phase->name);
    RB_AUTO(rb_free_str) char *name = clean(host->name);
    RB_AUTO(rb_free_str)
    char *path = rb_asprintf("%s/%s.%s_%s.%u.log", directory, phase, name, kind_names[log->kind],
                             RB_MAX(log->phase->step, 1u));
    log->out = fopen(path, "w");
    if (log->out == NULL)
        return rb_err_errno(err, errno, "--fio-logs: %s", path);
    for (size_t i = 0; i < host->series->nwindows; i++)
        put_window(log, &host->series->windows[i]);
    bool bad = ferror(log->out) != 0;
    if (fclose(log->out) != 0 || bad)
        return rb_err_errno(err, errno != 0 ? errno : EIO, "--fio-logs: writing %s", path);
    return 0;
}

int rb_report_fio_logs(const char *directory, const rb_result_t *result, rb_err_t *err)
{
    if (mkdir(directory, 0777) != 0 && errno != EEXIST)
        return rb_err_errno(err, errno, "--fio-logs: %s", directory);
    for (size_t i = 0; i < result->nphases; i++)
        for (size_t h = 0; h < result->phases[i].nhosts; h++)
            for (log_kind_t kind = BW; kind < KINDS; kind++) {
                log_t log = {.result = result, .phase = &result->phases[i], .kind = kind};
                if (put_file(directory, &log, &result->phases[i].hosts[h], err) != 0)
                    return -1;
            }
    return 0;
}
