#include "coordinator/reference/rank.h"

const char *const rb_rank_names[RB_RANKS] = {"throughput", "latency", "peak", "worst_latency"};

/* What a drive did at a point of a test, comparable. */
typedef struct {
    const char *test; /* borrowed from the reference */
    uint64_t bs_bytes;
    uint32_t iodepth, numjobs;
    double rate, mean_ns;
} point_t;

typedef struct {
    const rb_result_t *result;
    const rb_reference_t *reference;
    size_t npoints;
    point_t *points; /* of the drive under way */
} desk_t;

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

static bool is_metric(const rb_reference_result_t *r, rb_rank_kind_t kind)
{
    static const char *const rates[] = {"bandwidth", "iops", "peak_bandwidth", "peak_iops", NULL};
    static const char *const latencies[] = {"latency_avg", "latency_avg_at_peak", NULL};
    static const char *const worst[] = {"latency_avg_worst_in_sweep", NULL};
    static const char *const *const metrics[RB_RANKS] = {
        [RB_RANK_RATE] = rates,
        [RB_RANK_LATENCY] = latencies,
        [RB_RANK_PEAK] = rates + 2,
        [RB_RANK_WORST] = worst,
    };
    return !r->is_range && is_one_of(r->metric, metrics[kind]);
}

/* What was published of a drive to be held against the row; 0: nothing. */
static double published(const rb_reference_drive_t *drive, const rb_rank_row_t *row)
{
    bool at_point = row->kind == RB_RANK_RATE || row->kind == RB_RANK_LATENCY;
    bool is_rate = row->kind == RB_RANK_RATE || row->kind == RB_RANK_PEAK;
    for (size_t i = 0; i < drive->nresults; i++) {
        const rb_reference_result_t *r = &drive->results[i];
        if (strcmp(r->test, row->test) != 0 || !is_metric(r, row->kind) ||
            (at_point && (r->iodepth != row->iodepth || r->numjobs != row->numjobs)))
            continue;
        if (is_rate)
            return rb_reference_rate(r->value, r->unit, row->bs_bytes);
        return strcmp(r->unit, "us") == 0 ? r->value * 1e3 : 0;
    }
    return 0;
}

static void add_row(const desk_t *desk, rb_ranked_t *drive, rb_rank_row_t row)
{
    size_t n;
    const rb_reference_drive_t *all = rb_reference_drives(desk->reference, &n);
    double better = row.kind == RB_RANK_RATE || row.kind == RB_RANK_PEAK ? 1 : -1;
    row.rank = row.of = 1;
    for (size_t i = 0; i < n; i++) {
        double value = published(&all[i], &row);
        bool is_ahead = better * value > better * row.value;
        if (value <= 0)
            continue;
        row.of++;
        row.rank += is_ahead;
        if (is_ahead && (row.ahead == NULL || better * value < better * row.ahead_value)) {
            row.ahead = &all[i];
            row.ahead_value = value;
        } else if (!is_ahead &&
                   (row.behind == NULL || better * value > better * row.behind_value)) {
            row.behind = &all[i];
            row.behind_value = value;
        }
    }
    if (row.of > 1)
        *RB_PUSH(drive->rows, drive->nrows) = row;
}

/* Of a test: the highest rate, or the highest latency; NULL: it was not measured. */
static const point_t *extreme(const desk_t *desk, const char *test, rb_rank_kind_t kind,
                              size_t *ret_n)
{
    const point_t *best = NULL;
    *ret_n = 0;
    for (size_t i = 0; i < desk->npoints; i++) {
        const point_t *p = &desk->points[i];
        if (strcmp(p->test, test) != 0)
            continue;
        (*ret_n)++;
        if (best == NULL ||
            (kind == RB_RANK_PEAK ? p->rate > best->rate : p->mean_ns > best->mean_ns))
            best = p;
    }
    return best;
}

static void rank_point(const desk_t *desk, const point_t *p, rb_rank_kind_t kind,
                       rb_ranked_t *drive)
{
    bool is_rate = kind == RB_RANK_RATE || kind == RB_RANK_PEAK;
    add_row(desk, drive,
            (rb_rank_row_t){.test = p->test,
                            .kind = kind,
                            .bs_bytes = p->bs_bytes,
                            .iodepth = p->iodepth,
                            .numjobs = p->numjobs,
                            .value = is_rate ? p->rate : p->mean_ns});
}

