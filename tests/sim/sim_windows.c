/* The windows of an engine, thinned out as agent/engine_rows.c does, and what goes wrong in them.
 *
 * I12, of rows: they are made of the windows in order; none is beyond the border of a span that the
 * agent was told; around what went wrong each window has a row of its own, as thin.h says. */
#include "tests/sim/sim.h"

enum { TOP_BUCKET = 4000, JUMP_BUCKETS = 4 * 128 }; /* a jump: 16 times as long */

uint64_t sim_interval_ns(const sim_t *sim)
{
    uint64_t interval_ns = sim->config.plan.interval_ns;
    return interval_ns > 0 ? interval_ns : RB_NS_PER_S;
}

/* ---- what is expected of rows ---- */

/* A span of this agent: windows from one border to the next. */
static uint64_t span_of(uint64_t index, uint32_t told)
{
    return index / told;
}

/* Something went wrong in window `index`, and all windows before `seen` were cut: what is held of
 * its span comes alone, and what follows. Not again until a good while later. */
static void expect_alone(sim_engine_t *e, uint64_t index, uint64_t seen)
{
    if (e->told <= 1 || seen < e->quiet_until)
        return;
    e->open = RB_THIN_AFTER;
    e->quiet_until = seen + (uint64_t)(RB_THIN_HELD + RB_THIN_AFTER) * e->told;
    size_t kept = RB_THIN_HELD - 1; /* one by one; the oldest that waits may be several */
    size_t first = e->ncuts > kept ? e->ncuts - kept : 0;
    /* Where the span just fell, what waits belongs to an older one. */
    if (e->ncuts > 0 && span_of(e->cuts[0].index, e->told) != span_of(index, e->told))
        return;
    for (size_t i = first; i < e->ncuts; i++)
        e->cuts[i].alone = true;
}

static void take_span(sim_agent_t *a)
{
    sim_engine_t *e = &a->engine;
    uint32_t told = rb_session_span(a->session);
    if (told > e->told) /* there is less room than was thought */
        e->open = 0;
    e->told = told;
    rb_thin_set_span(e->thin, told);
}

static void check_made(sim_agent_t *a, const rb_row_window_t *w, size_t ncuts, uint32_t widest)
{
    const sim_engine_t *e = &a->engine;
    sim_counts_t *counts = &a->sim->counts;
    bool alone = false;
    for (size_t i = 0; i < ncuts; i++)
        alone |= e->cuts[i].alone;
    if (ncuts > 1 && alone)
        sim_violate(a->sim, 12,
                    "h%u: windows %llu + %u are one row, and something went wrong there", a->host,
                    (unsigned long long)w->index, w->span);
    if (ncuts > 1 && span_of(w->index, widest) != span_of(e->cuts[ncuts - 1].index, widest))
        sim_violate(a->sim, 12, "h%u: windows %llu + %u are one row, which crosses a border of %u",
                    a->host, (unsigned long long)w->index, w->span, widest);
    counts->rows++;
    counts->alone += alone;
    counts->widest = RB_MAX(counts->widest, w->span);
}

/* A row that is made of the oldest cuts. */
static void emit(void *ctx, rb_row_t *row)
{
    sim_agent_t *a = ctx;
    sim_engine_t *e = &a->engine;
    const rb_row_window_t *w = &row->window;
    uint64_t end = w->index + w->span;
    uint32_t widest = 1;
    size_t n = 0;
    for (; n < e->ncuts && e->cuts[n].index + e->cuts[n].span <= end; n++)
        widest = RB_MAX(widest, e->cuts[n].told);
    if (n == 0 || e->cuts[0].index != w->index || e->cuts[n - 1].index + e->cuts[n - 1].span != end)
        sim_violate(a->sim, 12, "h%u: windows %llu + %u are a row, and were not cut so", a->host,
                    (unsigned long long)w->index, w->span);
    else
        check_made(a, w, n, widest);
    e->ncuts -= n;
    if (e->ncuts > 0)
        memmove(e->cuts, e->cuts + n, e->ncuts * sizeof(*e->cuts));
    sim_agent_row(a, row);
}

