/* Measured drives among the published ones: which drive it is, its place, its rating, what bars it.
 */
#include "tests/unit/verdict_rows.h"

#include "coordinator/reference/rank_show.h"

static const uint64_t BS = 128 * RB_KIB;

static void feed_model(feed_t *feed, const char *model)
{
    Rackbench__Drive drive = RACKBENCH__DRIVE__INIT, *drives[] = {&drive};
    Rackbench__Inventory inventory = RACKBENCH__INVENTORY__INIT;
    drive.path = (char *)"/dev/nvme0n1";
    drive.model = (char *)(uintptr_t)model;
    drive.has_size_bytes = true;
    drive.size_bytes = 7680000000000;
    inventory.drives = drives;
    inventory.n_drives = 1;
    feed->fold->hosts[0].inventory = rb_inventory_copy(&inventory);
}

/* 128K reads of a drive at 64/1, n in a second; phase "one" filled it, if it is to be. */
static void feed_run_at(feed_t *feed, const char *model, size_t n, bool is_filled, uint32_t iodepth)
{
    Rackbench__Job job = feed_job(0, S, 0);
    job.has_rw = job.has_bs_bytes = true;
    job.rw = RACKBENCH__RW__MODE__read;
    job.bs_bytes = BS;
    job.iodepth = iodepth;
    feed_plan(feed, &job, 1);
    feed_host(feed, 1, "h1", NULL);
    feed_model(feed, model);
    if (is_filled) {
        Rackbench__Phase *fill = feed->fold->plan->phases[0];
        fill->fill = rb_calloc(1, sizeof(*fill->fill));
        rackbench__fill__init(fill->fill);
    }
    for (uint32_t i = is_filled ? 0 : 1; i < 2; i++) {
        fed_drive_t drive = {0, i == 0 ? RB_OP_WRITE : RB_OP_READ, i == 0 ? 10 : n, BS, 561500, 0};
        rb_row_worker_t worker = feed_worker_row();
        worker.phase = i;
        feed_paths(feed, i, 1, 1);
        feed_start(feed, i, 1);
        feed_drives(feed, i, 1, &drive, 1);
        feed_worker(feed, 1, worker);
        feed_over(feed, i, false);
    }
}

static void feed_run(feed_t *feed, const char *model, size_t n, bool is_filled)
{
    feed_run_at(feed, model, n, is_filled, 64);
}

static rb_ranking_t *ranking_of(const rb_result_t *result, const rb_reference_t *reference)
{
    rb_ranking_t *ranking = rb_ranking_new(result, reference);
    assert_int_equal(ranking->ndrives, 1);
    return ranking;
}

/* 14,238 MiB/s: between 14,242.1 of the X200P and 14,235.9 of the CD9P-R, which are two of ten. */
static void its_place_and_its_rating(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    feed_run(&feed, "KIOXIA KCD9XPJE7T68", 14238 * 8, true);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    RB_AUTO(rb_ranking_destroy) rb_ranking_t *ranking = ranking_of(r, reference);
    const rb_ranked_t *d = &ranking->drives[0];
    assert_non_null(d->known);
    assert_string_equal(d->known->id, "cd9p-r-7.68");
    assert_int_equal(d->nreasons, 0);
    assert_int_equal(d->nrows, 2); /* one point has no peak */
    const rb_rank_row_t *row = &d->rows[0];
    assert_string_equal(row->test, "seq_read_128K");
    assert_true(row->kind == RB_RANK_RATE && row->rank == 2 && row->of == 11);
    assert_string_equal(row->ahead->id, "x200p-7.68");
    assert_string_equal(row->behind->id, "cd9p-r-7.68");
    assert_near(row->ahead_value, 14242.1 * (double)RB_MIB);
    row = &d->rows[1]; /* 561.5 us: after 561.4, before 561.7 */
    assert_true(row->kind == RB_RANK_LATENCY && row->rank == 2 && row->of == 11);
    assert_string_equal(row->ahead->id, "x200p-7.68");
    assert_string_equal(row->behind->id, "cd9p-r-7.68");
    const rb_rating_t *rating = &d->ratings[0]; /* 14,800 MB/s */
    assert_true(rating->in_grid && rating->at_edge && rating->iodepth == 64);
    assert_near(rating->value / rating->rated, 14238 * 1.048576 / 14800);
    assert_false(d->ratings[1].in_grid);
}

