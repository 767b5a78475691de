/* The search for the highest rate that keeps a response time, against servers whose answer is
 * known. */
#include "common/rng.h"
#include "coordinator/analysis/latency_search.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS RB_NS_PER_MS
#define S  RB_NS_PER_S

/* A server, asked for a rate (0: as a closed loop), says what a step of `length_ns` would show. */
typedef struct {
    double capacity; /* operations per second */
    uint64_t base_ns;
    uint32_t iodepth;
    double noise; /* relative, of the quantile */
    rb_rng_t rng;
    uint64_t length_ns;
    uint64_t rates[RB_SEARCH_MAX_STEPS]; /* as asked */
    size_t asked;
} server_t;

static server_t server(double capacity, uint64_t base_ns, uint32_t iodepth, double noise)
{
    return (server_t){.capacity = capacity,
                      .base_ns = base_ns,
                      .iodepth = iodepth,
                      .noise = noise,
                      .length_ns = 10 * S};
}

/* M/D/1: the tail of the wait decays like exp(-2 (1 - rho) t / (rho s)), t in service times s, so
 * that quantile q lies near base + s rho / (2 (1 - rho)) ln(1 / (1 - q)). Source: the heavy-traffic
 * approximation (Kingman). */
static double md1_quantile_ns(const server_t *v, double rate, double q)
{
    double rho = RB_MIN(rate / v->capacity, 0.9999999), s = 1e9 / v->capacity;
    return (double)v->base_ns + s * rho / (2 * (1 - rho)) * log(1 / (1 - q));
}

static rb_search_figures_t serve(server_t *v, uint64_t rate, uint32_t ppm)
{
    double seconds = (double)v->length_ns / 1e9, ns;
    rb_search_figures_t f = {.length_ns = v->length_ns};
    v->rates[v->asked++] = rate;
    f.offered_ops = (uint64_t)((double)rate * seconds);
    if (rate == 0) {
        f.ops = (uint64_t)(v->capacity * seconds);
        ns = (double)v->base_ns + v->iodepth * 1e9 / v->capacity;
    } else if ((double)rate < v->capacity) {
        f.ops = f.offered_ops;
        ns = md1_quantile_ns(v, (double)rate, ppm / 1e6);
    } else {
        f.ops = (uint64_t)(v->capacity * seconds);
        ns = md1_quantile_ns(v, (double)rate, ppm / 1e6) +
             1e9 * seconds * (1 - v->capacity / (double)rate);
    }
    f.quantile_ns = (uint64_t)(ns * (1 + v->noise * (2 * rb_rng_double(&v->rng) - 1)));
    return f;
}

static rb_latency_search_t search(server_t *v, uint64_t target_ns, uint32_t ppm)
{
    rb_latency_search_t s;
    rb_latency_search_init(&s, target_ns, ppm);
    rb_rng_seed(&v->rng, 7, 1, 0);
    while (s.verdict == RB_SEARCH_GOES_ON) {
        assert_true(v->asked < RB_SEARCH_MAX_STEPS);
        rb_search_figures_t f = serve(v, s.rate_iops, ppm);
        rb_latency_search_take(&s, &f);
    }
    assert_int_equal(s.steps, v->asked);
    return s;
}

static void within(uint64_t got, double want, double share)
{
    if (fabs((double)got - want) > share * want)
        fail_msg("%llu is not within %.1f %% of %.0f", (unsigned long long)got, share * 100, want);
}

/* The rate at which the model's quantile is the target. */
static double md1_answer(const server_t *v, double target_ns, double q)
{
    double a = (target_ns - (double)v->base_ns) * 2 * v->capacity / 1e9 / log(1 / (1 - q));
    return v->capacity * a / (1 + a);
}

static void test_queue_of_known_answer(void **state)
{
    (void)state;
    static const double capacities[] = {3000, 20000, 3e6};
    static const uint64_t targets_us[] = {110, 200, 1000, 20000};
    size_t coarse = 0;
    for (size_t i = 0; i < RB_LEN(capacities); i++)
        for (size_t k = 0; k < RB_LEN(targets_us); k++) {
            server_t v = server(capacities[i], 100000, 4096, 0);
            uint64_t target_ns = targets_us[k] * 1000;
            double want = md1_answer(&v, (double)target_ns, 0.99);
            rb_latency_search_t s = search(&v, target_ns, 990000);
            bool close = (double)s.worst_iops <= 1.02 * (double)s.best_iops;
            assert_int_equal(s.verdict, close ? RB_SEARCH_FOUND : RB_SEARCH_COARSE);
            coarse += !close;
            assert_true(v.rates[0] == 0 && v.rates[1] > 0);
            /* Never above the answer, and no more than the 2 % (or one IOPS) below. */
            assert_true((double)s.best_iops <= want);
            assert_true((double)s.best_iops >= RB_MIN(want / 1.02, want - 2) - 1);
        }
    assert_int_equal(coarse, 1); /* 38 IOPS keep it, 39 do not: 2.6 % */
}

