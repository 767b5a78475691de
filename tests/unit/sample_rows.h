/* sample_rows.h - one row of every kind at its limits, for the tests of proto/sample. */
#pragma once

#include "proto/sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static rb_hist_pair_t pairs[] = {{0, 1}, {7, 2}, {RB_HIST_BUCKETS - 1, UINT64_MAX - 3}};
static const rb_hist_sparse_t hist = {UINT64_MAX, 0, UINT64_MAX, 5, 3, pairs};
static const rb_hist_sparse_t no_hist = {.min = UINT64_MAX};
static char *strings[] = {(char *)"generation=gen15", (char *)""};

static rb_cell_t cells[] = {
    {RB_MAX_JOBS - 1,
     RB_MAX_TARGETS - 1,
     RB_MAX_DRIVES - 1,
     RB_OP_SYNC,
     UINT64_MAX,
     UINT64_MAX,
     UINT64_MAX,
     UINT64_MAX,
     UINT64_MAX,
     {0},
     {0}},
    {0, 0, 0, RB_OP_READ, 1, 2, 3, 4, 5, {0}, {0}},
};
static rb_drive_ref_t refs[] = {
    {RB_MAX_TARGETS - 1, RB_MAX_DRIVES - 1, (char *)"/dev/nvme0n1", UINT64_MAX},
    {0, 1, (char *)"/data/rackbench.h.s.0", 0},
};
static rb_cpu_share_t cpus[] = {{1023, true, 1000000, 1000000, 1000000}, {0, false, 0, 0, 1}};
static rb_worker_place_t places[] = {
    {RB_MAX_JOBS - 1, RB_MAX_TARGETS - 1, RB_MAX_DRIVES - 1, RB_MAX_WORKERS - 1, RB_PLACE_SPLIT, 1,
     1023, 4095, 4095},
    {0, 0, 0, 0, RB_PLACE_ANY, 1024, -1, -1, -1},
};
static rb_disk_place_t disk_places[] = {{RB_MAX_TARGETS - 1, RB_MAX_DRIVES - 1}, {0, 1}};
static rb_health_drive_t drives[] = {
    {(char *)"/dev/nvme0n1",
     (char *)"S1",
     (char *)"",
     2,
     disk_places,
     16000,
     4,
     UINT32_MAX,
     16,
     {40, -273, RB_HEALTH_UNKNOWN, INT64_MAX, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
      19, 20}},
    {.path = (char *)"/dev/sda", .serial = (char *)""},
};
static uint32_t hosts[] = {1, RB_MAX_HOSTS};
static rb_watts_reading_t readings[] = {{RB_MAX_HOSTS, RB_SCOPE_PDU, UINT64_MAX, UINT64_MAX},
                                        {0, RB_SCOPE_PACKAGE, 1, 0}};
static uint64_t bounds[] = {0, UINT64_MAX};

static rb_kv_row_part_t kv_parts[] = {{0, RB_PART_MAIN, false, -7, -1, 0, 1, 2, 3, 4, 5, 6},
                                      {UINT32_MAX - 1, RB_PART_DRAINED, true, 5, INT64_MAX,
                                       INT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, RB_MAX_HOSTS,
                                       UINT32_MAX, UINT32_MAX}};

/* One row of every kind; what it points to is static. */
static const rb_row_kind_t kinds[] = {
    RB_ROW_WINDOW,   RB_ROW_WORKER,  RB_ROW_KERNEL,    RB_ROW_EVENT,  RB_ROW_DRIVES,
    RB_ROW_LAYOUT,   RB_ROW_RUN,     RB_ROW_HOST,      RB_ROW_CLOCK,  RB_ROW_PHASE_START,
    RB_ROW_NOTE,     RB_ROW_RUN_END, RB_ROW_PHASE_END, RB_ROW_CPU,    RB_ROW_PLACEMENT,
    RB_ROW_STEP,     RB_ROW_SEARCH,  RB_ROW_REACH,     RB_ROW_HEALTH, RB_ROW_WATTS,
    RB_ROW_KV_PARTS, RB_ROW_KV_DRIVE};