/* 14,160 MiB/s: three are faster, the next is the PS1010 with 14,163.3; then the PS1030, 14,156.4.
 */
static void the_next_is_the_nearest(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    feed_run(&feed, "nobody", 14160 * 8, true);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    RB_AUTO(rb_ranking_destroy) rb_ranking_t *ranking = ranking_of(r, reference);
    const rb_rank_row_t *row = &ranking->drives[0].rows[0];
    assert_int_equal(row->rank, 4);
    assert_string_equal(row->ahead->id, "ps1010-7.68");
    assert_string_equal(row->behind->id, "ps1030-12.8");
    assert_null(ranking->drives[0].known);
    assert_int_equal(ranking->drives[0].nratings, 0);
}

/* At a point that nobody published there is no place; the rating still stands. */
static void only_the_same_point(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    feed_run_at(&feed, "KIOXIA KCD9XPJE7T68", 100, true, 32);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    RB_AUTO(rb_ranking_destroy) rb_ranking_t *ranking = ranking_of(r, reference);
    assert_int_equal(ranking->drives[0].nrows, 0);
    assert_int_equal(ranking->drives[0].nreasons, 0);
    assert_true(ranking->drives[0].ratings[0].in_grid);
}

static void what_bars_it(void **state)
{
    (void)state;
    static const struct {
        const char *model;
        bool is_filled;
        const char *reason;
    } cases[] = {{"KIOXIA KCD9XPJE7T68", false, "not known to be steady"},
                 {"QEMU NVMe Ctrl", true, "emulated drive"}};
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    for (size_t i = 0; i < RB_LEN(cases); i++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_run(&feed, cases[i].model, 100, cases[i].is_filled);
        RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
        RB_AUTO(rb_ranking_destroy) rb_ranking_t *ranking = ranking_of(r, reference);
        assert_int_equal(ranking->drives[0].nrows, 0);
        assert_int_equal(ranking->drives[0].nreasons, 1);
        assert_non_null(strstr(ranking->drives[0].reasons[0], cases[i].reason));
    }
}

/* What a job can be that no review has, one at a time. */
static void what_of_a_job_bars_it(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_run(&feed, "KIOXIA KCD9XPJE7T68", 100, true);
    Rackbench__Job *job = feed.fold->plan->phases[1]->jobs[0];
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *phase = &r->phases[0];
    for (int i = 0; i < 5; i++) {
        static const char *const reasons[] = {"open loop", "thinktime", "buffered",
                                              "size: not the whole drive", ""};
        job->rate_iops = i == 0;
        job->thinktime_ns = i == 1;
        job->has_direct = i == 2;
        job->size_bytes = i == 3 ? RB_GIB : 0;
        RB_AUTO(rb_free_str)
        char *words = rb_rank_reasons(r, phase, &phase->hosts[0], "/dev/nvme0n1");
        assert_string_equal(words, reasons[i]);
    }
    RB_AUTO(rb_free_str) char *loop = rb_rank_reasons(r, phase, &phase->hosts[0], "/dev/loop3");
    assert_string_equal(loop, "loop device");
    RB_AUTO(rb_free_str) char *file = rb_rank_reasons(r, phase, &phase->hosts[0], "/data/f.0");
    assert_string_equal(file, "a file, not a drive");
}

static void which_drive_it_is(void **state)
{
    (void)state;
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    const rb_reference_drive_t *d = rb_reference_of(reference, "Micron 9550 MAX", 12800000000000);
    assert_non_null(d);
    assert_string_equal(d->id, "9550max-12.8");
    assert_null(rb_reference_of(reference, "Micron 9550 MAX", 6400000000000));
    assert_null(rb_reference_of(reference, "SAMSUNG PM1743", 7680000000000));
    assert_near(rb_reference_rate(2, "kIOPS", 4096), 8192000);
    assert_near(rb_reference_rate(1, "MB/s", 0), 1e6);
    assert_near(rb_reference_rate(1, "us", 4096), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_place_and_its_rating), cmocka_unit_test(the_next_is_the_nearest),
        cmocka_unit_test(only_the_same_point),      cmocka_unit_test(what_bars_it),
        cmocka_unit_test(what_of_a_job_bars_it),    cmocka_unit_test(which_drive_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
