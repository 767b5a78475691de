/* Sweeps in the result: points with their figures, what lies between them, and the reports. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/csv.h"
#include "coordinator/report/json.h"

/* Phases "one" of two points, then "two", which is none. The second point is cut short and run
 * again: steps 0, 1 and 2 of the run. */
static void feed_sweep_plan(feed_t *feed)
{
    Rackbench__Job job = feed_job(0, 2 * S, 0);
    feed_plan(feed, &job, 1);
    Rackbench__Plan *plan = feed->fold->plan;
    Rackbench__Phase *last = plan->phases[1];
    plan->phases = realloc(plan->phases, 3 * sizeof(*plan->phases));
    plan->phases[plan->n_phases++] = last;
    plan->phases[1] = rb_phase_copy(plan->phases[0]);
    for (uint32_t i = 0; i < 2; i++) {
        static const char *const names[] = {"bs", "rw"}, *const values[2][2] = {{"4k", "randread"},
                                                                                {"64k", "read"}};
        Rackbench__Point *point = rb_calloc(1, sizeof(*point));
        rackbench__point__init(point);
        plan->phases[i]->point = point;
        point->has_number = point->has_of = true;
        point->number = i + 1;
        point->of = 2;
        for (size_t k = 0; k < RB_LEN(names); k++) {
            Rackbench__Label *label = rb_calloc(1, sizeof(*label));
            rackbench__label__init(label);
            label->name = rb_strdup(names[k]);
            label->value = rb_strdup(values[i][k]);
            *RB_PUSH(point->values, point->n_values) = label;
        }
    }
    feed_host(feed, 1, "h1", NULL);
}

static void feed_point(feed_t *feed, uint32_t phase, rb_op_t op, size_t n, int64_t te_at_ns)
{
    uint64_t *values = rb_calloc(n, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] = MS;
    rb_cell_t cell = {.op = op,
                      .ops = n,
                      .bytes = n * 4096,
                      .service = sparse_of(values, n),
                      .response = sparse_of(values, n)};
    free(values);
    feed_start(feed, phase, 1); /* 100 s behind the one before */
    rb_row_t row = {.kind = RB_ROW_WINDOW};
    row.window = (rb_row_window_t){
        .phase = phase, .part = RB_PART_MAIN, .span = 1, .all_running = true, .ncells = 1};
    row.window.cells = &cell;
    feed_row(feed, 1, row);
    rb_hist_sparse_clear(&cell.service);
    rb_hist_sparse_clear(&cell.response);
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_END,
                        .phase_end = {.phase = phase,
                                      .te_at_ns = te_at_ns,
                                      .truncated = te_at_ns != INT64_MAX}});
}

static void feed_again(feed_t *feed, uint32_t phase, uint32_t plan_phase, uint32_t step)
{
    rb_bytes_t bytes = rb_phase_pack(feed->fold->plan->phases[plan_phase]);
    feed_row(feed, 0, (rb_row_t){.kind = RB_ROW_STEP, .step = {phase, plan_phase, step, bytes}});
    rb_bytes_clear(&bytes);
}

static void feed_sweep(feed_t *feed)
{
    feed_sweep_plan(feed);
    feed_point(feed, 0, RB_OP_WRITE, 500, INT64_MAX);
    feed_point(feed, 1, RB_OP_READ, 1000, S);
    feed_again(feed, 2, 1, 2);
    feed_point(feed, 2, RB_OP_READ, 4000, INT64_MAX);
    feed_again(feed, 3, 2, 1);
    feed_point(feed, 3, RB_OP_READ, 50, INT64_MAX);
}

static void points_are_phases(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nphases, 4);
    assert_int_equal(r->nsweeps, 1);
    assert_true(r->sweeps[0].first == 0 && r->sweeps[0].count == 3 && r->sweeps[0].of == 2 &&
                r->sweeps[0].reached == 2);
    const rb_result_phase_t *p = &r->phases[2];
    assert_int_equal(p->npoint, 2);
    assert_true(p->point[0].is_number && p->point[0].number == 65536);
    assert_string_equal(p->point[0].text, "64k");
    assert_false(p->point[1].is_number);
    assert_string_equal(p->point[1].text, "read");
    assert_true(has_mark(&r->phases[1], "truncated") && !has_mark(p, "truncated"));
    assert_int_equal(r->phases[3].npoint, 0);
    assert_int_equal(p->step, 0); /* that is of searches */
}

