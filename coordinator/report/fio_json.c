#include "coordinator/report/fio_json_parts.h"

#include <errno.h>
#include <time.h>

#include "coordinator/report/fio_options_json.h"

typedef struct {
    const rb_result_t *result;
    rb_fio_json_t kind;
    rb_hist_t *hist, *all; /* of one latency, and of the responses of all kinds */
} writer_t;

/* Operations that are reported as one job of fio's. */
typedef struct {
    const rb_result_phase_t *first, *end; /* phases: one, or all of them */
    int64_t host, job;                    /* as in rb_lat_scope_t */
    double seconds;
    rb_op_stats_t op[RB_OP_COUNT]; /* ops, bytes and errors alone */
} part_t;

static void add_stats(part_t *part, const rb_stats_t *stats)
{
    for (int op = 0; op < RB_OP_COUNT; op++) {
        part->op[op].ops += stats->op[op].ops;
        part->op[op].bytes += stats->op[op].bytes;
        part->op[op].errors += stats->op[op].errors;
    }
}

static json_t *lat_json(writer_t *w, const part_t *part, rb_op_t op, rb_lat_kind_t kind)
{
    rb_fio_detail_t detail =
        w->kind == RB_FIO_JSON_PLUS ? RB_FIO_PERCENTILES_AND_BINS : RB_FIO_PERCENTILES;
    rb_lat_scope_t scope = {.host = part->host, .job = part->job, .op = op, .kind = kind};
    rb_hist_clear(w->hist);
    for (const rb_result_phase_t *p = part->first; p < part->end; p++)
        rb_result_merge_lat(w->result, p, &scope, w->hist);
    if (kind == RB_LAT_RESPONSE && op != RB_OP_SYNC)
        rb_hist_merge(w->all, w->hist);
    return rb_fio_json_lat(w->hist, detail);
}

/* What fio samples as it goes, and nobody here does. */
static void set_unsampled(json_t *o)
{
    json_t *none =
        json_pack("{s:i,s:i,s:f,s:f,s:f,s:i,s:i,s:i,s:f,s:f,s:i}", "bw_min", 0, "bw_max", 0,
                  "bw_agg", 0.0, "bw_mean", 0.0, "bw_dev", 0.0, "bw_samples", 0, "iops_min", 0,
                  "iops_max", 0, "iops_mean", 0.0, "iops_stddev", 0.0, "iops_samples", 0);
    json_object_update(o, none);
    json_decref(none);
}

static json_t *direction_json(writer_t *w, const part_t *part, rb_op_t kind)
{
    const rb_op_stats_t *op = &part->op[kind];
    double rate = part->seconds > 0 ? 1 / part->seconds : 0;
    json_t *o = json_object();
    json_object_set_new(o, "io_bytes", rb_json_u64(op->bytes));
    json_object_set_new(o, "io_kbytes", rb_json_u64(op->bytes / RB_KIB));
    json_object_set_new(o, "bw_bytes", rb_json_u64((uint64_t)((double)op->bytes * rate)));
    json_object_set_new(o, "bw", rb_json_u64((uint64_t)((double)op->bytes * rate / RB_KIB)));
    json_object_set_new(o, "iops", json_real((double)op->ops * rate));
    json_object_set_new(o, "runtime",
                        rb_json_u64(op->ops > 0 ? (uint64_t)(part->seconds * 1000) : 0));
    json_object_set_new(o, "total_ios", rb_json_u64(op->ops));
    json_object_set_new(o, "short_ios", json_integer(0));
    json_object_set_new(o, "drop_ios", json_integer(0));
    rb_hist_clear(w->hist);
    json_object_set_new(o, "slat_ns", rb_fio_json_lat(w->hist, RB_FIO_FIGURES));
    json_object_set_new(o, "clat_ns", lat_json(w, part, kind, RB_LAT_SERVICE));
    json_object_set_new(o, "lat_ns", lat_json(w, part, kind, RB_LAT_RESPONSE));
    set_unsampled(o);
    return o;
}

static void set_directions(writer_t *w, const part_t *part, json_t *job)
{
    rb_hist_clear(w->all);
    for (rb_op_t op = RB_OP_READ; op <= RB_OP_TRIM; op++)
        json_object_set_new(job, rb_op_names[op], direction_json(w, part, op));
    json_t *sync = json_object();
    json_object_set_new(sync, "total_ios", rb_json_u64(part->op[RB_OP_SYNC].ops));
    json_object_set_new(sync, "lat_ns", lat_json(w, part, RB_OP_SYNC, RB_LAT_SERVICE));
    json_object_set_new(job, rb_op_names[RB_OP_SYNC], sync);
    json_object_set_new(job, "job_runtime", rb_json_u64((uint64_t)(part->seconds * 1000)));
    rb_fio_json_set_shares(job, w->all);
}