/* ---- what goes wrong ---- */

static sim_trouble_t trouble_at(const sim_agent_t *a, uint64_t index)
{
    const sim_troubles_t *t = &a->sim->config.machines[a->host - 1].troubles;
    if (index >= t->bad_from && index < t->bad_until)
        return SIM_ERRORS;
    if (t->every == 0 || index < t->first || (index - t->first) % t->every != 0)
        return SIM_NO_TROUBLE;
    return (sim_trouble_t)(1 + (t->kind + (index - t->first) / t->every) % (SIM_TROUBLES - 1));
}

static sim_trouble_t trouble_in(const sim_agent_t *a, uint64_t index, uint64_t end)
{
    sim_trouble_t trouble = SIM_NO_TROUBLE;
    for (uint64_t i = index; i < end && trouble == SIM_NO_TROUBLE; i++)
        trouble = trouble_at(a, i);
    return trouble;
}

/* An operation that does not come back: the engine says so before its windows. */
static void hang(sim_agent_t *a, uint64_t index)
{
    static char kind[] = "io_hung", text[] = "read of 4096 bytes: not complete after 10.0 s";
    sim_engine_t *e = &a->engine;
    rb_row_t row = {.kind = RB_ROW_EVENT};
    row.event = (rb_row_event_t){(int32_t)e->phase, 0, kind, text};
    sim_agent_row(a, &row);
    expect_alone(e, index, index);
    rb_thin_event(e->thin, emit, a);
}

/* ---- cells ---- */

/* Latencies wander, so that a merged histogram has more buckets than each of its windows; the
 * slowest are alike, but for jumps. */
static void fill(const sim_agent_t *a, const sim_cut_t *cut, bool jumps, rb_hist_sparse_t *ret)
{
    size_t npairs = a->sim->config.pairs;
    for (uint32_t s = 1; s < cut->span; s *= 2)
        npairs += npairs * 15 / 100;
    uint32_t last = TOP_BUCKET + (uint32_t)(cut->index % 7) + (jumps ? JUMP_BUCKETS : 0);
    uint64_t each = 7 * (uint64_t)cut->span;
    *ret = (rb_hist_sparse_t){.count = npairs * each, .npairs = npairs};
    ret->pairs = rb_calloc(npairs, sizeof(*ret->pairs));
    for (size_t i = 0; i < npairs; i++)
        ret->pairs[npairs - 1 - i] = (rb_hist_pair_t){last - 3 * (uint32_t)i, each};
    if (npairs == 0)
        return;
    ret->min = rb_hist_lowest(ret->pairs[0].index);
    ret->max = rb_hist_highest(last);
    ret->sum = ret->count * ret->min;
}

static void hand_in(sim_agent_t *a, const sim_cut_t *cut, sim_trouble_t trouble)
{
    rb_cell_t cells[SIM_MAX_DRIVES];
    rb_hist_sparse_t hist;
    uint32_t ndrives = a->sim->config.ndrives;
    uint64_t ops = sim_between(&a->sim->rng, 1, 1000);
    fill(a, cut, trouble == SIM_JUMP, &hist);
    for (uint32_t d = 0; d < ndrives; d++)
        cells[d] = (rb_cell_t){.drive = d,
                               .op = RB_OP_READ,
                               .ops = ops,
                               .bytes = 4096 * ops,
                               .errors = d == 0 && trouble == SIM_ERRORS,
                               .service = hist,
                               .response = hist};
    rb_row_t row = {.kind = RB_ROW_WINDOW};
    row.window = (rb_row_window_t){.phase = a->engine.phase,
                                   .part = RB_PART_MAIN,
                                   .index = cut->index,
                                   .span = cut->span,
                                   .all_running = true,
                                   .ncells = ndrives,
                                   .cells = cells};
    a->deeds[a->engine.phase].ops += ndrives * ops;
    rb_thin_window(a->engine.thin, &row, emit, a);
    rb_hist_sparse_clear(&hist);
}

