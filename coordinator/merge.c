#include "coordinator/merge_parts.h"
#include "coordinator/plan/search.h"
#include "proto/select.h"

#include <inttypes.h>

rb_fold_t *rb_fold_new(void)
{
    rb_fold_t *fold = rb_calloc(1, sizeof(*fold));
    fold->scratch = rb_hist_new();
    return fold;
}

void rb_fold_destroy(rb_fold_t **fold)
{
    rb_fold_t *f = *fold;
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->nphases; i++)
        rb_fold_phase_clear(&f->phases[i]);
    for (size_t i = 0; i < f->nhosts; i++) {
        rb_row_clear(&f->hosts[i].row);
        rb_inventory_destroy(&f->hosts[i].inventory);
    }
    for (size_t i = 0; i < f->nevents; i++) {
        free(f->events[i].kind);
        free(f->events[i].text);
    }
    for (size_t i = 0; i < f->nreaches; i++) {
        rb_row_t row = {.kind = RB_ROW_REACH, .reach = f->reaches[i]};
        rb_row_clear(&row);
    }
    free(f->reaches);
    free(f->watts);
    free(f->phases);
    free(f->hosts);
    free(f->events);
    rb_row_clear(&f->run_row);
    rb_row_clear(&f->end_row);
    rb_plan_destroy(&f->plan);
    rb_hist_destroy(&f->scratch);
    free(f);
    *fold = NULL;
}

const char *rb_fold_host_name(const rb_fold_t *fold, uint32_t host)
{
    if (host == 0 || host > fold->nhosts)
        return NULL;
    return fold->hosts[host - 1].row.host.name;
}

uint64_t rb_fold_interval_ns(const rb_fold_t *fold)
{
    bool given = fold->plan != NULL && fold->plan->has_interval_ns && fold->plan->interval_ns > 0;
    return given ? fold->plan->interval_ns : RB_NS_PER_S;
}

const Rackbench__Phase *rb_fold_plan_phase(const rb_fold_t *fold, uint32_t phase)
{
    uint32_t index = phase;
    if (phase < fold->nphases && fold->phases[phase].override != NULL)
        return fold->phases[phase].override;
    if (phase < fold->nphases)
        index = fold->phases[phase].plan_phase;
    return fold->plan != NULL && index < fold->plan->n_phases ? fold->plan->phases[index] : NULL;
}

bool rb_fold_is_step(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__Phase *p = rb_fold_plan_phase(fold, phase);
    return p != NULL && rb_search_job(p) >= 0;
}

uint64_t rb_fold_ramp_ns(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__Phase *p = rb_fold_plan_phase(fold, phase);
    return p != NULL ? rb_phase_ramp_ns(p) : 0;
}

uint64_t rb_fold_runtime_ns(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__Phase *p = rb_fold_plan_phase(fold, phase);
    return p != NULL ? rb_phase_runtime_ns(p) : 0;
}

static int take_run(rb_fold_t *fold, rb_row_t *row, rb_err_t *err)
{
    if (fold->run_row.kind == RB_ROW_RUN)
        return rb_err_set(err, RB_ERR_INTERNAL, "the journal holds two RUN rows");
    fold->plan = rb_plan_unpack(row->run.plan.data, row->run.plan.size, err);
    if (fold->plan == NULL)
        return rb_err_wrap(err, "plan of the RUN row");
    if (fold->plan->n_phases > RB_MAX_PHASES)
        return rb_err_set(err, RB_ERR_NET, "the plan has %zu phases; at most %d are possible",
                          fold->plan->n_phases, RB_MAX_PHASES);
    fold->run_row = *row;
    *row = (rb_row_t){0};
    return 0;
}

/* A host that comes back to a resumed run is told again: the newer row replaces the older. */
static int take_host(rb_fold_t *fold, rb_row_t *row, rb_err_t *err)
{
    uint32_t host = row->host.host;
    if (host == 0 || host > RB_MAX_HOSTS)
        return rb_err_set(err, RB_ERR_NET, "host number %u is outside 1..%d", host, RB_MAX_HOSTS);
    while (fold->nhosts < host)
        (void)RB_PUSH(fold->hosts, fold->nhosts);
    rb_fold_host_t *h = &fold->hosts[host - 1];
    rb_row_clear(&h->row);
    rb_inventory_destroy(&h->inventory);
    if (row->host.inventory.size > 0) {
        const rb_bytes_t *b = &row->host.inventory;
        h->inventory = rb_inventory_unpack(b->data, b->size, err);
        if (h->inventory == NULL)
            return rb_err_wrap(err, "inventory of host %s", row->host.name);
    }
    h->row = *row;
    *row = (rb_row_t){0};
    return 0;
}

static int take_clock(rb_fold_t *fold, const rb_row_clock_t *row, rb_err_t *err)
{
    if (rb_fold_host_name(fold, row->host) == NULL)
        return rb_err_set(err, RB_ERR_NET, "CLOCK row of host %u, which no HOST row names",
                          row->host);
    fold->hosts[row->host - 1].clock = *row;
    fold->hosts[row->host - 1].has_clock = true;
    return 0;
}