/* fio's error is an errno. */
static int error_of(const part_t *part, bool lost)
{
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (part->op[op].errors > 0)
            return EIO;
    return lost ? ECONNRESET : 0;
}

/* Names of jobs are unique in their phase only. */
static char *job_name(const rb_result_t *result, const rb_result_phase_t *phase, const char *job)
{
    bool alone = result->nphases == 1 || strcmp(phase->name, job) == 0;
    if (phase->step > 0)
        return rb_asprintf("%s.%s.%u", phase->name, job, phase->step);
    return alone ? rb_strdup(job) : rb_asprintf("%s.%s", phase->name, job);
}

static void set_head(json_t *job, const rb_result_t *result, const part_t *part, const char *name)
{
    json_object_set_new(job, "jobname", rb_json_text(name));
    json_object_set_new(job, "groupid", json_integer(part->first - result->phases));
    json_object_set_new(
        job, "job_start",
        rb_json_u64((part->first->t0_wall_ns + part->first->start_ns) / RB_NS_PER_MS));
    json_object_set_new(job, "eta", json_integer(0));
    json_object_set_new(job, "elapsed", rb_json_u64((uint64_t)(part->seconds + 0.999)));
}

static json_t *job_json(writer_t *w, const rb_result_phase_t *phase, const rb_result_host_t *host,
                        const rb_named_stats_t *named)
{
    const Rackbench__Phase *planned = rb_fold_plan_phase(w->result->fold, phase->index);
    part_t part = {
        .first = phase, .end = phase + 1, .host = host->number, .seconds = phase->seconds};
    while (strcmp(planned->jobs[part.job]->name, named->name) != 0)
        part.job++;
    add_stats(&part, &named->stats);
    RB_AUTO(rb_free_str) char *name = job_name(w->result, phase, named->name);
    json_t *job = json_object();
    set_head(job, w->result, &part, name);
    json_object_set_new(job, "error", json_integer(error_of(&part, host->lost)));
    json_object_set_new(job, "job options",
                        rb_fio_options_json(w->result->fold->plan, planned->jobs[part.job]));
    set_directions(w, &part, job);
    json_object_set_new(job, "usr_cpu", json_real(100 * named->stats.cpu_share));
    json_object_set_new(job, "sys_cpu", json_real(0));
    json_object_set_new(job, "latency_depth",
                        json_integer(RB_MAX(planned->jobs[part.job]->iodepth, 1u)));
    json_object_set_new(job, "latency_target", json_integer(0));
    json_object_set_new(job, "latency_percentile", json_real(100));
    json_object_set_new(job, "latency_window", json_integer(0));
    return job;
}

static json_t *all_json(writer_t *w)
{
    const rb_result_t *r = w->result;
    part_t part = {.first = r->phases, .end = r->phases + r->nphases, .host = -1, .job = -1};
    static const char all[] = "All clients";
    bool lost = false;
    for (const rb_result_phase_t *p = part.first; p < part.end; p++) {
        part.seconds += p->seconds;
        add_stats(&part, &p->cluster);
        for (size_t h = 0; h < p->nhosts; h++)
            lost |= p->hosts[h].lost;
    }
    json_t *job = json_object();
    set_head(job, r, &part, all);
    json_object_set_new(job, "error", json_integer(error_of(&part, lost)));
    set_directions(w, &part, job);
    json_object_set_new(job, "hostname", json_string(all));
    json_object_set_new(job, "port", json_integer(0));
    return job;
}

/* Of its address; 0: it dialled us. */
static unsigned port_of(const rb_fold_t *fold, uint32_t host)
{
    const char *address = host <= fold->nreaches ? fold->reaches[host - 1].address : "";
    const char *colon = strrchr(address, ':');
    return colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
}

static void set_host(const rb_result_t *result, json_t *o, uint32_t number, const char *name)
{
    json_object_set_new(o, "hostname", rb_json_text(name));
    json_object_set_new(o, "port", json_integer(port_of(result->fold, number)));
}

