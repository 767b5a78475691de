/* Verdicts in the result and its reports: curves of a sweep, drives that are not like their peers.
 */
#include "tests/unit/report_rows.h"
#include "tests/unit/verdict_rows.h"

#include "coordinator/report/json.h"

/* Two hosts, a drive each, iodepth 1 and then 8. */
static void feed_sweep(feed_t *feed, bool is_busy, bool is_cut)
{
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(feed, &job, 1);
    feed_host(feed, 1, "h1", NULL);
    feed_host(feed, 2, "h2", NULL);
    for (uint32_t i = 0; i < 2; i++) {
        feed_point_key(feed, i, "iodepth", i == 0 ? "1" : "8");
        feed->fold->plan->phases[i]->jobs[0]->iodepth = i == 0 ? 1 : 8;
        feed_paths(feed, i, 1, 1);
        feed_paths(feed, i, 2, 1);
        feed_start(feed, i, 2);
        for (uint32_t host = 1; host <= 2; host++) {
            fed_drive_t drive = {0, RB_OP_READ, (i == 0 ? 990 : 2000) * host, 4096, MS, 0};
            feed_drives(feed, i, host, &drive, 1);
            rb_row_worker_t worker = feed_worker_row();
            worker.phase = i;
            worker.cpu_ns = is_busy && i == 1 && host == 1 ? 10 : 3;
            feed_worker(feed, host, worker);
        }
        feed_over(feed, i, is_cut && i == 1);
    }
}

static const rb_result_curve_t *curve_of(const rb_result_t *r, const char *host, bool of_drive)
{
    for (size_t i = 0; i < r->sweeps[0].ncurves; i++) {
        const rb_result_curve_t *c = &r->sweeps[0].curves[i];
        bool is_host = host == NULL ? c->host == NULL : c->host && strcmp(c->host, host) == 0;
        if (is_host && (c->drive != NULL) == of_drive)
            return c;
    }
    fail_msg("no curve of %s", host != NULL ? host : "the cluster");
    return NULL;
}

static void curves_of_cluster_hosts_and_drives(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed, false, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nsweeps, 1);
    assert_int_equal(r->sweeps[0].ncurves, 5);
    const rb_result_curve_t *c = curve_of(r, NULL, false);
    assert_int_equal(c->npoints, 2);
    assert_true(c->points[1].iodepth == 8 && c->points[1].numjobs == 1);
    assert_near(c->points[1].rate, 6000 * 4096.0);
    assert_true(c->verdict.peak == 1 && c->verdict.knee == 1 && c->verdict.qd1 == 0);
    c = curve_of(r, "h2", true);
    assert_string_equal(c->drive, "/dev/nvme0n1");
    assert_near(c->points[1].rate, 4000 * 4096.0);
    assert_near(c->points[0].mean_ns, (double)MS);
    assert_near(c->little[0], 1.98); /* 1980 operations of 1 ms in a slot: as fed, no real drive */
    assert_near(curve_of(r, "h1", true)->little[1], 2000 * 0.001 / 8);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(
        strstr(text, "    peak     23.4 MiB/s, 6.00k IOPS at iodepth 8, numjobs 1: mean"));
    assert_non_null(strstr(text, "X R / N from 0.375 to 1.485; below 0.95 (host_bound) at 1 of 2"));
    assert_non_null(strstr(text, "peaks from 7.8 MiB/s (/dev/nvme0n1 on h1) to 15.6 MiB/s"));
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"scope\": \"drive\""));
    assert_non_null(strstr(json, "\"peak\": 1,\n     \"knee\": 1,\n     \"qd1\": 0,"));
}

/* Host 1 was the limit of the second point, for itself and for the cluster, not for host 2. */
static void client_bound_is_barred_where_it_was(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed, true, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(curve_of(r, NULL, false)->verdict.peak, 0);
    assert_int_equal(curve_of(r, "h1", true)->verdict.peak, 0);
    assert_int_equal(curve_of(r, "h2", true)->verdict.peak, 1);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "barred   1 of 2 points: client_bound"));
}

/* 20 s of a point, the last at half the rate: 19 of 20 values are alike. */
static void how_even_it_was(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, 20 * S, 0);
    feed_plan(&feed, &job, 1);
    feed_host(&feed, 1, "h1", NULL);
    feed_point_key(&feed, 0, "numjobs", "1");
    feed_start(&feed, 0, 1);
    for (uint64_t k = 0; k < 20; k++)
        feed_reads(&feed, 1, k, k < 19 ? 100 : 50, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_over(&feed, 0, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_curve_t *c = curve_of(r, NULL, false);
    assert_int_equal(c->even[0].n, 20);
    assert_near(c->even[0].weak, 1 / 20.0);
    assert_near(c->even[0].low, 50 / 97.5);
    /* Means of 10 batches: 9 x 100 and 75. */
    assert_near(c->points[0].half_width, 2.262 * 25 / 10 * 4096);
    assert_int_equal(curve_of(r, "h1", false)->even[0].n, 20);
    assert_int_equal(curve_of(r, "h1", true)->even[0].n, 0);
}

static void a_point_cut_short_is_none(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed, false, true);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(curve_of(r, NULL, false)->npoints, 1);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_null(strstr(text, "what it shows"));
}

