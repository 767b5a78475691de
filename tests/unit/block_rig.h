/* block_rig.h - a job `j` on a drive /dev/x of 1000 blocks, and workers on it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/workload/block_next.h"

enum { BS = 4096, BLOCKS = 1000 };

static Rackbench__Job job;
static rb_subject_t subject;
static _Atomic uint64_t cursor;
static bool once;
static uint32_t passes;

static int fresh(void **state)
{
    (void)state;
    rackbench__job__init(&job);
    job.name = "j";
    job.has_bs_bytes = job.has_numjobs = true;
    job.bs_bytes = BS;
    job.numjobs = 1;
    subject = (rb_subject_t){.size_bytes = BLOCKS * BS + 100, .logical_block_bytes = 512};
    snprintf(subject.path, sizeof(subject.path), "/dev/x");
    atomic_store(&cursor, 0);
    once = false;
    passes = 0;
    return 0;
}

static inline int init(rb_block_t *b, uint32_t worker, rb_err_t *err)
{
    rb_block_opts_t opts = {.job = &job,
                            .subject = &subject,
                            .worker = worker,
                            .seed = 7,
                            .cursor = &cursor,
                            .once = once,
                            .passes = passes};
    return rb_block_init(b, &opts, err);
}

static inline rb_block_t block(uint32_t worker)
{
    rb_block_t b;
    rb_err_t err = {0};
    if (init(&b, worker, &err) < 0)
        fail_msg("%s", err.text);
    return b;
}

/* The message that a job is refused with. */
static inline rb_err_t refused(uint32_t worker)
{
    rb_block_t b;
    rb_err_t err = {0};
    assert_int_equal(init(&b, worker, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "job 'j'"));
    return err;
}

enum { MANY = 400000 };

typedef struct {
    uint64_t ops[RB_OP_COUNT];
    uint64_t blocks[BLOCKS]; /* by start / BS; of what is no SYNC */
} tally_t;

/* Gives the next n operations, in uneven batches, to `see`; fewer if the work ends. */
static inline uint64_t take(rb_block_t *b, uint64_t n, void (*see)(void *self, const rb_io_t *io),
                            void *self)
{
    rb_io_t ios[RB_BATCH];
    for (uint64_t done = 0; done < n;) {
        uint32_t want = (uint32_t)RB_MIN(1 + done % RB_BATCH, n - done);
        uint32_t got = b->ops->next(b, ios, want);
        for (uint32_t i = 0; i < got; i++)
            see(self, &ios[i]);
        done += got;
        if (got < want)
            return done;
    }
    return n;
}

static inline void count(void *self, const rb_io_t *io)
{
    tally_t *t = self;
    t->ops[io->op]++;
    if (io->op == RB_OP_SYNC)
        return;
    assert_true(io->offset_bytes >= job.offset_bytes);
    assert_true(io->offset_bytes - job.offset_bytes + io->size_bytes <= BLOCKS * BS);
    t->blocks[(io->offset_bytes - job.offset_bytes) / BS]++;
}

static inline tally_t tally(uint32_t worker, uint64_t n)
{
    tally_t t = {0};
    rb_block_t b = block(worker);
    assert_int_equal(take(&b, n, count, &t), n);
    return t;
}