/* ---- for the engine ---- */

void sim_windows_begin(sim_engine_t *engine)
{
    engine->thin = rb_thin_new();
    engine->told = 1;
}

void sim_windows_clear(sim_engine_t *engine)
{
    rb_thin_destroy(&engine->thin);
    free(engine->cuts);
}

/* How many windows until something is to be done. More than one only in the long course, where
 * nothing happens for a whole span. */
uint64_t sim_windows_stride(const sim_agent_t *agent)
{
    const sim_engine_t *e = &agent->engine;
    uint64_t end = e->windows + e->told;
    bool strides = agent->sim->config.is_long && e->open == 0 && e->windows % e->told == 0 &&
                   end * sim_interval_ns(agent->sim) <= e->length_at_ns;
    return strides && trouble_in(agent, e->windows, end) == SIM_NO_TROUBLE ? e->told : 1;
}

void sim_windows_cut(sim_agent_t *agent)
{
    sim_engine_t *e = &agent->engine;
    /* A full outbox leaves the windows where they are: they merge. */
    if (!rb_session_takes_rows(agent->session) || e->windows == e->cut_window)
        return;
    uint64_t index = e->cut_window;
    sim_trouble_t trouble = trouble_in(agent, index, e->windows);
    take_span(agent);
    if (trouble == SIM_HANGS)
        hang(agent, index);
    sim_cut_t *cut = RB_PUSH(e->cuts, e->ncuts);
    *cut = (sim_cut_t){index, (uint32_t)(e->windows - index), e->told, false};
    e->cut_window = e->windows;
    if (trouble == SIM_ERRORS || (trouble == SIM_JUMP && e->compares))
        expect_alone(e, index, e->windows);
    e->compares |= e->told > 1;
    if (e->open > 0) {
        e->open--;
        cut->alone = true;
    }
    sim_cut_t copy = *cut; /* it may be gone when it is handed in */
    hand_in(agent, &copy, trouble);
}

void sim_windows_end(sim_agent_t *agent)
{
    rb_thin_end(agent->engine.thin, emit, agent);
}

/* ---- what the run makes of it ---- */

/* A journal of `interval: auto` has room for the whole run: windows merge to that end. */
void sim_check_room(sim_t *sim)
{
    const rb_run_outcome_t *outcome = rb_run_outcome(sim->coordinator.run);
    if (sim->coordinator.journal_failed || strstr(outcome->err.text, "--journal-max") == NULL)
        return;
    sim->coordinator.journal_failed = true;
    sim_violate(sim, 12, "the journal is full, with %llu of %llu bytes",
                (unsigned long long)sim->coordinator.journal_bytes,
                (unsigned long long)sim->config.run.journal_max_bytes);
}

void sim_check_journal(sim_t *sim)
{
    uint64_t max_bytes = sim->config.run.journal_max_bytes;
    uint64_t bytes = sim->coordinator.journal_bytes;
    if (max_bytes == 0)
        return;
    if (bytes > max_bytes)
        sim_violate(sim, 12, "the journal has %llu bytes, its limit is %llu",
                    (unsigned long long)bytes, (unsigned long long)max_bytes);
    if (sim->config.is_long && sim->coordinator.run_end && bytes < max_bytes / 3)
        sim_violate(sim, 12, "the journal has %llu bytes of %llu: windows merged for nothing",
                    (unsigned long long)bytes, (unsigned long long)max_bytes);
}

/* The journal says how coarse its rows may be. */
void sim_check_span(sim_t *sim, uint32_t host, const Rackbench__Beat *beat)
{
    uint32_t span = beat->has_span ? beat->span : 1;
    if (span > RB_MAX(sim->coordinator.stated_span, 1u) && !sim->coordinator.journal_failed)
        sim_violate(sim, 12, "h%u is told to merge %u windows, the journal says %u", host, span,
                    sim->coordinator.stated_span);
}