/* 2 IOPS keep it and 3 do not: whole rates do not come closer, and that is not within 2 %. */
static void test_neighbours_are_coarse(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_latency_search_init(&s, 20 * MS, 990000);
    while (s.verdict == RB_SEARCH_GOES_ON) {
        bool over = s.rate_iops == 0 || s.rate_iops > 2;
        rb_search_figures_t f = {s.rate_iops, over ? 8 : s.rate_iops, S, over ? 64 * MS : MS,
                                 false};
        rb_latency_search_take(&s, &f);
    }
    assert_int_equal(s.best_iops, 2);
    assert_int_equal(s.worst_iops, 3);
    assert_int_equal(s.verdict, RB_SEARCH_COARSE);
}

static void test_percentile_counts(void **state)
{
    (void)state;
    server_t v = server(20000, 100000, 4096, 0);
    rb_latency_search_t s = search(&v, MS, 999000);
    within(s.best_iops, md1_answer(&v, 1e6, 0.999), 0.02);
}

static void test_noise(void **state)
{
    (void)state;
    server_t v = server(20000, 100000, 4096, 0.1);
    double want = md1_answer(&v, 1e6, 0.99);
    rb_latency_search_t s = search(&v, MS, 990000);
    assert_int_equal(s.verdict, RB_SEARCH_FOUND);
    within(s.best_iops, want, 0.05);
}

/* All that a throttle lets through comes at once; beyond it the backlog grows. */
static void test_throttle(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_latency_search_init(&s, 20 * MS, 990000);
    while (s.verdict == RB_SEARCH_GOES_ON) {
        bool over = s.rate_iops == 0 || s.rate_iops > 2000;
        rb_search_figures_t f = {s.rate_iops, over ? 2000 : s.rate_iops, S, over ? 64 * MS : MS,
                                 false};
        bool kept = rb_latency_search_take(&s, &f);
        assert_true(kept == !over);
    }
    assert_int_equal(s.verdict, RB_SEARCH_FOUND);
    within(s.best_iops, 1980, 0.011);
}

static void test_never_reached(void **state)
{
    (void)state;
    server_t v = server(20000, 5 * MS, 64, 0);
    rb_latency_search_t s = search(&v, MS, 990000);
    assert_int_equal(s.verdict, RB_SEARCH_NOT_REACHED);
    assert_int_equal(s.best_iops, 0);
    assert_int_equal(s.worst_iops, 1); /* the lowest rate tried */
    assert_true(s.steps <= 13);
    for (size_t i = 2; i + 1 < v.asked; i += 2)
        assert_true(v.rates[i] == v.rates[i - 1] && v.rates[i + 1] < v.rates[i]); /* twice each */
}

/* A latency that no rate below the ceiling makes worse: iodepth is the limit. */
static void test_always_kept(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_search_figures_t f = {0, 50000, 10 * S, MS, false};
    rb_latency_search_init(&s, 2 * MS, 990000);
    assert_true(rb_latency_search_take(&s, &f));
    assert_int_equal(s.rate_iops, 5000); /* what the closed loop did */
    f.offered_ops = 50000;
    assert_true(rb_latency_search_take(&s, &f));
    assert_int_equal(s.verdict, RB_SEARCH_CEILING);
    assert_int_equal(s.best_iops, 5000);
}

/* The closed loop flatters: the open one at its rate does not keep the target. */
static void test_ceiling_is_asked(void **state)
{
    (void)state;
    server_t v = server(20000, 100000, 8, 0);
    double want = md1_answer(&v, 1e6, 0.99);
    rb_latency_search_t s = search(&v, MS, 990000); /* closed: 0.1 + 8/20000 s = 0.5 ms */
    assert_int_equal(v.rates[1], 20000);
    assert_int_equal(s.verdict, RB_SEARCH_FOUND);
    within(s.best_iops, want, 0.02);
}

/* Fast answers to a tenth less than was due keep nothing. */
static void test_backlog_keeps_nothing(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_latency_search_init(&s, 10 * MS, 990000);
    rb_search_figures_t closed = {0, 1000, S, 20 * MS, false};
    assert_false(rb_latency_search_take(&s, &closed));
    for (int i = 0; i < 2; i++) { /* a second time */
        assert_int_equal(s.rate_iops, 500);
        assert_false(rb_latency_search_take(&s, &(rb_search_figures_t){500, 494, S, MS, false}));
    }
    assert_int_equal(s.rate_iops, 125);
    assert_true(rb_latency_search_take(&s, &(rb_search_figures_t){125, 124, S, MS, false}));
    assert_int_equal(s.rate_iops, 250);
}

/* One stall in a step that would have been good: the answer is as without it. */
static void test_one_stall_changes_nothing(void **state)
{
    (void)state;
    server_t v = server(20000, 100000, 4096, 0);
    uint64_t answer = search(&v, MS, 990000).best_iops;
    for (uint32_t stalled = 1; stalled < v.asked; stalled++) {
        rb_latency_search_t s;
        server_t again = server(20000, 100000, 4096, 0);
        rb_latency_search_init(&s, MS, 990000);
        while (s.verdict == RB_SEARCH_GOES_ON) {
            rb_search_figures_t f = serve(&again, s.rate_iops, 990000);
            f.quantile_ns += s.steps == stalled ? S : 0;
            rb_latency_search_take(&s, &f);
        }
        assert_int_equal(s.best_iops, answer);
    }
}

