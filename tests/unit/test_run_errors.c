/* test_run_errors.c - stop_when: {errors: N}: errors of all hosts end phase and run. */
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

static void window(fixture_t *f, uint32_t host, uint64_t seq, uint64_t errors)
{
    rb_cell_t cell = {.ops = 1, .errors = errors};
    rb_row_t row = {.kind = RB_ROW_WINDOW,
                    .seq = seq,
                    .window = {.part = RB_PART_MAIN, .span = 1, .ncells = 1, .cells = &cell}};
    rb_bytes_t bytes = rb_row_pack(&row);
    step(f, (rb_run_event_t){
                .kind = RB_RUN_ROW, .host = host, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}

static fixture_t *running(Rackbench__StopWhen *stop)
{
    fixture_t *f = fixture_new();
    rackbench__stop_when__init(stop);
    stop->errors = 5;
    f->phase.stop_when = stop;
    reach_run(f);
    return f;
}

static void test_of_all_hosts(void **state)
{
    (void)state;
    Rackbench__StopWhen stop;
    RB_AUTO(fixture_destroy) fixture_t *f = running(&stop);
    window(f, 1, 1, 2);
    window(f, 2, 1, 2);
    window(f, 2, 1, 2); /* sent again: counted once */
    expect(f, "");
    window(f, 1, 2, 1);
    expect(f, "Stop1 Stop2 ");
    window(f, 1, 3, 9); /* said once */
    size_t notes = f->rows[RB_ROW_NOTE];
    drained(f, 1, 3);
    drained(f, 2, 1);
    expect(f, "Bye1 Bye2 ");
    assert_int_equal(f->rows[RB_ROW_NOTE], notes);
    expect_end(f, "failed", RB_ERR_IO,
               "phase p: 5 I/O errors on all hosts together, the last ones on agent h1, and "
               "stop_when ends the run at 5");
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
}

static void test_too_few(void **state)
{
    (void)state;
    Rackbench__StopWhen stop;
    RB_AUTO(fixture_destroy) fixture_t *f = running(&stop);
    window(f, 1, 1, 4);
    f->now_ns += 12 * RB_NS_PER_S;
    drained(f, 1, 1);
    drained(f, 2, 0);
    expect_end(f, "done", RB_OK, "");
}

static void test_no_limit(void **state)
{
    (void)state;
    Rackbench__StopWhen stop;
    RB_AUTO(fixture_destroy) fixture_t *f = running(&stop);
    stop.errors = 0;
    window(f, 1, 1, 1000);
    expect(f, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_all_hosts),
        cmocka_unit_test(test_too_few),
        cmocka_unit_test(test_no_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
