/* Rounds in the fold: which of them are M, what each drive did in them, and what the result says.
 */
#include "tests/unit/report_rows.h"

#include "coordinator/merge_rounds.h"
#include "coordinator/report/json.h"

#include <math.h>

enum { ROUNDS = 6, WINDOW = 3 };

/* Rounds of 2 s behind a ramp of 1 s, on two hosts with a drive each. */
static void feed_rounds_plan(feed_t *feed, const char *metric)
{
    Rackbench__Job job = feed_job(S, ROUNDS * 2 * S, 0);
    feed_plan(feed, &job, 1);
    Rackbench__Phase *phase = feed->fold->plan->phases[0];
    Rackbench__SteadyState *steady = rb_calloc(1, sizeof(*steady));
    rackbench__steady_state__init(steady);
    steady->metric = rb_strdup(metric);
    steady->window = WINDOW;
    steady->max = ROUNDS;
    steady->range_ppm = 200000;
    steady->slope_ppm = 100000;
    steady->round_ns = 2 * S;
    phase->steady_state = steady;
    feed_host(feed, 1, "h1", NULL);
    feed_host(feed, 2, "h2", NULL);
    feed_start(feed, 0, 2);
}

/* A window of n reads of `each_ns`; window 0 is the ramp. */
static void feed_part(feed_t *feed, uint32_t host, uint64_t index, uint32_t span, size_t n)
{
    uint64_t *values = rb_calloc(n, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] = n * RB_NS_PER_US; /* more of them are slower: rounds can be told apart */
    feed_window(feed, host,
                (feed_window_t){.part = index == 0 ? RB_PART_RAMP : RB_PART_MAIN,
                                .index = index,
                                .span = span,
                                .values_ns = values,
                                .n = n});
    free(values);
}

/* n[r] reads a second in round r. */
static void feed_course(feed_t *feed, uint32_t host, const size_t n[ROUNDS], uint32_t rounds)
{
    feed_part(feed, host, 0, 1, 7);
    for (uint64_t w = 0; w < 2 * rounds; w++)
        feed_part(feed, host, 1 + w, 1, n[w / 2]);
}

static void feed_over(feed_t *feed, int64_t te_at_ns)
{
    static char reason[] = "steady state";
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_END,
                        .phase_end = {.te_at_ns = te_at_ns,
                                      .reason = te_at_ns == INT64_MAX ? NULL : reason}});
}

static const size_t soon[ROUNDS] = {100, 101, 102, 103, 100, 100};
static const size_t late[ROUNDS] = {300, 200, 110, 111, 112, 110};

/* h1 rests by round 3, h2 by round 5: M is rounds 3 to 5, for both. */
static void m_is_the_last_common_window(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_rounds_plan(&feed, "iops");
    feed_course(&feed, 1, soon, 5);
    feed_course(&feed, 2, late, 5);
    feed_part(&feed, 1, 11, 1, 50);
    feed_part(&feed, 2, 11, 1, 50);
    assert_int_equal(rb_fold_rounds(feed.fold, 0), 5);
    RB_AUTO(rb_steady_destroy) rb_steady_t *s = rb_fold_steady(feed.fold, 0);
    assert_true(s->reached && s->first == 3 && s->last == 5 && s->ndrives == 2);
    assert_int_equal(s->drives[0].latched, 3);
    assert_int_equal(s->drives[1].latched, 5);
    assert_true(s->drives[0].fit.holds && s->drives[1].fit.holds);
    feed_over(&feed, 12 * S);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->start_ns, 5 * S);
    assert_int_equal(p->end_ns, 11 * S);
    const rb_op_stats_t *read = &p->cluster.op[RB_OP_READ];
    assert_int_equal(read->ops, 2 * (102 + 103 + 100 + 110 + 111 + 112));
    assert_int_equal(read->service.count, read->ops);
    assert_float_equal(read->iops, (double)read->ops / 6, 1e-9);
    assert_int_equal(read->service.max_ns / RB_NS_PER_US, 112); /* nothing of the rounds before */
    assert_int_equal(p->cluster.outside[RB_PART_RAMP][RB_OP_READ].ops,
                     2 * 7 + 2 * (100 + 101 + 300 + 200));
    assert_int_equal(p->cluster.outside[RB_PART_DRAINED][RB_OP_READ].ops, 100);
    assert_false(has_mark(p, "not_steady"));
    for (size_t i = 0; i < p->series->nwindows; i++) {
        uint64_t index = p->series->windows[i].index;
        assert_int_equal(rb_result_window_part(r, p, &p->series->windows[i]),
                         index < 5    ? RB_PART_RAMP
                         : index < 11 ? RB_PART_MAIN
                                      : RB_PART_DRAINED);
    }
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "steady state of iops: reached; 2 of 2 drives by round 5 of at"));
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"reached\": true"));
}

/* A drive that never rests: the last rounds are what there is. */
static void not_reached(void **state)
{
    (void)state;
    static const size_t falls[ROUNDS] = {400, 300, 220, 160, 120, 90};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_rounds_plan(&feed, "bw");
    feed_course(&feed, 1, soon, ROUNDS);
    feed_course(&feed, 2, falls, ROUNDS);
    feed_over(&feed, INT64_MAX);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_true(!p->steady->reached && p->steady->first == 4 && p->steady->last == ROUNDS);
    assert_int_equal(p->steady->drives[1].latched, 0);
    assert_float_equal(p->steady->drives[1].values[0], 400 * 4096, 1e-6);
    assert_true(has_mark(p, "not_steady"));
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "not reached; 1 of 2 drives by round 6"));
    assert_non_null(strstr(text, "    h2 s.0: range 56.8 %, excursion 56.8 % of the mean"));
}

/* A row over two rounds is of neither: no window with them holds. */
static void a_row_across_rounds(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_rounds_plan(&feed, "p99");
    feed_part(&feed, 1, 0, 1, 7);
    feed_part(&feed, 1, 1, 1, 100);
    feed_part(&feed, 1, 2, 2, 200);
    for (uint64_t w = 4; w < 13; w++)
        feed_part(&feed, 1, w, 1, 100);
    feed_course(&feed, 2, soon, ROUNDS);
    RB_AUTO(rb_steady_destroy) rb_steady_t *s = rb_fold_steady(feed.fold, 0);
    assert_true(isnan(s->drives[0].values[0]) && isnan(s->drives[0].values[1]));
    assert_int_equal(s->drives[0].latched, 5);
    assert_int_equal(s->drives[1].latched, 3);
    assert_true(s->reached && s->last == 5);
}

/* Cut before there was a whole round: all of it counts. */
static void no_round(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_rounds_plan(&feed, "iops");
    for (uint32_t host = 1; host <= 2; host++) {
        feed_part(&feed, host, 0, 1, 7);
        feed_part(&feed, host, 1, 1, 100);
    }
    feed_over(&feed, 2 * S);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].cluster.op[RB_OP_READ].ops, 200);
    assert_true(r->phases[0].start_ns == S && r->phases[0].end_ns == 2 * S);
    assert_true(has_mark(&r->phases[0], "not_steady"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(m_is_the_last_common_window),
        cmocka_unit_test(not_reached),
        cmocka_unit_test(a_row_across_rounds),
        cmocka_unit_test(no_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