static void rank_points(const desk_t *desk, rb_ranked_t *drive)
{
    for (size_t i = 0; i < desk->npoints; i++) {
        rank_point(desk, &desk->points[i], RB_RANK_RATE, drive);
        rank_point(desk, &desk->points[i], RB_RANK_LATENCY, drive);
    }
    for (size_t i = 0; i < desk->npoints; i++) {
        bool is_first = true;
        for (size_t k = 0; k < i; k++)
            is_first &= strcmp(desk->points[k].test, desk->points[i].test) != 0;
        for (rb_rank_kind_t kind = RB_RANK_PEAK; is_first && kind <= RB_RANK_WORST; kind++) {
            size_t n;
            const point_t *p = extreme(desk, desk->points[i].test, kind, &n);
            if (n > 1)
                rank_point(desk, p, kind, drive);
        }
    }
}

static bool has_more(const desk_t *desk, const point_t *best)
{
    for (size_t i = 0; i < desk->npoints; i++)
        if (strcmp(desk->points[i].test, best->test) == 0 &&
            (uint64_t)desk->points[i].iodepth * desk->points[i].numjobs >
                (uint64_t)best->iodepth * best->numjobs)
            return true;
    return false;
}

static const point_t *qd1_of(const desk_t *desk, const char *test)
{
    for (size_t i = 0; i < desk->npoints; i++)
        if (strcmp(desk->points[i].test, test) == 0 && desk->points[i].iodepth == 1 &&
            desk->points[i].numjobs == 1)
            return &desk->points[i];
    return NULL;
}

static void rate_drive(const desk_t *desk, rb_ranked_t *drive)
{
    static const struct {
        const char *spec, *test;
        uint64_t bs_bytes;
        bool is_latency;
    } rules[] = {{"rated_seq_read_128k", "seq_read_128K", 128 * RB_KIB, false},
                 {"rated_seq_write_128k", "seq_write_128K", 128 * RB_KIB, false},
                 {"rated_rand_read_4k", "rand_read_4K", 4 * RB_KIB, false},
                 {"rated_rand_write_4k", "rand_write_4K", 4 * RB_KIB, false},
                 {"rated_latency_read_4k_qd1", "rand_read_4K", 4 * RB_KIB, true},
                 {"rated_latency_write_4k_qd1", "rand_write_4K", 4 * RB_KIB, true}};
    for (size_t i = 0; drive->known != NULL && i < RB_LEN(rules); i++) {
        const rb_reference_spec_t *spec = rb_reference_spec(drive->known, rules[i].spec);
        size_t n;
        if (spec == NULL)
            continue;
        rb_rating_t *rating = RB_PUSH(drive->ratings, drive->nratings);
        const point_t *p = rules[i].is_latency ? qd1_of(desk, rules[i].test)
                                               : extreme(desk, rules[i].test, RB_RANK_PEAK, &n);
        *rating = (rb_rating_t){.spec = spec,
                                .test = rules[i].test,
                                .in_grid = p != NULL,
                                .is_latency = rules[i].is_latency,
                                .bs_bytes = rules[i].bs_bytes};
        rating->rated = rating->is_latency
                            ? spec->value * 1e3
                            : rb_reference_rate(spec->value, spec->unit, rating->bs_bytes);
        if (p == NULL)
            continue;
        rating->iodepth = p->iodepth;
        rating->numjobs = p->numjobs;
        rating->at_edge = !has_more(desk, p);
        rating->value = rating->is_latency ? p->mean_ns : p->rate;
    }
}

/* The name of a test as the tables have it; NULL: they have it not. */
static const char *known_test(const rb_reference_t *reference, const char *test)
{
    size_t n;
    const rb_reference_drive_t *all = rb_reference_drives(reference, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < all[i].nresults; k++)
            if (strcmp(all[i].results[k].test, test) == 0)
                return all[i].results[k].test;
    return NULL;
}

static const rb_stats_t *find_drive(const rb_result_host_t *host, const char *path)
{
    for (size_t t = 0; t < host->ntargets; t++)
        for (size_t d = 0; d < host->targets[t].ndrives; d++)
            if (strcmp(host->targets[t].drives[d].name, path) == 0)
                return &host->targets[t].drives[d].stats;
    return NULL;
}