static json_t *jobs_json(writer_t *w, const char *only)
{
    const rb_result_t *r = w->result;
    json_t *list = json_array();
    for (size_t i = 0; i < r->nphases; i++)
        for (size_t h = 0; h < r->phases[i].nhosts; h++) {
            const rb_result_host_t *host = &r->phases[i].hosts[h];
            for (size_t j = 0; j < host->njobs; j++) {
                if (only != NULL && strcmp(only, host->name) != 0)
                    continue;
                json_t *job = job_json(w, &r->phases[i], host, &host->jobs[j]);
                if (only == NULL)
                    set_host(r, job, host->number, host->name);
                json_array_append_new(list, job);
            }
        }
    return list;
}

static json_t *kernel_json(const rb_result_kernel_t *k)
{
    const char *slash = strrchr(k->path, '/');
    json_t *o = json_object();
    json_object_set_new(o, "name", rb_json_text(slash ? slash + 1 : k->path));
    json_object_set_new(o, "read_ios", rb_json_u64(k->op[0].ios));
    json_object_set_new(o, "write_ios", rb_json_u64(k->op[1].ios));
    json_object_set_new(o, "read_sectors", rb_json_u64(k->op[0].sectors));
    json_object_set_new(o, "write_sectors", rb_json_u64(k->op[1].sectors));
    return o;
}

static json_t *disks_json(const writer_t *w, const char *only)
{
    const rb_result_t *r = w->result;
    json_t *list = json_array();
    for (size_t i = 0; i < r->nphases; i++)
        for (size_t h = 0; h < r->phases[i].nhosts; h++) {
            const rb_result_host_t *host = &r->phases[i].hosts[h];
            for (size_t k = 0; k < host->nkernels; k++) {
                if (only != NULL && strcmp(only, host->name) != 0)
                    continue;
                json_t *disk = kernel_json(&host->kernels[k]);
                if (only == NULL)
                    set_host(r, disk, host->number, host->name);
                json_array_append_new(list, disk);
            }
        }
    return list;
}

static json_t *globals_json(const rb_result_t *r)
{
    json_t *list = json_array();
    for (uint32_t host = 1; host <= r->fold->nhosts; host++) {
        json_t *o = json_object();
        const char *name = rb_fold_host_name(r->fold, host);
        if (name != NULL)
            set_host(r, o, host, name);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *root_json(const rb_result_t *r)
{
    char when[64];
    time_t at = (time_t)(r->started_wall_ns / RB_NS_PER_S);
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(when, sizeof(when), "%a %b %e %H:%M:%S %Y", &tm);
    json_t *o = json_object();
    RB_AUTO(rb_free_str) char *version = rb_asprintf("rackbench-%s", r->version);
    json_object_set_new(o, "fio version", rb_json_text(version));
    json_object_set_new(o, "timestamp", json_integer(at));
    json_object_set_new(o, "timestamp_ms", rb_json_u64(r->started_wall_ns / RB_NS_PER_MS));
    json_object_set_new(o, "time", json_string(when));
    json_object_set_new(
        o, "note",
        json_string("clat is service time (submission to completion), lat is response time (due to "
                    "completion), slat is not measured; usr_cpu is user and system together"));
    return o;
}

static bool took_part(const rb_result_t *r, const char *host)
{
    for (size_t i = 0; i < r->nphases; i++)
        for (size_t h = 0; h < r->phases[i].nhosts; h++)
            if (strcmp(r->phases[i].hosts[h].name, host) == 0)
                return true;
    return false;
}

int rb_report_fio_json(FILE *out, const rb_result_t *result, rb_fio_json_t kind, const char *host,
                       rb_err_t *err)
{
    if (host != NULL && !took_part(result, host))
        return rb_err_set(err, RB_ERR_INPUT,
                          "--host: '%.64s' is no host of this run that measured anything", host);
    RB_AUTO(rb_hist_destroy) rb_hist_t *hist = rb_hist_new();
    RB_AUTO(rb_hist_destroy) rb_hist_t *all = rb_hist_new();
    writer_t w = {.result = result, .kind = kind, .hist = hist, .all = all};
    json_t *o = root_json(result);
    json_t *jobs = jobs_json(&w, host);
    if (host == NULL && result->nphases > 0)
        json_array_append_new(jobs, all_json(&w));
    if (host == NULL)
        json_object_set_new(o, "global options", globals_json(result));
    json_object_set_new(o, host == NULL ? "client_stats" : "jobs", jobs);
    json_object_set_new(o, "disk_util", disks_json(&w, host));
    errno = 0;
    int rc = json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    json_decref(o);
    if (rc != 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the result as fio's JSON");
    return 0;
}