/* What fewer hosts did stands beside nothing of the cluster's. */
static void a_point_of_fewer_hosts_is_none(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_sweep(&feed, false, false);
    feed.fold->phases[1].members[1].lost = true;
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(curve_of(r, NULL, false)->npoints, 1);
    assert_int_equal(curve_of(r, "h1", false)->npoints, 2);
}

/* Two hosts of three drives: drive 2 of host 2 does half, and most of the late operations are its.
 */
static void feed_six(feed_t *feed, uint32_t target_of_last)
{
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(feed, &job, 1);
    feed_host(feed, 1, "node06", NULL);
    feed_host(feed, 2, "node07", NULL);
    feed_start(feed, 0, 2);
    for (uint32_t host = 1; host <= 2; host++) {
        fed_drive_t drives[3];
        feed_paths(feed, 0, host, 3);
        for (uint32_t d = 0; d < 3; d++)
            drives[d] = (fed_drive_t){d, RB_OP_READ, 4000 + 10 * d, 4096, MS, 3};
        if (host == 2)
            drives[2] =
                (fed_drive_t){2, target_of_last ? RB_OP_WRITE : RB_OP_READ, 2000, 4096, MS, 20};
        feed_drives(feed, 0, host, drives, 3);
        feed_worker(feed, host, feed_worker_row());
    }
    feed_over(feed, 0, false);
}

static void the_slow_drive_is_named(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_six(&feed, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].nstragglers, 1);
    const rb_result_straggler_t *s = &r->phases[0].stragglers[0];
    assert_string_equal(s->host, "node07");
    assert_string_equal(s->drive, "/dev/nvme2n1");
    assert_int_equal(s->npeers, 6);
    assert_true(s->verdict.bits & 1u << RB_BY_THROUGHPUT);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(
        strstr(text, "  straggler: /dev/nvme2n1 on node07, read: 7.8 MiB/s, 50.1 % below"));
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"stragglers\": [\n    {\n     \"host\": \"node07\""));
}

/* 28 of 25,000 operations took ten times as long: p99.9 lies among the 16 of the others, and beyond
 * it are the 12 of drive 3 alone, whose all take 2 % longer, and no more. */
static void its_share_of_the_tail(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(&feed, &job, 1);
    feed_host(&feed, 1, "node07", NULL);
    feed_start(&feed, 0, 1);
    feed_paths(&feed, 0, 1, 5);
    fed_drive_t drives[5];
    for (uint32_t d = 0; d < 5; d++)
        drives[d] = (fed_drive_t){d, RB_OP_READ, 5000, 4096, MS, 4};
    drives[3] = (fed_drive_t){3, RB_OP_READ, 5000, 4096, MS + MS / 50, 12};
    feed_drives(&feed, 0, 1, drives, 5);
    feed_worker(&feed, 1, feed_worker_row());
    feed_over(&feed, 0, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].nstragglers, 1);
    const rb_result_straggler_t *s = &r->phases[0].stragglers[0];
    assert_string_equal(s->drive, "/dev/nvme3n1");
    assert_int_equal(s->verdict.bits, 1u << RB_BY_TAIL);
    assert_near(s->verdict.tail_share, 1);
}

/* A drive that writes is no peer of five that read. */
static void peers_do_the_same(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_six(&feed, 1);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].nstragglers, 0);
}

/* The slow drive of node07 is larger than the others. */
static void peers_are_of_one_size(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_six(&feed, 0);
    feed.fold->phases[0].members[1].drives[2].size_bytes *= 2;
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].nstragglers, 0);
}

/* ... or of another target. */
static void peers_are_of_one_target(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_six(&feed, 0);
    rb_member_t *m = &feed.fold->phases[0].members[1];
    Rackbench__Plan *plan = feed.fold->plan;
    plan->targets = realloc(plan->targets, 2 * sizeof(*plan->targets));
    plan->targets[1] = rb_calloc(1, sizeof(*plan->targets[1]));
    rackbench__target__init(plan->targets[1]);
    plan->targets[1]->name = rb_strdup("t");
    plan->n_targets = 2;
    m->drives[2].target = 1;
    for (size_t i = 0; i < m->ntotals; i++)
        m->totals[i].target = m->totals[i].drive == 2;
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].nstragglers, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_of_cluster_hosts_and_drives),
        cmocka_unit_test(client_bound_is_barred_where_it_was),
        cmocka_unit_test(how_even_it_was),
        cmocka_unit_test(a_point_cut_short_is_none),
        cmocka_unit_test(a_point_of_fewer_hosts_is_none),
        cmocka_unit_test(the_slow_drive_is_named),
        cmocka_unit_test(its_share_of_the_tail),
        cmocka_unit_test(peers_do_the_same),
        cmocka_unit_test(peers_are_of_one_size),
        cmocka_unit_test(peers_are_of_one_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
