/* pattern_draws.h - a pattern from its text, and many draws of it with a fixed seed. */
#pragma once

#include "agent/workload/pattern.h"

enum { DRAWS = 1000000, BATCH = 64 };

static inline rb_pattern_t pattern(const char *text, uint64_t nblocks)
{
    rb_distribution_t d;
    rb_pattern_t p = {0};
    rb_err_t err = {0};
    rb_pattern_opts_t opts = {
        .distribution = &d, .nblocks = nblocks, .block_bytes = 4096, .seed = 3};
    if (rb_distribution_parse(text, &d, &err) < 0 || rb_pattern_init(&p, &opts, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return p;
}

/* Calls `take` with DRAWS draws. */
static inline void draw(const rb_pattern_t *p, void (*take)(void *self, uint64_t block), void *self)
{
    uint64_t blocks[BATCH];
    rb_rng_t rng;
    rb_rng_seed(&rng, 21, 22, 23);
    for (int i = 0; i < DRAWS / BATCH; i++) {
        rb_pattern_next(p, &rng, blocks, BATCH);
        for (int k = 0; k < BATCH; k++) {
            assert_true(blocks[k] < p->nblocks);
            take(self, blocks[k]);
        }
    }
}
