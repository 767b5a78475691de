#include "coordinator/size_kv.h"

enum { PEAK_NS_MIN = 60 };
#define PEAK_NS (PEAK_NS_MIN * RB_NS_PER_S)

void rb_size_opts_init(rb_size_opts_t *o)
{
    rb_err_t err;
    *o = (rb_size_opts_t){.nodes = 1, .drives = 1, .years = 5, .duty = 1, .seed = 42};
    o->model.shape = RB_KV_SHAPE_BLOCK;
    o->model.model = *rb_kv_model_find("llama3.1-8b", &err);
    o->plan.place.rule = RB_KV_HASH;
    o->plan.place.ways = 1;
    o->plan.loops = 1;
    o->plan.speed_ppm = 1000000;
}

void rb_size_destroy(rb_size_t **size)
{
    if (*size == NULL)
        return;
    free((*size)->hosts);
    free(*size);
    *size = NULL;
}

/* ---- the trace, cut to the model's blocks ---- */

static int geometry(rb_size_t *s, uint32_t tokens, rb_err_t *err)
{
    rb_kv_geometry_opts_t *m = &s->opts.model;
    m->tokens_per_block = tokens;
    m->ways = s->opts.plan.place.rule == RB_KV_STRIPE ? s->opts.plan.place.ways : 1;
    return rb_kv_geometry(m, &s->geometry, err);
}

static rb_trace_t *load(rb_size_t *s, rb_err_t *err)
{
    uint32_t tokens = s->opts.model.tokens_per_block;
    if (geometry(s, tokens ? tokens : 16, err) != 0)
        return NULL;
    s->opts.load.token_bytes = s->geometry.token_bytes;
    RB_AUTO(rb_trace_destroy)
    rb_trace_t *trace = rb_trace_open(s->opts.trace, &s->opts.load, err);
    if (trace == NULL)
        return NULL;
    if (tokens != 0 && tokens != trace->block_tokens && rb_trace_reblock(trace, tokens, err) != 0)
        return NULL;
    if (s->opts.decode && rb_trace_decode(trace, err) != 0)
        return NULL;
    rb_trace_jitter(trace, s->opts.jitter_ns, s->opts.seed);
    if (geometry(s, trace->block_tokens, err) != 0)
        return NULL;
    rb_trace_stats(trace, &s->stats);
    return RB_MOVE(trace);
}

/* ---- the run of the planner ---- */

static uint64_t in_blocks(uint64_t bytes, uint64_t block_bytes)
{
    return bytes / block_bytes;
}

static rb_kv_drive_t *make_drives(rb_size_t *s, rb_kv_plan_opts_t *o)
{
    uint32_t n = s->opts.nodes * s->opts.drives;
    rb_kv_drive_t *drives = rb_calloc(n, sizeof(*drives));
    s->slots = s->opts.capacity_bytes ? s->opts.capacity_bytes / s->geometry.full_slot_bytes
                                      : RB_KV_UNLIMITED;
    for (uint32_t d = 0; d < n; d++)
        drives[d] = (rb_kv_drive_t){
            .host = d / s->opts.drives, .rack = d / s->opts.drives, .slots = s->slots, .weight = 1};
    o->place.ndrives = n;
    o->place.drives = drives;
    o->nhosts = s->opts.nodes;
    o->gpu_blocks = in_blocks(s->opts.gpu_bytes, s->geometry.block_bytes);
    o->dram_blocks = in_blocks(s->opts.dram_bytes, s->geometry.block_bytes);
    return drives;
}

/* Bytes of the minute under way, and the most of any. */
typedef struct {
    uint64_t begin_ns, bytes[2], most[2];
} peak_t;

static void take_peak(peak_t *p)
{
    for (int i = 0; i < 2; i++) {
        p->most[i] = RB_MAX(p->most[i], p->bytes[i]);
        p->bytes[i] = 0;
    }
}

static void take_step(rb_size_t *s, const rb_kv_step_t *step, const rb_kv_drive_t *drives,
                      peak_t *peak)
{
    uint64_t bytes = s->geometry.full_slot_bytes;
    if (step->due_ns - peak->begin_ns >= PEAK_NS) {
        take_peak(peak);
        peak->begin_ns = step->due_ns;
    }
    for (size_t i = 0; i < step->nparts; i++) {
        rb_size_host_t *host = &s->hosts[drives[step->parts[i].drive].host];
        switch ((rb_kv_op_t)step->parts[i].op) {
        case RB_KV_PART_READ:
            host->read_bytes += bytes;
            peak->bytes[0] += bytes;
            break;
        case RB_KV_PART_WRITE:
            host->written_bytes += bytes;
            peak->bytes[1] += bytes;
            break;
        case RB_KV_PART_DISCARD:
            host->evicted_bytes += bytes;
            break;
        }
    }
}

static int run(rb_size_t *s, const rb_trace_t *trace, const rb_kv_plan_opts_t *o, rb_err_t *err)
{
    peak_t peak = {0};
    rb_kv_step_t step;
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = rb_kv_plan_new(o, trace, err);
    if (plan == NULL)
        return -1;
    s->nhosts = s->opts.nodes;
    s->hosts = rb_calloc(s->nhosts, sizeof(*s->hosts));
    while (rb_kv_plan_step(plan, &step))
        take_step(s, &step, o->place.drives, &peak);
    take_peak(&peak);
    s->account = *rb_kv_plan_account(plan);
    s->filled = rb_kv_plan_filled(plan);
    s->peak_read_bytes_per_s = (double)peak.most[0] / PEAK_NS_MIN;
    s->peak_write_bytes_per_s = (double)peak.most[1] / PEAK_NS_MIN;
    return 0;
}

