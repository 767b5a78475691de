#include "agent/verify_log_job.h"

#include <inttypes.h>

#include "agent/verify.h"
#include "agent/worker_error.h"
#include "agent/workload/block.h"
#include "common/units.h"

static void make_writer(rb_job_log_t *l, const rb_job_log_opts_t *o)
{
    const Rackbench__Job *job = o->job;
    rb_log_head_t head = {.run = rb_verify_run(o->run_id),
                          .bs_bytes = rb_block_bs(job),
                          .phase = o->phase,
                          .job = o->job_index,
                          .ndrives = o->ndrives,
                          .drives = rb_calloc(o->ndrives, sizeof(*head.drives))};
    snprintf(head.run_id, sizeof(head.run_id), "%s", o->run_id);
    for (size_t i = 0; i < o->ndrives; i++)
        head.drives[i] = rb_strdup(o->drives[i]);
    l->writer = rb_log_writer_new(job->verify_log, &o->pin, &head,
                                  job->has_numjobs ? job->numjobs : 1, o->crew);
}

rb_job_log_t *rb_job_log_new(const rb_job_log_opts_t *opts)
{
    rb_job_log_t *l = rb_calloc(1, sizeof(*l));
    l->job = opts->job;
    l->pin = opts->pin;
    pthread_mutex_init(&l->mutex, NULL);
    if (!opts->job->verify_only)
        make_writer(l, opts);
    return l;
}

void rb_job_log_destroy(rb_job_log_t **log)
{
    rb_job_log_t *l = *log;
    if (l == NULL)
        return;
    rb_log_writer_destroy(&l->writer);
    rb_log_destroy(&l->log);
    pthread_mutex_destroy(&l->mutex);
    free(l);
    *log = NULL;
}

/* What it has lost nobody looks for: that is an error of the reading. */
static void read_it(rb_job_log_t *l)
{
    l->log = rb_log_read(l->job->verify_log, &l->pin, &l->fault);
    if (l->log == NULL || l->log->rest.lost_bytes == 0 ||
        (rb_worker_errors_tolerated(l->job) & 1u << RB_OP_READ) != 0)
        return;
    rb_err_set(&l->fault, RB_ERR_IO,
               "verify_log: %.200s is damaged: of %" PRIu64 " bytes, from byte %" PRIu64
               " on, it is not known which writes they name, and whole ones follow; with "
               "continue_on_error: read the others are looked for",
               l->job->verify_log, l->log->rest.lost_bytes, l->log->rest.lost_at_bytes);
    rb_log_destroy(&l->log);
}

static void open_it(rb_job_log_t *l)
{
    if (l->writer != NULL)
        rb_log_writer_open(l->writer, &l->fault);
    else
        read_it(l);
}

int rb_job_log_prepare(rb_job_log_t *l, rb_err_t *err)
{
    pthread_mutex_lock(&l->mutex);
    if (!l->tried)
        open_it(l);
    l->tried = true;
    *err = l->fault;
    pthread_mutex_unlock(&l->mutex);
    return err->code == RB_OK ? 0 : -1;
}

const rb_log_blocks_t *rb_job_log_blocks(const rb_job_log_t *l, const char *path, uint64_t bs_bytes,
                                         rb_err_t *err)
{
    const rb_log_head_t *head = &l->log->head;
    const rb_log_blocks_t *blocks = rb_log_of_drive(l->log, path);
    char wrote[RB_FMT_SIZE];
    if (blocks == NULL)
        rb_err_set(err, RB_ERR_INPUT,
                   "verify_log: %.150s is of other drives (the first of %zu is %.150s), not of "
                   "%.120s; name its own log",
                   l->job->verify_log, head->ndrives, head->drives[0], path);
    else if (head->bs_bytes != bs_bytes)
        rb_err_set(err, RB_ERR_INPUT, "verify_log: %.200s is of blocks of %s; set bs to that",
                   l->job->verify_log, rb_fmt_bytes_exact(wrote, sizeof(wrote), head->bs_bytes));
    else
        return blocks;
    return NULL;
}
