/* Every field of every kind of row comes back as it was. */
#include "tests/unit/sample_rows.h"

static void test_window_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_WINDOW);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    const rb_row_window_t *w = &back.window;
    assert_int_equal(w->phase, RB_MAX_PHASES - 1);
    assert_int_equal(w->part, RB_PART_DRAINED);
    assert_true(w->index == UINT64_MAX && w->span == UINT32_MAX && w->all_running);
    assert_int_equal(w->ncells, 2);
    assert_int_equal(w->cells[0].op, RB_OP_SYNC);
    assert_true(w->cells[0].oldest_inflight_ns == UINT64_MAX);
    assert_true(w->cells[1].ops == 1 && w->cells[1].bytes == 2 && w->cells[1].errors == 3);
    assert_true(w->cells[1].inflight == 4 && w->cells[1].oldest_inflight_ns == 5);
    assert_hist_equal(&w->cells[0].service, &hist);
    assert_hist_equal(&w->cells[0].response, &no_hist);
    assert_hist_equal(&w->cells[1].response, &hist);
}

/* Packing again cannot see what packing lost: here each field is compared. */
#define SAME(member)      assert_true(back.member == row.member)
#define SAME_TEXT(member) assert_string_equal(back.member, row.member)

static void test_worker_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_WORKER);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME(worker.phase);
    SAME(worker.job);
    SAME(worker.target);
    SAME(worker.drive);
    SAME(worker.worker);
    SAME(worker.first_due_at_ns);
    SAME(worker.first_submit_at_ns);
    SAME(worker.done_at_ns);
    SAME(worker.end_at_ns);
    SAME(worker.finished);
    SAME(worker.unfinished);
    SAME(worker.oldest_unfinished_ns);
    SAME(worker.cpu_ns);
    SAME(worker.wall_ns);
    SAME(worker.offered_ops);
    SAME(worker.stopped_at_ns);
    assert_hist_equal(&back.worker.turn, &hist);
    assert_hist_equal(&back.worker.lateness, &hist);
}

static void test_kernel_and_layout_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_KERNEL);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME(kernel.phase);
    SAME(kernel.target);
    SAME(kernel.drive);
    for (size_t i = 0; i < RB_LEN(row.kernel.op); i++) {
        SAME(kernel.op[i].ios);
        SAME(kernel.op[i].sectors);
    }
    row = sample_row(RB_ROW_LAYOUT);
    back = there_and_back(&row); /* a kernel row owns nothing */
    SAME(layout.phase);
    SAME(layout.target);
    SAME(layout.drive);
    SAME(layout.reused);
    SAME(layout.ops);
    SAME(layout.bytes);
    SAME(layout.took_ns);
    assert_hist_equal(&back.layout.service, &hist);
}

static void test_event_and_drives_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_EVENT);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME(event.phase);
    SAME(event.at_ns);
    SAME_TEXT(event.kind);
    SAME_TEXT(event.text);
    rb_row_clear(&back);
    row = sample_row(RB_ROW_DRIVES);
    back = there_and_back(&row);
    SAME(drives.phase);
    SAME(drives.ndrives);
    for (size_t i = 0; i < row.drives.ndrives; i++) {
        SAME(drives.drives[i].target);
        SAME(drives.drives[i].drive);
        SAME_TEXT(drives.drives[i].path);
        SAME(drives.drives[i].size_bytes);
    }
}

static void test_run_and_host_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_RUN);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME_TEXT(run.id);
    SAME_TEXT(run.name);
    SAME_TEXT(run.version);
    SAME(run.started_wall_ns);
    rb_row_clear(&back);
    row = sample_row(RB_ROW_REACH);
    back = there_and_back(&row);
    SAME(reach.host);
    SAME_TEXT(reach.name);
    SAME_TEXT(reach.address);
    SAME_TEXT(reach.key);
    SAME_TEXT(reach.listen);
    SAME(reach.nlabels);
    SAME_TEXT(reach.labels[1]);
    rb_row_clear(&back);
    row = sample_row(RB_ROW_HOST);
    back = there_and_back(&row);
    SAME(host.host);
    SAME_TEXT(host.name);
    SAME(host.inventory.size);
    SAME(host.inventory.data[0]);
    SAME(host.nlabels);
    SAME_TEXT(host.labels[0]);
}

static void test_clock_and_phase_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_CLOCK);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME(clock.host);
    SAME(clock.at_ns);
    SAME(clock.offset_ns);
    SAME(clock.bound_ns);
    SAME(clock.rtt_ns);
    SAME(clock.drift_ppb);
    row = sample_row(RB_ROW_PHASE_START);
    back = there_and_back(&row); /* a clock row owns nothing */
    SAME(phase_start.t0_ns);
    SAME(phase_start.t0_wall_ns);
    SAME(phase_start.nhosts);
    SAME(phase_start.hosts[1]);
    SAME(phase_start.bounds_ns[1]);
    rb_row_clear(&back);
    row = sample_row(RB_ROW_PHASE_END);
    back = there_and_back(&row);
    SAME(phase_end.phase);
    SAME(phase_end.te_at_ns);
    SAME(phase_end.truncated);
    SAME(phase_end.nlost);
    SAME(phase_end.lost[1]);
}

static void test_note_and_run_end_values(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_NOTE);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    SAME(note.host);
    SAME(note.phase);
    SAME(note.at_ns);
    SAME_TEXT(note.kind);
    SAME_TEXT(note.text);
    rb_row_clear(&back);
    row = sample_row(RB_ROW_RUN_END);
    back = there_and_back(&row);
    SAME_TEXT(run_end.status);
    SAME(run_end.exit_code);
    SAME(run_end.at_ns);
    SAME_TEXT(run_end.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_values),
        cmocka_unit_test(test_worker_values),
        cmocka_unit_test(test_kernel_and_layout_values),
        cmocka_unit_test(test_event_and_drives_values),
        cmocka_unit_test(test_run_and_host_values),
        cmocka_unit_test(test_clock_and_phase_values),
        cmocka_unit_test(test_note_and_run_end_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
