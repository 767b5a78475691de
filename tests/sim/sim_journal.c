#include "tests/sim/sim.h"

enum { RECORD_BYTES = 12 }; /* of the journal, before each row: see coordinator/journal.h */

void sim_journal_append(sim_t *sim, uint32_t host, const void *row, size_t size)
{
    sim_coordinator_t *c = &sim->coordinator;
    c->journal_bytes += size + RECORD_BYTES;
    if (sim->config.is_long)
        return;
    sim_record_t *record = RB_PUSH(c->journal, c->nrecords);
    record->host = host;
    record->row.data = rb_calloc(1, size);
    record->row.size = size;
    memcpy(record->row.data, row, size);
}

void sim_journal_cut(sim_t *sim)
{
    sim_coordinator_t *c = &sim->coordinator;
    sim_log(sim, "the last %zu rows of the journal are gone", c->nrecords - c->nsynced);
    while (c->nrecords > c->nsynced) {
        rb_bytes_t *row = &c->journal[--c->nrecords].row;
        c->journal_bytes -= row->size + RECORD_BYTES;
        rb_bytes_clear(row);
    }
}

static void forget_run(sim_coordinator_t *c)
{
    rb_run_destroy(&c->run);
    rb_resume_destroy(&c->resume);
    rb_fold_destroy(&c->fold);
}

void sim_journal_clear(sim_coordinator_t *c)
{
    forget_run(c);
    for (size_t i = 0; i < c->nrecords; i++)
        rb_bytes_clear(&c->journal[i].row);
    free(c->journal);
}

/* All that a new process knows stands in the journal. */
static void forget_all(sim_coordinator_t *c)
{
    forget_run(c);
    sim_coordinator_t before = *c;
    *c = (sim_coordinator_t){.nrecords = c->nrecords,
                             .nsynced = c->nrecords,
                             .journal = c->journal,
                             .journal_bytes = c->journal_bytes,
                             .tick_epoch = c->tick_epoch + 1,
                             .resumed = c->resumed + 1,
                             .start_ns = c->start_ns,
                             .done_ns = c->done_ns};
    /* What agents were told they go by until they are told anew. */
    memcpy(c->armed, before.armed, sizeof(c->armed));
    memcpy(c->told, before.told, sizeof(c->told));
    memcpy(c->ntold, before.ntold, sizeof(c->ntold));
}

static bool read_journal(sim_t *sim)
{
    sim_coordinator_t *c = &sim->coordinator;
    rb_err_t err;
    c->fold = rb_fold_new();
    for (size_t i = 0; i < c->nrecords; i++) {
        const sim_record_t *r = &c->journal[i];
        c->rows[r->host]++;
        sim_read_row(sim, r->host, r->row.data, r->row.size);
        if (rb_fold_row(c->fold, r->host, r->row.data, r->row.size, &err) == 0)
            continue;
        sim_violate(sim, 3, "the journal cannot be read again: %s", err.text);
        return false;
    }
    return c->nrecords > 0;
}

void sim_resume(sim_t *sim)
{
    sim_coordinator_t *c = &sim->coordinator;
    forget_all(c);
    if (!read_journal(sim))
        return;
    c->resume = rb_resume_new(c->fold, sim->config.run.nhosts);
    c->resume->journal_bytes = c->journal_bytes;
    if (c->resume->complete != NULL && !rb_resume_rows_missing(c->resume))
        return;
    sim_log(sim, "the run is taken up again");
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++)
        if (sim->agents[host].alive)
            sim_connect(sim, host);
    c->done_ns = 0;
    c->run_end = false;
    sim->config.journal_rows = UINT64_MAX; /* space was made */
    rb_run_opts_t opts = sim->config.run;
    opts.resume = c->resume;
    opts.collect_only = sim_chance(&sim->rng, 20);
    sim_coordinator_begin(sim, &opts);
}
