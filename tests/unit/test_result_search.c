/* Searches in the result: steps by their number, their point, table and verdict; how phases end. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/csv.h"
#include "coordinator/report/json.h"
#include "coordinator/step_figures.h"

/* A plan whose phase "one" searches and whose phase "two" is like it but for that. */
static void feed_search_plan(feed_t *feed)
{
    Rackbench__Job job = feed_job(0, 2 * S, 0);
    job.has_latency_target_ns = true;
    job.latency_target_ns = 5 * MS;
    job.latency_percentile = (char *)"99.9%";
    feed_plan(feed, &job, 1);
    feed_host(feed, 1, "h1", NULL);
    feed_host(feed, 2, "h2", NULL);
}

static void feed_step(feed_t *feed, uint32_t phase, uint32_t step, uint64_t rate_iops)
{
    RB_AUTO(rb_phase_destroy) Rackbench__Phase *as = rb_phase_copy(feed->fold->plan->phases[0]);
    as->jobs[0]->has_rate_iops = rate_iops > 0;
    as->jobs[0]->rate_iops = rate_iops;
    rb_bytes_t bytes = rb_phase_pack(as);
    feed_row(
        feed, 0,
        (rb_row_t){.kind = RB_ROW_STEP, .step = {.phase = phase, .step = step, .override = bytes}});
    rb_bytes_clear(&bytes);
}

/* What host `host` did in the second window of a step: n reads, of which `late` took 8 ms. */
static void feed_work(feed_t *feed, uint32_t host, uint32_t phase, size_t n, size_t late)
{
    uint64_t *values = rb_calloc(n, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] = i < late ? 8 * MS : MS;
    rb_cell_t cell = {.op = RB_OP_READ,
                      .ops = n,
                      .bytes = n * 4096,
                      .service = sparse_of(values, n),
                      .response = sparse_of(values, n)};
    rb_row_t row = {.kind = RB_ROW_WINDOW};
    row.window = (rb_row_window_t){.phase = phase,
                                   .part = RB_PART_MAIN,
                                   .span = 2,
                                   .all_running = true,
                                   .ncells = 1,
                                   .cells = &cell};
    feed_row(feed, host, row);
    rb_hist_sparse_clear(&cell.service);
    rb_hist_sparse_clear(&cell.response);
    free(values);
    rb_row_worker_t worker = feed_worker_row();
    worker.phase = phase;
    worker.offered_ops = n;
    worker.end_at_ns = 2 * S;
    worker.cpu_ns = phase == 2 ? worker.wall_ns : worker.cpu_ns; /* all that a CPU has */
    worker.stopped_at_ns = (int64_t)(2 * S + host * 10 * RB_NS_PER_US);
    feed_worker(feed, host, worker);
}

static void feed_step_end(feed_t *feed, uint32_t phase, const char *reason)
{
    bool cut = reason != NULL;
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_END,
                        .phase_end = {.phase = phase,
                                      .te_at_ns = cut ? (int64_t)S : INT64_MAX,
                                      .reason = (char *)(uintptr_t)reason}});
}

static void feed_figures(feed_t *feed, uint32_t phase, uint64_t rate_iops, const char *verdict)
{
    rb_search_figures_t f;
    rb_step_figures(feed->fold, phase, 0, 999000, &f);
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_SEARCH,
                        .search = {.phase = phase,
                                   .rate_iops = rate_iops,
                                   .offered_ops = rate_iops > 0 ? f.offered_ops : 0,
                                   .ops = f.ops,
                                   .length_ns = f.length_ns,
                                   .quantile_ns = f.quantile_ns,
                                   .uncertain = f.uncertain,
                                   .kept = f.quantile_ns <= 5 * MS,
                                   .verdict = (char *)(uintptr_t)verdict}});
}

/* A step, of which `late` reads on each host are late. */
typedef struct {
    uint32_t phase;
    uint64_t rate_iops;
    size_t late;
    const char *reason, *verdict;
} step_t;