static void fill_agent_row(rb_row_t *row)
{
    enum { LAST = RB_MAX_PHASES - 1, T = RB_MAX_TARGETS - 1, D = RB_MAX_DRIVES - 1 };
    if (row->kind == RB_ROW_WINDOW) {
        cells[0].service = hist;
        cells[0].response = no_hist;
        cells[1].service = no_hist;
        cells[1].response = hist;
        row->window =
            (rb_row_window_t){LAST, RB_PART_DRAINED, UINT64_MAX, UINT32_MAX, true, 2, cells};
    } else if (row->kind == RB_ROW_WORKER) {
        row->worker = (rb_row_worker_t){LAST,
                                        RB_MAX_JOBS - 1,
                                        T,
                                        D,
                                        RB_MAX_WORKERS - 1,
                                        -1,
                                        INT64_MIN,
                                        INT64_MAX,
                                        -129,
                                        true,
                                        UINT64_MAX,
                                        UINT64_MAX,
                                        11,
                                        12,
                                        UINT64_MAX,
                                        hist,
                                        hist,
                                        INT64_MIN + 1};
    } else if (row->kind == RB_ROW_KERNEL) {
        row->kernel = (rb_row_kernel_t){LAST, T, D, {{1, UINT64_MAX}, {UINT64_MAX, 2}, {3, 4}}};
    } else if (row->kind == RB_ROW_EVENT) {
        row->event = (rb_row_event_t){-1, INT64_MIN, (char *)"io_error", (char *)"read: failed"};
    } else if (row->kind == RB_ROW_DRIVES) {
        row->drives = (rb_row_drives_t){LAST, 2, refs};
    } else if (row->kind == RB_ROW_LAYOUT) {
        row->layout = (rb_row_layout_t){LAST, T, D, true, UINT64_MAX, UINT64_MAX, 77, hist};
    } else if (row->kind == RB_ROW_CPU) {
        row->cpu = (rb_row_cpu_t){LAST, UINT64_MAX, UINT64_MAX, 2, cpus};
    } else if (row->kind == RB_ROW_PLACEMENT) {
        row->placement = (rb_row_placement_t){LAST, 2, places};
    } else if (row->kind == RB_ROW_HEALTH) {
        row->health = (rb_row_health_t){LAST, RB_HEALTH_END, INT64_MIN, UINT64_MAX,
                                        2,    drives,        3400,      RB_HEALTH_UNKNOWN};
    } else if (row->kind == RB_ROW_KV_PARTS) {
        row->kv_parts = (rb_row_kv_parts_t){LAST, RB_MAX_JOBS - 1, T, D, 2, kv_parts};
    } else if (row->kind == RB_ROW_KV_DRIVE) {
        row->kv_drive = (rb_row_kv_drive_t){LAST,
                                            RB_MAX_JOBS - 1,
                                            T,
                                            D,
                                            1,
                                            2,
                                            3,
                                            4,
                                            5,
                                            6,
                                            7,
                                            UINT64_MAX,
                                            {1, 2, 3, 4, 5, 6, 7},
                                            {7, 6, 5, 4, 3, 2, UINT64_MAX},
                                            8,
                                            9};
    }
}

static void fill_own_row(rb_row_t *row)
{
    if (row->kind == RB_ROW_RUN)
        row->run = (rb_row_run_t){(char *)"k3f9", (char *)"demo",           (char *)"0.1.0",
                                  UINT64_MAX,     {(uint8_t *)"\0\xff", 2}, 2,
                                  strings};
    else if (row->kind == RB_ROW_HOST)
        row->host =
            (rb_row_host_t){RB_MAX_HOSTS, (char *)"db07:7412", {(uint8_t *)"x", 1}, 2, strings};
    else if (row->kind == RB_ROW_CLOCK)
        row->clock = (rb_row_clock_t){1, UINT64_MAX, INT64_MIN, UINT64_MAX, UINT64_MAX, INT64_MAX};
    else if (row->kind == RB_ROW_PHASE_START)
        row->phase_start = (rb_row_phase_start_t){0, UINT64_MAX, 1, 2, hosts, bounds};
    else if (row->kind == RB_ROW_PHASE_END)
        row->phase_end = (rb_row_phase_end_t){RB_MAX_PHASES - 1,     INT64_MAX, true, 2, hosts,
                                              (char *)"out of reach"};
    else if (row->kind == RB_ROW_NOTE)
        row->note = (rb_row_note_t){RB_MAX_HOSTS, -1, UINT64_MAX - 1, (char *)"lost", (char *)"t"};
    else if (row->kind == RB_ROW_STEP)
        row->step = (rb_row_step_t){
            RB_MAX_PHASES - 1, RB_MAX_PHASES - 1, RB_MAX_PHASES, {(uint8_t *)"\0\xff", 2}};
    else if (row->kind == RB_ROW_SEARCH)
        row->search = (rb_row_search_t){
            RB_MAX_PHASES - 1, RB_MAX_JOBS - 1, UINT64_MAX, 1, 2, 3, UINT64_MAX - 1, true, true,
            (char *)"x"};
    else if (row->kind == RB_ROW_REACH)
        row->reach =
            (rb_row_reach_t){RB_MAX_HOSTS,   (char *)"db07:7412",    (char *)"10.0.0.7:7412",
                             (char *)"a1b2", (char *)"tcp://*:7410", 2,
                             strings};
    else if (row->kind == RB_ROW_WATTS)
        row->watts = (rb_row_watts_t){2, readings};
    else if (row->kind == RB_ROW_RUN_END)
        row->run_end = (rb_row_run_end_t){(char *)"done", 130, UINT64_MAX, (char *)""};
}

static rb_row_t sample_row(rb_row_kind_t kind)
{
    rb_row_t row = {.kind = kind, .seq = UINT64_MAX};
    fill_agent_row(&row);
    fill_own_row(&row);
    return row;
}

static rb_row_t there_and_back(const rb_row_t *row)
{
    rb_row_t back;
    rb_err_t err = {0};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_row_pack(row);
    if (rb_row_unpack(b.data, b.size, &back, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(back.kind, row->kind);
    assert_true(back.seq == row->seq);
    return back;
}

static void assert_hist_equal(const rb_hist_sparse_t *a, const rb_hist_sparse_t *b)
{
    assert_true(a->count == b->count && a->min == b->min && a->max == b->max && a->sum == b->sum);
    assert_int_equal(a->npairs, b->npairs);
    for (size_t i = 0; i < a->npairs; i++) {
        assert_int_equal(a->pairs[i].index, b->pairs[i].index);
        assert_true(a->pairs[i].count == b->pairs[i].count);
    }
}
