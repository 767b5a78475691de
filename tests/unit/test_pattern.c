/* test_pattern.c - what is drawn follows the formula, and a formula slightly off is told apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/workload/pattern.h"
#include "common/clock.h"
#include "tests/unit/chi_square.h"
#include "tests/unit/pattern_draws.h"

enum { MAX_CELLS = 1024 };

/* Cells of ascending ranks: cell i is [from[i], from[i + 1]). */
typedef struct {
    size_t ncells;
    uint64_t from[MAX_CELLS + 1];
    uint64_t counts[MAX_CELLS];
    double share[MAX_CELLS];
} cells_t;

static void count_in(void *self, uint64_t block)
{
    cells_t *c = self;
    size_t low = 0, high = c->ncells;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(block < c->from[middle] ? &high : &low) = middle;
    }
    c->counts[low]++;
}

/* P(rank < r), ranks from 0. */
typedef double (*below_t)(double parameter, uint64_t nblocks, uint64_t r);

/* Single ranks while they are few, then quarters of octaves; a cell that is hardly ever met is
 * joined with the next one, the last with the one before it. */
static cells_t cells_of(below_t below, double parameter, uint64_t nblocks)
{
    cells_t c = {0};
    double done = 0;
    for (uint64_t next = 1; next <= nblocks; next += next < 16 ? 1 : next / 4) {
        if (nblocks - next < next / 4)
            next = nblocks;
        double share = below(parameter, nblocks, next) - done;
        if (share * DRAWS < 20 && next < nblocks)
            continue;
        if (share * DRAWS < 20)
            share += c.share[--c.ncells];
        c.share[c.ncells++] = share;
        c.from[c.ncells] = next;
        done = below(parameter, nblocks, next);
    }
    return c;
}

static double excess(const rb_pattern_t *p, below_t below, double parameter)
{
    cells_t c = cells_of(below, parameter, p->nblocks);
    assert_true(c.ncells >= 2);
    draw(p, count_in, &c);
    return chi_square_excess(c.counts, c.share, c.ncells);
}

static void assert_follows(const char *text, uint64_t nblocks, below_t below, double parameter)
{
    rb_pattern_t p = pattern(text, nblocks);
    double sigma = excess(&p, below, parameter);
    if (!(sigma < CHI_SQUARE_LIMIT))
        fail_msg("%s of %llu: %g sigma", text, (unsigned long long)nblocks, sigma);
}

static void assert_differs(const char *text, uint64_t nblocks, below_t below, double parameter)
{
    rb_pattern_t p = pattern(text, nblocks);
    double sigma = excess(&p, below, parameter);
    if (!(sigma > CHI_SQUARE_LIMIT))
        fail_msg("%s of %llu passes for %g", text, (unsigned long long)nblocks, parameter);
}

static double uniform_below(double parameter, uint64_t nblocks, uint64_t r)
{
    (void)parameter;
    return (double)r / (double)nblocks;
}

static void test_random(void **state)
{
    (void)state;
    const uint64_t sizes[] = {2, 3, 1000, (1ull << 42) - 1};
    for (size_t i = 0; i < RB_LEN(sizes); i++)
        assert_follows("random", sizes[i], uniform_below, 0);
    assert_differs("zipf:0.02:0", 1000, uniform_below, 0);
}

/* Sum of k^-theta, k = 1..n: added up to 1000, from there by Euler and Maclaurin. */
static double zeta(double theta, uint64_t n)
{
    enum { DIRECT = 1000 };
    double sum = 0, a = DIRECT, b = (double)n;
    for (uint64_t k = 1; k <= RB_MIN(n, (uint64_t)DIRECT); k++)
        sum += pow((double)k, -theta);
    if (n <= DIRECT)
        return sum;
    return sum + (pow(b, 1 - theta) - pow(a, 1 - theta)) / (1 - theta) +
           (pow(b, -theta) - pow(a, -theta)) / 2 +
           theta * (pow(a, -theta - 1) - pow(b, -theta - 1)) / 12;
}

static double zipf_below(double theta, uint64_t nblocks, uint64_t r)
{
    return r >= nblocks ? 1 : zeta(theta, r) / zeta(theta, nblocks);
}