static void feed_whole_step(feed_t *feed, step_t step)
{
    size_t n = step.rate_iops > 0 ? step.rate_iops : 4000;
    feed_step(feed, step.phase, step.phase + 1, step.rate_iops);
    feed_start(feed, step.phase, 2);
    for (uint32_t host = 1; host <= 2; host++)
        feed_work(feed, host, step.phase, n, step.late);
    feed_step_end(feed, step.phase, step.reason);
    feed_figures(feed, step.phase, step.rate_iops, step.verdict);
}

static void feed_search(feed_t *feed, const char *verdict)
{
    feed_search_plan(feed);
    feed_whole_step(feed, (step_t){0, 0, 20, NULL, ""}); /* 0.5 %: p99.9 shows it, p99 does not */
    feed_whole_step(feed, (step_t){1, 3000, 0, NULL, ""});
    feed_whole_step(feed, (step_t){2, 3400, 400, "out of reach", ""});
    feed_whole_step(feed, (step_t){3, 3200, 1, NULL, verdict});
}

static void steps_are_phases_with_a_point(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search(&feed, "found");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nphases, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(r->phases[i].name, "one");
        assert_int_equal(r->phases[i].step, i + 1);
        assert_int_equal(r->phases[i].npoint, i > 0);
        assert_true(r->phases[i].closed_loop == (i == 0));
    }
    assert_string_equal(r->phases[3].point[0].key.text, "rate_iops");
    assert_int_equal(r->phases[3].point[0].number, 3200);
    assert_string_equal(r->phases[2].end_reason, "out of reach");
    assert_int_equal(r->phases[2].end_ns, S); /* and not truncated */
    assert_false(has_mark(&r->phases[2], "truncated"));
    assert_null(r->phases[3].end_reason);
    assert_int_equal(r->nnot_run, 1); /* the plan's second phase, whatever numbers were run */
    assert_string_equal(r->not_run[0], "two");
}

static void the_best_step_is_the_answer(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search(&feed, "found");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nsearches, 1);
    const rb_result_search_t *s = &r->searches[0];
    assert_string_equal(s->verdict, "found");
    assert_int_equal(s->target_ns, 5 * MS);
    assert_int_equal(s->percentile_ppm, 999000);
    assert_int_equal(s->nsteps, 4);
    assert_int_equal(s->best, 4);
    assert_near(s->steps[3].offered_iops, 3200); /* 2 x 3200 in 2 s */
    assert_near(s->steps[3].achieved_iops, 3200);
    assert_true(s->steps[2].cut && !s->steps[2].row->kept);
    assert_in_range(s->steps[2].row->quantile_ns, 8 * MS, 81 * MS / 10);
}

static void ends_are_as_far_apart_as_they_were_seen(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search(&feed, "found");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_true(r->phases[0].has_end);
    assert_int_equal(r->phases[0].end_skew_ns, 10 * RB_NS_PER_US);
    assert_int_equal(r->phases[0].end_bound_ns, 1000 + 2000);
}

static void late_operations_are_counted_on_all_hosts(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search(&feed, "found");
    assert_int_equal(rb_step_late_ops(feed.fold, 2, 0, 5 * MS), 800);
    assert_int_equal(rb_step_late_ops(feed.fold, 2, 0, 9 * MS), 0);
    assert_int_equal(rb_step_late_ops(feed.fold, 2, 1, 5 * MS), 0); /* another job */
    assert_int_equal(rb_step_late_ops(feed.fold, 9, 0, 5 * MS), 0);
}