static void take_phase(desk_t *desk, const rb_result_phase_t *phase, const rb_result_host_t *host,
                       rb_ranked_t *drive)
{
    const Rackbench__Job *job = rb_fold_plan_phase(desk->result->fold, phase->index)->jobs[0];
    char test[RB_FMT_SIZE];
    const rb_stats_t *stats = find_drive(host, drive->drive);
    const char *known = NULL;
    if (stats == NULL)
        return;
    RB_AUTO(rb_free_str)
    char *reasons = rb_rank_reasons(desk->result, phase, host, drive->drive);
    uint32_t iodepth = RB_MAX(job->iodepth, 1u), numjobs = RB_MAX(job->numjobs, 1u);
    if (rb_rank_test(test, job) != NULL)
        known = known_test(desk->reference, test);
    if (known == NULL || reasons[0] != '\0') {
        *RB_PUSH(drive->reasons, drive->nreasons) =
            rb_asprintf("%.40s at iodepth %u, numjobs %u: %s%s%s", phase->name, iodepth, numjobs,
                        known == NULL ? "no review has such a test" : "",
                        known == NULL && reasons[0] != '\0' ? ", " : "", reasons);
        return;
    }
    const rb_op_stats_t *op = &stats->op[stats->op[RB_OP_READ].present ? RB_OP_READ : RB_OP_WRITE];
    if (op->ops > 0)
        *RB_PUSH(desk->points, desk->npoints) = (point_t){
            known, job->bs_bytes, iodepth, numjobs, op->bytes_per_s, op->response.mean_ns};
}

static bool is_listed(const rb_ranking_t *ranking, const char *host, const char *path)
{
    for (size_t i = 0; i < ranking->ndrives; i++)
        if (strcmp(ranking->drives[i].host, host) == 0 &&
            strcmp(ranking->drives[i].drive, path) == 0)
            return true;
    return false;
}

static void add_drive(desk_t *desk, const rb_result_host_t *host, const char *path,
                      rb_ranking_t *ranking)
{
    rb_ranked_t drive = {.host = host->name, .drive = path, .model = ""};
    const Rackbench__Drive *known = rb_fold_identity(desk->result->fold, host->number, path);
    if (is_listed(ranking, host->name, path))
        return;
    if (known != NULL && known->model != NULL) {
        drive.model = known->model;
        drive.known = rb_reference_of(desk->reference, known->model, known->size_bytes);
    }
    desk->npoints = 0;
    for (size_t p = 0; p < desk->result->nphases; p++)
        for (size_t h = 0; h < desk->result->phases[p].nhosts; h++)
            if (desk->result->phases[p].hosts[h].number == host->number)
                take_phase(desk, &desk->result->phases[p], &desk->result->phases[p].hosts[h],
                           &drive);
    rank_points(desk, &drive);
    rate_drive(desk, &drive);
    *RB_PUSH(ranking->drives, ranking->ndrives) = drive;
}

rb_ranking_t *rb_ranking_new(const rb_result_t *result, const rb_reference_t *reference)
{
    rb_ranking_t *ranking = rb_calloc(1, sizeof(*ranking));
    desk_t desk = {.result = result, .reference = reference};
    for (size_t p = 0; p < result->nphases; p++)
        for (size_t h = 0; h < result->phases[p].nhosts; h++) {
            const rb_result_host_t *host = &result->phases[p].hosts[h];
            for (size_t t = 0; t < host->ntargets; t++)
                for (size_t d = 0; d < host->targets[t].ndrives; d++)
                    add_drive(&desk, host, host->targets[t].drives[d].name, ranking);
        }
    free(desk.points);
    return ranking;
}

void rb_ranking_destroy(rb_ranking_t **ranking)
{
    rb_ranking_t *r = *ranking;
    for (size_t i = 0; r != NULL && i < r->ndrives; i++) {
        for (size_t k = 0; k < r->drives[i].nreasons; k++)
            free(r->drives[i].reasons[k]);
        free(r->drives[i].reasons);
        free(r->drives[i].rows);
        free(r->drives[i].ratings);
    }
    if (r != NULL)
        free(r->drives);
    free(r);
    *ranking = NULL;
}
