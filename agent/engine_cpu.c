#include "agent/engine_priv.h"
#include "common/clock.h"
#include "proto/select.h"

enum {
    STEAL_PPM = 50000,          /* above it, an event */
    MIN_NS = 200 * RB_NS_PER_MS /* 20 clock ticks; fewer tell nothing */
};

static uint64_t main_start_ns(const rb_engine_t *e)
{
    return rb_timeline_local_ns(&e->line, rb_phase_ramp_ns(e->phase));
}

/* As planned or stopped; UINT64_MAX: bound by count. */
static uint64_t main_end_ns(const rb_engine_t *e)
{
    uint64_t runtime_ns = rb_phase_runtime_ns(e->phase), end_ns = UINT64_MAX;
    if (runtime_ns > 0)
        end_ns = rb_timeline_local_ns(&e->line, rb_phase_ramp_ns(e->phase) + runtime_ns);
    return RB_MIN(end_ns, atomic_load(&e->crew.stop_ns));
}

/* No worker calls for it at the start of M, which would cost them; a beat or window comes soon. */
void rb_engine_cpu_poll(rb_engine_t *e)
{
    uint64_t now_ns = rb_clock_now_ns();
    bool over = now_ns >= main_end_ns(e) || atomic_load(&e->crew.ended) > 0;
    bool due = e->cpu_looks == 0 ? !over && now_ns >= main_start_ns(e) : over;
    if (e->cpu_looks < 2 && due && rb_cpu_stat_read(&e->cpu_stats[e->cpu_looks]) == 0)
        e->cpu_looks++;
}

static void emit_steal(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx, uint32_t steal_ppm)
{
    char text[RB_MAX_TEXT], kind[] = "steal";
    snprintf(
        text, sizeof(text),
        "the hypervisor took %.1f %% of this host's CPU time: what is measured is its neighbours' "
        "load, too",
        steal_ppm / 1e4);
    int64_t at_ns = rb_timeline_at_ns(&e->line, e->cpu_stats[1].at_ns);
    rb_row_t row = {.kind = RB_ROW_EVENT};
    row.event = (rb_row_event_t){(int32_t)e->phase_index, at_ns, kind, text};
    emit(ctx, &row);
}

static void mark_workers_cpus(const rb_engine_t *e, rb_cpu_share_t *shares, size_t n)
{
    cpu_set_t all;
    CPU_ZERO(&all);
    for (size_t i = 0; i < e->nworkers; i++)
        CPU_OR(&all, &all, &e->workers[i]->place.cpus);
    for (size_t i = 0; i < n; i++)
        shares[i].of_workers = CPU_ISSET(shares[i].cpu, &all);
}

void rb_engine_cpu_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx)
{
    rb_cpu_share_t shares[RB_MAX_CPUS];
    const rb_cpu_stat_t *from = &e->cpu_stats[0], *to = &e->cpu_stats[1];
    if (e->cpu_looks < 2 || to->at_ns - from->at_ns < MIN_NS)
        return;
    rb_row_t row = {.kind = RB_ROW_CPU};
    row.cpu = (rb_row_cpu_t){.phase = e->phase_index,
                             .wall_ns = to->at_ns - from->at_ns,
                             .agent_ns = to->agent_ns - from->agent_ns,
                             .ncpus = rb_cpu_stat_shares(from, to, shares),
                             .cpus = shares};
    mark_workers_cpus(e, shares, row.cpu.ncpus);
    emit(ctx, &row);
    uint32_t steal_ppm = rb_cpu_stat_steal_ppm(shares, row.cpu.ncpus);
    if (steal_ppm > STEAL_PPM)
        emit_steal(e, emit, ctx, steal_ppm);
}