static int take_search(rb_fold_t *fold, rb_row_t *row, rb_err_t *err)
{
    const rb_row_search_t *s = &row->search;
    rb_fold_phase_t *p = s->phase < fold->nphases ? &fold->phases[s->phase] : NULL;
    if (p == NULL || !p->over || p->search_row.kind == RB_ROW_SEARCH)
        return rb_err_set(err, RB_ERR_INTERNAL, "figures of a search's step %u, which %s", s->phase,
                          p == NULL || !p->over ? "is not over" : "came before");
    if (s->job >= rb_fold_plan_phase(fold, s->phase)->n_jobs)
        return rb_err_set(err, RB_ERR_NET, "job %u is not among those of phase %u", s->job,
                          s->phase);
    p->search_row = *row;
    *row = (rb_row_t){0};
    return 0;
}

static int take_note(rb_fold_t *fold, rb_row_note_t *row)
{
    rb_fold_event_t *e = RB_PUSH(fold->events, fold->nevents);
    *e = (rb_fold_event_t){.host = row->host,
                           .phase = row->phase,
                           .absolute = true,
                           .at_ns = (int64_t)row->at_ns,
                           .kind = RB_MOVE(row->kind),
                           .text = RB_MOVE(row->text)};
    return 0;
}

static int take_end(rb_fold_t *fold, rb_row_t *row)
{
    rb_row_clear(&fold->end_row);
    fold->end_row = *row;
    *row = (rb_row_t){0};
    return 0;
}

static int take_reach(rb_fold_t *fold, rb_row_t *row, rb_err_t *err)
{
    if (row->reach.host != fold->nreaches + 1 || fold->nreaches == RB_MAX_HOSTS)
        return rb_err_set(err, RB_ERR_NET, "REACH row of host %u where host %zu is due",
                          row->reach.host, fold->nreaches + 1);
    *RB_PUSH(fold->reaches, fold->nreaches) = row->reach;
    *row = (rb_row_t){0};
    return 0;
}

static int take_watts(rb_fold_t *fold, const rb_row_watts_t *row, rb_err_t *err)
{
    for (size_t i = 0; i < row->nreadings; i++) {
        uint32_t host = row->readings[i].host;
        if (host != 0 && rb_fold_host_name(fold, host) == NULL)
            return rb_err_set(err, RB_ERR_NET, "WATTS row of host %u, which no HOST row names",
                              host);
        *RB_PUSH(fold->watts, fold->nwatts) = row->readings[i];
    }
    return 0;
}

static int own_row(rb_fold_t *fold, rb_row_t *row, rb_err_t *err)
{
    if (row->kind != RB_ROW_RUN && fold->plan == NULL)
        return rb_err_set(err, RB_ERR_INTERNAL, "the journal does not begin with a RUN row");
    switch (row->kind) {
    case RB_ROW_RUN:
        return take_run(fold, row, err);
    case RB_ROW_HOST:
        return take_host(fold, row, err);
    case RB_ROW_CLOCK:
        return take_clock(fold, &row->clock, err);
    case RB_ROW_STEP:
        return rb_fold_step(fold, &row->step, err);
    case RB_ROW_SEARCH:
        return take_search(fold, row, err);
    case RB_ROW_PHASE_START:
        return rb_fold_phase_start(fold, &row->phase_start, err);
    case RB_ROW_PHASE_END:
        return rb_fold_phase_end(fold, &row->phase_end, err);
    case RB_ROW_NOTE:
        return take_note(fold, &row->note);
    case RB_ROW_RUN_END:
        return take_end(fold, row);
    case RB_ROW_REACH:
        return take_reach(fold, row, err);
    case RB_ROW_WATTS:
        return take_watts(fold, &row->watts, err);
    case RB_ROW_WINDOW:
    case RB_ROW_WORKER:
    case RB_ROW_KERNEL:
    case RB_ROW_EVENT:
    case RB_ROW_DRIVES:
    case RB_ROW_LAYOUT:
    case RB_ROW_CPU:
    case RB_ROW_PLACEMENT:
    case RB_ROW_HEALTH:
    case RB_ROW_KV_PARTS:
    case RB_ROW_KV_DRIVE:
        break;
    }
    return rb_err_set(err, RB_ERR_NET, "the coordinator's own rows hold one of kind %d, an agent's",
                      (int)row->kind);
}

static int check_seq(uint64_t *last, const char *who, uint64_t seq, rb_err_t *err)
{
    if (seq <= *last)
        return rb_err_set(err, RB_ERR_INTERNAL,
                          "%s: row %" PRIu64 " came again after row %" PRIu64
                          "; each row may be in the journal once",
                          who, seq, *last);
    if (seq != *last + 1)
        return rb_err_set(err, RB_ERR_INTERNAL,
                          "%s: row %" PRIu64 " follows row %" PRIu64
                          "; the rows between are missing",
                          who, seq, *last);
    *last = seq;
    return 0;
}

int rb_fold_row(rb_fold_t *fold, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    RB_AUTO(rb_row_clear) rb_row_t row = {0};
    const char *name = host == 0 ? "coordinator" : rb_fold_host_name(fold, host);
    if (name == NULL)
        return rb_err_set(err, RB_ERR_NET, "row of host %u, which no HOST row names", host);
    if (rb_row_unpack(data, size, &row, err) < 0)
        return rb_err_wrap(err, "%s", name);
    uint64_t *seq = host == 0 ? &fold->seq : &fold->hosts[host - 1].seq;
    if (check_seq(seq, name, row.seq, err) < 0)
        return -1;
    uint64_t number = row.seq;
    int rc = host == 0 ? own_row(fold, &row, err) : rb_fold_agent_row(fold, host, &row, err);
    return rc < 0 ? rb_err_wrap(err, "%s: row %" PRIu64, name, number) : 0;
}
