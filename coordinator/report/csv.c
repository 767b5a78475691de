#include "coordinator/report/csv.h"

#include <errno.h>
#include <inttypes.h>

static void put_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    fputc('"', out);
}

typedef struct {
    FILE *out;
    const rb_result_t *result;
    const rb_result_phase_t *phase;
    const char *scope, *host;
    size_t nkeys;
    const char **keys; /* [nkeys] of all points */
} csv_t;

static const rb_point_t *point_of(const rb_result_phase_t *phase, const char *key)
{
    for (size_t i = 0; i < phase->npoint; i++)
        if (strcmp(phase->point[i].key.text, key) == 0)
            return &phase->point[i];
    return NULL;
}

static void add_keys(csv_t *csv, const rb_result_phase_t *phase)
{
    for (size_t i = 0; i < phase->npoint; i++) {
        size_t k = 0;
        while (k < csv->nkeys && strcmp(csv->keys[k], phase->point[i].key.text) != 0)
            k++;
        if (k == csv->nkeys)
            *RB_PUSH(csv->keys, csv->nkeys) = phase->point[i].key.text;
    }
}

static void put_point(const csv_t *csv)
{
    for (size_t i = 0; i < csv->nkeys; i++) {
        const rb_point_t *point = point_of(csv->phase, csv->keys[i]);
        fputc(',', csv->out);
        if (point != NULL && point->is_number)
            fprintf(csv->out, "%" PRIu64, point->number);
        else if (point != NULL)
            put_text(csv->out, point->text);
    }
    fputc('\n', csv->out);
}

static void put_op(const csv_t *csv, const rb_window_t *w, rb_op_t kind)
{
    const rb_window_op_t *op = w->op[kind];
    uint64_t at_ns, length_ns;
    rb_fold_window_time(csv->result->fold, csv->phase->index, w, &at_ns, &length_ns);
    double seconds = (double)length_ns / RB_NS_PER_S;
    put_text(csv->out, csv->phase->name);
    fprintf(csv->out, ",%s,", csv->scope);
    put_text(csv->out, csv->host);
    fprintf(csv->out, ",%s,%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, rb_op_names[kind],
            rb_part_names[rb_result_window_part(csv->result, csv->phase, w)], w->index, w->span,
            at_ns, length_ns);
    fprintf(csv->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f,%.3f", op->ops, op->bytes,
            op->errors, seconds > 0 ? (double)op->ops / seconds : 0,
            seconds > 0 ? (double)op->bytes / seconds : 0);
    fprintf(csv->out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32,
            rb_window_quantile(op, 0.5), rb_window_quantile(op, 0.99), op->inflight,
            op->oldest_inflight_ns, csv->phase->t0_wall_ns + at_ns, csv->phase->step);
    put_point(csv);
}

static void put_series(const csv_t *csv, const rb_series_t *series)
{
    for (size_t i = 0; i < series->nwindows; i++)
        for (rb_op_t op = 0; op < RB_OP_COUNT; op++)
            if (series->windows[i].op[op] != NULL)
                put_op(csv, &series->windows[i], op);
}

int rb_report_csv(FILE *out, const rb_result_t *result, rb_err_t *err)
{
    csv_t csv = {.out = out, .result = result};
    for (size_t i = 0; i < result->nphases; i++)
        add_keys(&csv, &result->phases[i]);
    errno = 0;
    fputs("phase,scope,host,op,part,window,span,at_ns,length_ns,ops,bytes,errors,iops,bytes_per_s,"
          "response_p50_ns,response_p99_ns,inflight,oldest_inflight_ns,wall_ns,step",
          out);
    for (size_t i = 0; i < csv.nkeys; i++)
        fprintf(out, ",point_%s", csv.keys[i]);
    fputc('\n', out);
    for (size_t i = 0; i < result->nphases; i++) {
        csv.phase = &result->phases[i];
        csv.scope = csv.host = "cluster";
        put_series(&csv, csv.phase->series);
        csv.scope = "host";
        for (size_t h = 0; h < csv.phase->nhosts; h++) {
            csv.host = csv.phase->hosts[h].name;
            put_series(&csv, csv.phase->hosts[h].series);
        }
    }
    free(csv.keys);
    if (fflush(out) != 0 || ferror(out))
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the series as CSV");
    return 0;
}
