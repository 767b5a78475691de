/* test_pattern_place.c - where the hot blocks lie: scattered one to one, or from a center on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/workload/pattern.h"
#include "tests/unit/pattern_draws.h"

enum { SPACE = 5000 };

typedef struct {
    uint64_t ranks[DRAWS]; /* of the same draws, with the center at 0 */
    size_t at;
    uint64_t block_of[SPACE]; /* + 1; 0: this rank was not drawn */
} map_t;

static void store(void *self, uint64_t block)
{
    map_t *m = self;
    m->ranks[m->at++] = block;
}

static void compare(void *self, uint64_t block)
{
    map_t *m = self;
    uint64_t *known = &m->block_of[m->ranks[m->at++]];
    assert_true(*known == 0 || *known == block + 1);
    *known = block + 1;
}

/* The same draws as `text` with its center at 0, so rank r of those is block_of[r]. */
static map_t *map_of(const char *text, const char *from_zero)
{
    map_t *m = rb_calloc(1, sizeof(*m));
    rb_pattern_t ranks = pattern(from_zero, SPACE), blocks = pattern(text, SPACE);
    draw(&ranks, store, m);
    m->at = 0;
    draw(&blocks, compare, m);
    return m;
}

/* Without a center each rank has one block of its own, and neighbours in rank are far apart. */
static void assert_scattered(const char *text, const char *from_zero)
{
    map_t *m = map_of(text, from_zero);
    static bool taken[SPACE];
    uint64_t drawn = 0, near = 0;
    memset(taken, 0, sizeof(taken));
    for (size_t r = 0; r < SPACE; r++) {
        if (m->block_of[r] == 0)
            continue;
        assert_false(taken[m->block_of[r] - 1]);
        taken[m->block_of[r] - 1] = true;
        drawn++;
        near += r > 0 && llabs((long long)(m->block_of[r] - m->block_of[r - 1])) <= SPACE / 100;
    }
    assert_true(drawn > SPACE / 2);
    assert_true(near < drawn / 25); /* 2 % by chance */
    free(m);
}

static void test_hot_blocks_are_scattered(void **state)
{
    (void)state;
    assert_scattered("zipf:0.8", "zipf:0.8:0");
    assert_scattered("pareto:0.2", "pareto:0.2:0");
}

/* Workers that share a seed share their hot blocks, whatever their rng; another seed has others. */
static void test_other_seed_other_place(void **state)
{
    (void)state;
    rb_distribution_t d;
    rb_err_t err = {0};
    uint64_t hottest[3];
    assert_int_equal(rb_distribution_parse("zipf:50", &d, &err), 0); /* rank 0 alone */
    for (uint64_t i = 0; i < 3; i++) {
        rb_pattern_t p;
        rb_rng_t rng;
        rb_pattern_opts_t opts = {.distribution = &d, .nblocks = 1ull << 40, .seed = i / 2};
        rb_rng_seed(&rng, i, 0, 0);
        assert_int_equal(rb_pattern_init(&p, &opts, &err), 0);
        rb_pattern_next(&p, &rng, &hottest[i], 1);
    }
    assert_int_equal(hottest[0], hottest[1]);
    assert_int_not_equal(hottest[0], hottest[2]);
}

static void test_center(void **state)
{
    (void)state;
    const struct {
        const char *text, *from_zero;
        uint64_t base;
    } rows[] = {{"zipf:0.8:0.25", "zipf:0.8:0", SPACE / 4},
                {"pareto:0.2:0.5", "pareto:0.2:0", SPACE / 2},
                {"zipf:0.8:1", "zipf:0.8:0", SPACE - 1}};
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        map_t *m = map_of(rows[i].text, rows[i].from_zero);
        for (size_t r = 0; r < SPACE; r++)
            if (m->block_of[r] > 0)
                assert_int_equal(m->block_of[r] - 1, (r + rows[i].base) % SPACE);
        free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hot_blocks_are_scattered),
        cmocka_unit_test(test_other_seed_other_place),
        cmocka_unit_test(test_center),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
