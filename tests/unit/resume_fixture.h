/* resume_fixture.h - a run that is taken up again, before two agents that are played. */
#pragma once

#include "coordinator/resume.h"
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

#define ARMED  RACKBENCH__BEAT_ACK__STATE__armed
#define READY  RACKBENCH__BEAT_ACK__STATE__ready
#define LOADED RACKBENCH__BEAT_ACK__STATE__loaded

typedef struct {
    rb_resume_t resume;
    rb_resume_host_t hosts[HOSTS];
    rb_row_run_end_t end;
} before_t;

/* A journal that ends in the middle of a phase, with 3 rows of each host. */
static inline void resume_in_phase(fixture_t *f, before_t *b)
{
    *b = (before_t){.resume = {.next_row = 20,
                               .under_way = true,
                               .t0_ns = 995 * RB_NS_PER_S,
                               .next_phase = 1,
                               .has_start = true,
                               .nhosts = HOSTS,
                               .hosts = b->hosts}};
    for (size_t i = 0; i < HOSTS; i++)
        b->hosts[i] = (rb_resume_host_t){
            .known = true, .next_row = 4, .takes_part = true, .end_at_ns = INT64_MIN};
    f->opts.resume = &b->resume;
    f->last_row = 3;
}

static inline void greet(fixture_t *f, Rackbench__BeatAck__State state)
{
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    f->states[1] = f->states[2] = state;
    pump(f);
}

static inline void worker_row(fixture_t *f, uint32_t host, uint64_t seq, int64_t end_at_ns)
{
    rb_row_t row = {.kind = RB_ROW_WORKER, .seq = seq};
    row.worker.phase = f->at_phase;
    row.worker.end_at_ns = end_at_ns;
    row.worker.first_submit_at_ns = INT64_MIN;
    rb_bytes_t bytes = rb_row_pack(&row);
    step(f, (rb_run_event_t){
                .kind = RB_RUN_ROW, .host = host, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}