static void test_zipf(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double theta;
    } rows[] = {{"zipf:0.1:0", 0.1},     {"zipf:0.5:0", 0.5}, {"zipf:0.99:0", 0.99},
                {"zipf:1.001:0", 1.001}, {"zipf:1.2:0", 1.2}, {"zipf:3:0", 3}};
    const uint64_t sizes[] = {2, 10, 1000, 1000003, 1ull << 42};
    for (size_t i = 0; i < RB_LEN(rows); i++)
        for (size_t s = 0; s < RB_LEN(sizes); s++)
            assert_follows(rows[i].text, sizes[s], zipf_below, rows[i].theta);
    assert_differs("zipf:1.2:0", 1000, zipf_below, 1.21);
    assert_differs("zipf:1.2:0", 1ull << 42, zipf_below, 1.21);
    assert_differs("zipf:0.99:0", 1ull << 42, zipf_below, 0.98);
    assert_differs("zipf:3:0", 1000, zipf_below, 2.98);
}

static void test_extremes(void **state)
{
    (void)state;
    rb_rng_t rng;
    uint64_t blocks[BATCH];
    const char *texts[] = {
        "zipf:1.2",     "zipf:0.5",     "zipf:99",         "pareto:0.2",
        "pareto:0.001", "pareto:0.999", "normal:0.0001:0", "normal:0.00000000000000000001:1",
        "normal:99"};
    rb_rng_seed(&rng, 1, 1, 1);
    for (size_t i = 0; i < RB_LEN(texts); i++) {
        rb_pattern_t one = pattern(texts[i], 1), huge = pattern(texts[i], RB_MAX_PERMUTATION);
        rb_pattern_next(&one, &rng, blocks, BATCH);
        for (int k = 0; k < BATCH; k++)
            assert_int_equal(blocks[k], 0);
        rb_pattern_next(&huge, &rng, blocks, BATCH);
        for (int k = 0; k < BATCH; k++)
            assert_true(blocks[k] < RB_MAX_PERMUTATION);
    }
}

static double pareto_below(double h, uint64_t nblocks, uint64_t r)
{
    return pow((double)r / (double)nblocks, log(1 - h) / log(h));
}

static void test_pareto(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double h;
    } rows[] = {{"pareto:0.05:0", 0.05},
                {"pareto:0.2:0", 0.2},
                {"pareto:0.5:0", 0.5},
                {"pareto:0.7:0", 0.7}};
    const uint64_t sizes[] = {2, 1000, 1000003, 1ull << 42};
    for (size_t i = 0; i < RB_LEN(rows); i++)
        for (size_t s = 0; s < RB_LEN(sizes); s++)
            assert_follows(rows[i].text, sizes[s], pareto_below, rows[i].h);
    assert_differs("pareto:0.2:0", 1000, pareto_below, 0.205);
    assert_differs("pareto:0.2:0", 1ull << 42, pareto_below, 0.205);
}

static void count_hot(void *self, uint64_t block)
{
    uint64_t *hot = self;
    *hot += block < 200000;
}

/* The name's promise: 80 % of the accesses go to 20 % of the blocks. */
static void test_pareto_is_80_20(void **state)
{
    (void)state;
    uint64_t hot = 0;
    rb_pattern_t p = pattern("pareto:0.2:0", 1000000);
    draw(&p, count_hot, &hot);
    assert_true(fabs((double)hot / DRAWS - 0.8) < 5 * sqrt(0.8 * 0.2 / DRAWS));
}

typedef struct {
    double n, sum, squares;
} moments_t;

static void add(void *self, uint64_t block)
{
    moments_t *m = self;
    double at = (double)block + 0.5;
    m->n++;
    m->sum += at;
    m->squares += at * at;
}

static void assert_moments(const char *text, double mean, double deviation)
{
    enum { N = 1000000 };
    moments_t m = {0};
    rb_pattern_t p = pattern(text, N);
    draw(&p, add, &m);
    double got = m.sum / m.n, spread = sqrt(m.squares / m.n - got * got);
    /* The deviation of a sample's mean is s / sqrt(n), of its deviation less than s / sqrt(n). */
    double tolerance = 5 * deviation * N / sqrt(m.n);
    if (fabs(got - mean * N) > tolerance || fabs(spread - deviation * N) > tolerance)
        fail_msg("%s: mean %g, deviation %g", text, got / N, spread / N);
}

static void test_normal(void **state)
{
    (void)state;
    assert_moments("normal:5", 0.5, 0.05);
    assert_moments("normal:10", 0.5, 0.1);
    assert_moments("normal:2:0.3", 0.3, 0.02);
    /* At an end, half a bell: what is outside is drawn again. */
    assert_moments("normal:10:0", 0.1 * sqrt(2 / M_PI), 0.1 * sqrt(1 - 2 / M_PI));
    assert_moments("normal:10:1", 1 - 0.1 * sqrt(2 / M_PI), 0.1 * sqrt(1 - 2 / M_PI));
}