static void test_nothing_done(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_latency_search_init(&s, MS, 990000);
    assert_false(rb_latency_search_take(&s, &(rb_search_figures_t){.length_ns = S}));
    assert_int_equal(s.verdict, RB_SEARCH_NO_DATA);
    assert_string_equal(rb_search_word(s.verdict), "no_data");
    rb_latency_search_init(&s, MS, 990000);
    rb_latency_search_take(&s, &(rb_search_figures_t){0, 100, S, 2 * MS, false});
    /* due and not done is late, not unknown */
    assert_false(rb_latency_search_take(&s, &(rb_search_figures_t){50, 0, S, 0, false}));
    assert_int_equal(s.verdict, RB_SEARCH_GOES_ON);
}

/* Figures without rhyme or reason: it ends in its steps, and asks for rates within what is open. */
static void test_ends_whatever_it_is_told(void **state)
{
    (void)state;
    rb_rng_t rng;
    size_t words[RB_SEARCH_NO_DATA + 1] = {0};
    rb_rng_seed(&rng, 3, 0, 0);
    for (int i = 0; i < 20000; i++) {
        rb_latency_search_t s;
        rb_latency_search_init(&s, 10 * MS, 990000);
        while (s.verdict == RB_SEARCH_GOES_ON) {
            uint64_t offered = s.rate_iops;
            uint64_t ops =
                rb_rng_below(&rng, offered > 0 ? 2 * offered : 1ull << rb_rng_below(&rng, 40));
            rb_search_figures_t f = {offered, ops, S, rb_rng_below(&rng, 20 * MS), false};
            assert_true(s.steps == 0 || (s.rate_iops >= 1 && s.rate_iops > s.best_iops &&
                                         s.rate_iops <= s.worst_iops));
            rb_latency_search_take(&s, &f);
            assert_true(s.steps <= RB_SEARCH_MAX_STEPS);
        }
        words[s.verdict]++;
        assert_true(s.best_iops > 0 || s.verdict == RB_SEARCH_NOT_REACHED ||
                    s.verdict == RB_SEARCH_NO_DATA);
    }
    for (size_t v = RB_SEARCH_FOUND; v < RB_LEN(words); v++)
        assert_true(words[v] > 0);
}

/* Speeds that are kept up to one: doubled from the first, then the middle, and never in doubt by
 * more than 2 %. */
static void climb_to(uint64_t first, uint64_t answer, rb_search_verdict_t want)
{
    rb_latency_search_t s;
    rb_latency_search_init(&s, 20 * MS, 990000);
    rb_latency_search_climb(&s, first, 1000);
    assert_int_equal(s.rate_iops, first); /* no closed loop */
    while (s.verdict == RB_SEARCH_GOES_ON) {
        assert_true(s.rate_iops > 0 && s.rate_iops <= 1000);
        bool over = s.rate_iops > answer;
        rb_search_figures_t f = {s.rate_iops, s.rate_iops, S, over ? 64 * MS : MS, false};
        rb_latency_search_take(&s, &f);
    }
    assert_int_equal(s.verdict, want);
    answer = RB_MIN(answer, 1000);
    assert_true(s.best_iops <= answer && (double)s.best_iops * 1.02 >= (double)answer - 1);
}

static void test_climb(void **state)
{
    (void)state;
    climb_to(5, 20, RB_SEARCH_COARSE); /* 20 and 21: whole numbers */
    climb_to(100, 733, RB_SEARCH_FOUND);
    climb_to(100, 61, RB_SEARCH_FOUND); /* the first one fails: down, then between */
    climb_to(700, 1000, RB_SEARCH_CEILING);
    climb_to(1000, 5000, RB_SEARCH_CEILING);
    climb_to(100, 0, RB_SEARCH_NOT_REACHED);
}

static void test_hopeless(void **state)
{
    (void)state;
    rb_latency_search_t s;
    rb_latency_search_init(&s, 10 * MS, 999000);
    assert_false(rb_latency_search_hopeless(&s, 1000, 1000)); /* the closed loop */
    s.rate_iops = 1000;
    assert_false(rb_latency_search_hopeless(&s, 10, 10000)); /* p99.9 of 10,000 allows 10 */
    assert_true(rb_latency_search_hopeless(&s, 11, 10000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_of_known_answer),
        cmocka_unit_test(test_neighbours_are_coarse),
        cmocka_unit_test(test_percentile_counts),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_throttle),
        cmocka_unit_test(test_never_reached),
        cmocka_unit_test(test_always_kept),
        cmocka_unit_test(test_ceiling_is_asked),
        cmocka_unit_test(test_backlog_keeps_nothing),
        cmocka_unit_test(test_one_stall_changes_nothing),
        cmocka_unit_test(test_nothing_done),
        cmocka_unit_test(test_ends_whatever_it_is_told),
        cmocka_unit_test(test_climb),
        cmocka_unit_test(test_hopeless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