/* From the end of M to T0, and all writes until then. */
static void what_lies_between(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_false(r->phases[0].has_idle);
    assert_int_equal(r->phases[1].idle_before_ns, 98 * S);
    assert_int_equal(r->phases[2].idle_before_ns, 99 * S); /* the one before was cut at 1 s */
    assert_int_equal(r->phases[0].written_before_bytes, 0);
    assert_int_equal(r->phases[1].written_before_bytes, 500 * 4096);
    assert_int_equal(r->phases[3].written_before_bytes, 500 * 4096);
}

static void one_table(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "sweep one: 2 of 2 points, from "));
    assert_non_null(strstr(text, "   4k randread  write       250       1.0  1.00 ms ~1.00 ms\n"));
    assert_non_null(
        strstr(text, "  64k     read  read      1.00k       3.9  1.00 ms  1.00 ms  truncated\n"));
    assert_non_null(strstr(text, "  64k     read  read      2.00k       7.8  1.00 ms  1.00 ms\n"));
    assert_non_null(strstr(text, "idle between points: at most 99.0 s"));
    assert_null(strstr(text, "phase one"));
    assert_non_null(strstr(text, "phase two"));
    assert_non_null(strstr(text, "closed loop: response not free"));
}

static void json_and_csv(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"point\": {\n    \"bs\": 65536,\n    \"rw\": \"read\"\n"));
    assert_non_null(strstr(json, "\"idle_before_ns\": 98000000000"));
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    assert_non_null(strstr(csv, ",step,point_bs,point_rw\n"));
    assert_non_null(strstr(csv, ",0,65536,read\n"));
    assert_non_null(strstr(csv, ",0,,\n")); /* of phase two */
}

/* What was not run of a sweep is said once. */
static void points_not_run(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep_plan(&feed);
    feed_point(&feed, 0, RB_OP_WRITE, 500, INT64_MAX);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nnot_run, 2);
    assert_string_equal(r->not_run[0], "one (1 of 2 points)");
    assert_string_equal(r->not_run[1], "two");
}

/* A fill between two points does not make two sweeps of one. */
static void a_fill_between_points(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep_plan(&feed);
    Rackbench__Plan *plan = feed.fold->plan;
    Rackbench__Phase *fill = rb_phase_copy(plan->phases[2]);
    fill->fill = rb_calloc(1, sizeof(*fill->fill));
    rackbench__fill__init(fill->fill);
    plan->phases = realloc(plan->phases, 4 * sizeof(*plan->phases));
    memmove(&plan->phases[2], &plan->phases[1], 2 * sizeof(*plan->phases));
    plan->phases[1] = fill;
    plan->n_phases = 4;
    feed_point(&feed, 0, RB_OP_READ, 500, INT64_MAX);
    {
        RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
        assert_string_equal(r->not_run[0], "one (1 of 2 points)");
        assert_int_equal(r->nnot_run, 2);
    }
    feed_point(&feed, 1, RB_OP_WRITE, 500, INT64_MAX);
    feed_point(&feed, 2, RB_OP_READ, 500, INT64_MAX);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nsweeps, 1);
    assert_true(r->sweeps[0].count == 2 && r->nphases == 2 && r->nprepares == 1);
    assert_int_equal(r->nnot_run, 1);
}

/* A fill is no phase of the result, but stands beside the layouts; its writes and its end count. */
static void fills_are_prepared(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep_plan(&feed);
    Rackbench__Phase *first = feed.fold->plan->phases[0];
    first->fill = rb_calloc(1, sizeof(*first->fill));
    rackbench__fill__init(first->fill);
    first->fill->passes = 3;
    feed_point(&feed, 0, RB_OP_WRITE, 500, INT64_MAX);
    feed_point(&feed, 1, RB_OP_READ, 1000, INT64_MAX);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nprepares, 1);
    assert_int_equal(r->nphases, 1);
    assert_true(r->prepares[0].passes == 3 && !r->prepares[0].discards);
    assert_int_equal(r->phases[0].written_before_bytes, 500 * 4096);
    assert_true(r->phases[0].has_idle && r->phases[0].idle_before_ns == 98 * S);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"kind\": \"fill\""));
    assert_non_null(strstr(json, "\"passes\": 3"));
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "filled for one: 3 passes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_phases),
        cmocka_unit_test(what_lies_between),
        cmocka_unit_test(one_table),
        cmocka_unit_test(json_and_csv),
        cmocka_unit_test(a_fill_between_points),
        cmocka_unit_test(points_not_run),
        cmocka_unit_test(fills_are_prepared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