static double normal_below(double deviation, uint64_t nblocks, uint64_t r)
{
    double scale = deviation * sqrt(2), whole = erf(0.5 / scale);
    return (erf(((double)r / (double)nblocks - 0.5) / scale) + whole) / (2 * whole);
}

static void test_normal_is_a_bell(void **state)
{
    (void)state;
    assert_follows("normal:20", 1ull << 40, normal_below, 0.2); /* 1.2 % drawn again */
    assert_follows("normal:50", 100, normal_below, 0.5);
    assert_differs("normal:20", 1ull << 40, normal_below, 0.202);
}

/* zoned:60/10:30/20:0/30:10/30 leaves 30 to 60 % and the last 10 % alone. */
static double zoned_below(double parameter, uint64_t nblocks, uint64_t r)
{
    const double from[] = {0, 0.1, 0.3, 0.6, 0.9}, share[] = {0.6, 0.3, 0, 0.1};
    double at = (double)r / (double)nblocks, sum = 0;
    (void)parameter;
    for (int i = 0; i < 4; i++)
        sum += share[i] * fmin(fmax((at - from[i]) / (from[i + 1] - from[i]), 0), 1);
    return sum;
}

static void test_zoned(void **state)
{
    (void)state;
    assert_follows("zoned:60/10:30/20:0/30:10/30", 1000, zoned_below, 0);
    assert_follows("zoned:60/10:30/20:0/30:10/30", 1ull << 42, zoned_below, 0);
    assert_follows("zoned_abs:60/40M:30/80M:0/120M:10/120M", 100 * 1024, zoned_below, 0);
    assert_differs("zoned:60.5/10:29.5/20:0/30:10/30", 1000, zoned_below, 0);
    assert_differs("zoned:60/10.2:30/19.8:0/30:10/30", 1000, zoned_below, 0);
    assert_follows("zoned:25/25:25/25:50/50", 1000, uniform_below, 0);
    assert_follows("zoned:50/50:0/0:50/50", 1000, uniform_below, 0); /* an idle zone may be empty */
}

static void assert_refused(const char *text, uint64_t nblocks, const char *want)
{
    rb_distribution_t d;
    rb_pattern_t p;
    rb_err_t err = {0};
    rb_pattern_opts_t opts = {.distribution = &d, .nblocks = nblocks, .block_bytes = 4096};
    assert_int_equal(rb_distribution_parse(text, &d, &err), 0);
    assert_int_equal(rb_pattern_init(&p, &opts, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, want);
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("zoned:60/10:40/0.5", 100,
                   "zone 2 of zoned holds no whole block of the region: widen it");
    assert_refused("zoned_abs:60/4k:40/4095", 100,
                   "zone 2 of zoned_abs holds no whole block of the region: widen it");
    assert_refused("zoned_abs:60/200k:40/204k", 100,
                   "zone 2 of zoned_abs ends beyond the region: lower its size");
    assert_refused("zoned_abs:60/16383P:40/16383P", 100,
                   "zone 1 of zoned_abs ends beyond the region: lower its size");
}

static void sum(void *self, uint64_t block)
{
    *(uint64_t *)self += block;
}

static void test_cost(void **state)
{
    (void)state;
    const char *texts[] = {
        "random",     "zipf:0.99",    "zipf:1.2",  "zipf:1.2:0",
        "pareto:0.2", "pareto:0.2:0", "normal:10", "zoned:60/10:30/20:8/30:2/40"};
    const uint64_t sizes[] = {1000000, 1ull << 42};
    for (size_t i = 0; i < RB_LEN(texts); i++) {
        for (size_t s = 0; s < RB_LEN(sizes); s++) {
            rb_pattern_t p = pattern(texts[i], sizes[s]);
            uint64_t total = 0, start_ns = rb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
            draw(&p, sum, &total);
            double each_ns = (double)(rb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / DRAWS;
            print_message("%s of %llu: %.1f ns a draw\n", texts[i], (unsigned long long)sizes[s],
                          each_ns);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),           cmocka_unit_test(test_zipf),
        cmocka_unit_test(test_extremes),         cmocka_unit_test(test_pareto),
        cmocka_unit_test(test_pareto_is_80_20),  cmocka_unit_test(test_normal),
        cmocka_unit_test(test_normal_is_a_bell), cmocka_unit_test(test_zoned),
        cmocka_unit_test(test_refused),          cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