static void reports_tell_the_search(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search(&feed, "found");
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    static const char *const said[] = {
        "search one, job j: the highest rate at which p99.9 of response is at most 5.00 ms\n",
        "     1  closed loop        4.00k   ~8.00 ms  not kept\n",
        "     2        3.00k        3.00k   ~1.00 ms  kept\n",
        "  verdict: 3.20k IOPS keep it (step 4, ~1.00 ms)\n",
        "\n  only 6400 operations, fewer than 10 of them beyond p99.9: lengthen runtime to 4s\n",
        "3.40k        6.80k   ~8.00 ms  not kept, ended early, client_bound\n",
    };
    for (size_t i = 0; i < RB_LEN(said); i++)
        if (strstr(text, said[i]) == NULL)
            fail_msg("no '%s' in:\n%s", said[i], text);
    assert_non_null(strstr(text, "\nphase one: "));
    assert_null(strstr(strstr(text, "\nphase one: ") + 1, "\nphase one: ")); /* the best alone */
    assert_null(strstr(text, "coordinated omission")); /* an open loop is shown */
    assert_non_null(strstr(text, "  end skew 10.0 us +- 3.00 us\n"));
    static const char *const keys[] = {
        "\"best_step\": 4,",
        "\"uncertain\": true,\n   \"certain_runtime_ns\": 4000000000,",
        "\"verdict\": \"found\",",
        "\"latency_percentile\": 99.9",
        "\"rate_iops\": 3200,",
        "\"point\": {\n    \"rate_iops\": 3400\n   }",
        "\"reason\": \"out of reach\"",
        "\"step\": 3,",
    };
    for (size_t i = 0; i < RB_LEN(keys); i++)
        if (strstr(json, keys[i]) == NULL)
            fail_msg("no '%s' in:\n%s", keys[i], json);
    assert_non_null(strstr(csv, ",3,3400\n"));
}

static void said_by(const char *verdict, bool kept, const char *words)
{
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search_plan(&feed);
    feed_whole_step(&feed, (step_t){0, 0, 100, NULL, ""});
    feed_whole_step(&feed, (step_t){1, 3000, kept ? 0 : 3000, NULL, verdict});
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    if (strstr(text, words) == NULL)
        fail_msg("no '%s' in:\n%s", words, text);
}

static void every_verdict_has_its_words(void **state)
{
    (void)state;
    said_by("not_reached", false, "  not reached even at the lowest rate tried: 3.00k IOPS\n");
    said_by("ceiling", true, "all that the closed loop reached; a higher iodepth");
    said_by("coarse", true, "; the next rate that failed is more than 2 % above\n");
    said_by("no_data", false, "  a step completed no operation: nothing is known\n");
    said_by("", true, "  the search was not brought to its end\n");
}

static void refused(feed_t *feed, rb_row_t row, const char *why)
{
    rb_err_t err = {0};
    uint64_t seq = feed->seq[0];
    assert_int_equal(feed_try(feed, 0, &row, &err), -1);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, why);
    feed->seq[0] = seq;
    feed->fold->seq = seq;
}

static void steps_out_of_order_are_refused(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_search_plan(&feed);
    refused(&feed, (rb_row_t){.kind = RB_ROW_STEP, .step = {.phase = 1, .step = 1}},
            "step 1 is told when 0 are known");
    refused(&feed, (rb_row_t){.kind = RB_ROW_STEP, .step = {.plan_phase = 2, .step = 1}},
            "step 0 is of phase 2, which is not in the plan");
    refused(
        &feed,
        (rb_row_t){.kind = RB_ROW_STEP, .step = {.step = 1, .override = {(uint8_t *)"\xff", 1}}},
        "step 0");
    refused(&feed, (rb_row_t){.kind = RB_ROW_SEARCH}, "step 0, which is not over");
    feed_whole_step(&feed, (step_t){0, 0, 0, NULL, ""});
    refused(&feed, (rb_row_t){.kind = RB_ROW_SEARCH}, "step 0, which came before");
    feed_step(&feed, 1, 2, 100);
    feed_start(&feed, 1, 2);
    feed_step_end(&feed, 1, NULL);
    refused(&feed, (rb_row_t){.kind = RB_ROW_SEARCH, .search = {.phase = 1, .job = 1}},
            "job 1 is not among those of phase 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_phases_with_a_point),
        cmocka_unit_test(the_best_step_is_the_answer),
        cmocka_unit_test(ends_are_as_far_apart_as_they_were_seen),
        cmocka_unit_test(late_operations_are_counted_on_all_hosts),
        cmocka_unit_test(reports_tell_the_search),
        cmocka_unit_test(every_verdict_has_its_words),
        cmocka_unit_test(steps_out_of_order_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