static void sum_up(rb_size_t *s, const rb_trace_t *trace)
{
    uint64_t requests = (uint64_t)trace->nrequests * s->opts.plan.loops, read = 0, written = 0;
    s->seconds = (double)rb_trace_due(trace, requests, s->opts.plan.speed_ppm) / 1e9;
    for (size_t h = 0; h < s->nhosts; h++) {
        read += s->hosts[h].read_bytes;
        written += s->hosts[h].written_bytes;
    }
    for (size_t h = 0; h < s->nhosts; h++)
        s->hosts[h].read_share = read ? (double)s->hosts[h].read_bytes / (double)read : 0;
    s->read_bytes_per_s = (double)read / s->seconds;
    s->write_bytes_per_s = (double)written / s->seconds;
    s->new_tokens_per_s = (double)(s->account.input_tokens - s->account.hit_tokens) / s->seconds;
}

/* ---- hit ratio by capacity: one pool ---- */

/* *ret_all: nothing was put out, so more blocks would hit no more. */
static int add_row(rb_size_t *s, const rb_trace_t *trace, uint64_t blocks, bool *ret_all,
                   rb_err_t *err)
{
    rb_kv_drive_t pool = {.slots = blocks, .weight = 1};
    rb_kv_plan_opts_t o = s->opts.plan;
    o.place = (rb_kv_place_t){.rule = RB_KV_HASH, .ways = 1, .ndrives = 1, .drives = &pool};
    o.nhosts = o.nservers = 1;
    o.gpu_blocks = o.dram_blocks = 0;
    o.write_back = false;
    rb_kv_step_t step;
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = rb_kv_plan_new(&o, trace, err);
    if (plan == NULL)
        return -1;
    while (rb_kv_plan_step(plan, &step))
        ;
    const rb_kv_account_t *a = rb_kv_plan_account(plan);
    *ret_all = a->evicted_blocks == 0;
    s->rows[s->nrows++] = (rb_size_row_t){
        .blocks = blocks,
        .bytes = blocks * s->geometry.full_slot_bytes * RB_MAX(s->opts.model.ways, 1u),
        .hit_ratio = (double)a->drive_hits / (double)RB_MAX(a->references, 1u)};
    return 0;
}

/* 1, 2 and 5 of each power of ten, from 1000 to what holds all. */
static int add_rows(rb_size_t *s, const rb_trace_t *trace, rb_err_t *err)
{
    static const uint64_t steps[] = {1, 2, 5};
    uint64_t most = (uint64_t)trace->distinct * s->opts.plan.loops, power = 1000;
    bool all = false;
    for (size_t i = 0; !all && s->nrows < RB_SIZE_MAX_ROWS; i++) {
        uint64_t blocks = RB_MIN(steps[i % RB_LEN(steps)] * power, most);
        if (add_row(s, trace, blocks, &all, err) != 0)
            return -1;
        if (i % RB_LEN(steps) == RB_LEN(steps) - 1)
            power *= 10;
    }
    return 0;
}

/* ---- wear ---- */

static void add_wear(rb_size_t *s)
{
    uint64_t rated = s->opts.rated_bytes ? s->opts.rated_bytes : s->opts.capacity_bytes;
    const rb_kv_place_t *place = &s->opts.plan.place;
    uint32_t mirrored = place->rule == RB_KV_MIRROR ? place->ways : 1;
    double speed = (double)s->opts.plan.speed_ppm / 1e6;
    if (rated == 0)
        return;
    for (uint32_t i = 0; i < 2; i++) {
        rb_size_wear_t *w = &s->wear[s->nwear++];
        w->copies = i == 0 ? 1 : RB_MAX(mirrored, 2u);
        w->asked_for = w->copies == mirrored;
        snprintf(w->name, sizeof(w->name), "%s", i == 0 ? "striped" : "mirrored");
        rb_endurance_in_t in = {.bytes_per_s = s->write_bytes_per_s / mirrored / speed,
                                .duty = s->opts.duty,
                                .copies = w->copies,
                                .drives = s->opts.nodes * s->opts.drives,
                                .rated_bytes = (double)rated,
                                .years = s->opts.years};
        w->wear = rb_endurance(&in);
    }
}

static int check(const rb_size_opts_t *o, rb_err_t *err)
{
    if (o->trace == NULL)
        return rb_err_set(err, RB_ERR_INPUT, "--trace is missing: name a file");
    if (o->plan.speed_ppm == 0)
        return rb_err_set(err, RB_ERR_INPUT, "--speed is 0: it must be above");
    if ((uint64_t)o->nodes * o->drives > RB_MAX_KV_DRIVES)
        return rb_err_set(err, RB_ERR_INPUT, "%u nodes with %u drives: at most %d drives in all",
                          o->nodes, o->drives, RB_MAX_KV_DRIVES);
    return 0;
}

rb_size_t *rb_size_kv(const rb_size_opts_t *opts, rb_err_t *err)
{
    if (check(opts, err) != 0)
        return NULL;
    RB_AUTO(rb_size_destroy) rb_size_t *s = rb_calloc(1, sizeof(*s));
    s->opts = *opts;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = load(s, err);
    if (trace == NULL)
        return NULL;
    rb_kv_plan_opts_t o = s->opts.plan;
    rb_kv_drive_t *drives = make_drives(s, &o);
    int result = run(s, trace, &o, err);
    free(drives);
    if (result != 0 || add_rows(s, trace, err) != 0)
        return NULL;
    sum_up(s, trace);
    add_wear(s);
    return RB_MOVE(s);
}
