/* test_result_limits.c - whose limit it was: the CPUs of a host, Little's law, where workers ran.
 */
#include "tests/unit/report_rows.h"

#include "coordinator/report/json.h"

static void feed_cpus(feed_t *feed, uint32_t host, rb_cpu_share_t *cpus, size_t n)
{
    feed_row(feed, host,
             (rb_row_t){.kind = RB_ROW_CPU,
                        .cpu = {.wall_ns = S, .agent_ns = S / 2, .ncpus = n, .cpus = cpus}});
}

static unsigned limits_with(rb_cpu_share_t *cpus, size_t n)
{
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    feed_worker(&feed, 1, feed_worker_row());
    feed_worker(&feed, 2, feed_worker_row());
    feed_cpus(&feed, 2, cpus, n);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->hosts[0].limits, 0);
    assert_int_equal(has_mark(p, "client_bound"), p->hosts[1].limits != 0);
    return p->hosts[1].limits;
}

static void all_cpus_of_the_workers_busy_is_client_bound(void **state)
{
    (void)state;
    rb_cpu_share_t cpus[] = {{0, true, 950000, 0, 0}, {1, true, 901000, 0, 0}, {2, false, 0, 0, 0}};
    assert_int_equal(limits_with(cpus, 3), RB_LIMIT_CPUS);
    cpus[1].busy_ppm = 900000;
    assert_int_equal(limits_with(cpus, 3), 0);
    cpus[1].steal_ppm = 1000; /* nobody could have run there, either */
    assert_int_equal(limits_with(cpus, 3), RB_LIMIT_CPUS);
    cpus[2].of_workers = true; /* an idle one is left to them */
    assert_int_equal(limits_with(cpus, 3), 0);
}

static void one_cpu_full_of_softirqs_is_client_bound(void **state)
{
    (void)state;
    rb_cpu_share_t cpus[] = {{0, true, 0, 0, 0}, {7, false, 910000, 901000, 0}};
    assert_int_equal(limits_with(cpus, 2), RB_LIMIT_SOFTIRQ);
    cpus[1].softirq_ppm = 900000;
    assert_int_equal(limits_with(cpus, 2), 0);
}

static void a_busy_host_without_workers_cpus_is_not(void **state)
{
    (void)state;
    rb_cpu_share_t cpus[] = {{0, false, 1000000, 0, 0}};
    assert_int_equal(limits_with(cpus, 1), 0);
}

static void the_cpus_are_summed_up(void **state)
{
    (void)state;
    rb_cpu_share_t cpus[] = {
        {0, true, 100000, 40000, 0}, {3, true, 500000, 10000, 60000}, {4, false, 0, 50000, 0}};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_worker(&feed, 1, feed_worker_row()); /* 0.3 of a CPU */
    feed_cpus(&feed, 1, cpus, 3);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_cpu_t *c = &r->phases[0].hosts[0].cpu;
    assert_int_equal(c->ncpus, 3);
    assert_near(c->seconds, 1);
    assert_near(c->busy, 0.2);
    assert_near(c->busy_max, 0.5);
    assert_int_equal(c->busy_max_cpu, 3);
    assert_near(c->softirq_max, 0.05);
    assert_int_equal(c->softirq_max_cpu, 4);
    assert_near(c->steal, 0.02);
    assert_int_equal(c->worker_cpus, 2);
    assert_near(c->worker_busy_min, 0.1);
    assert_near(c->agent, 0.5);
    assert_near(c->others, 0.2);
}

/* n operations of 10 ms, one at a time, in a second; the longest tells where the edge is. */
static const rb_result_phase_t *little_of(feed_t *feed, rb_result_t **ret, Rackbench__Job job,
                                          size_t n, uint64_t errors)
{
    uint64_t values[200];
    for (size_t i = 0; i < n; i++)
        values[i] = 10 * MS;
    feed_begin(feed, job, 1);
    feed_window(
        feed, 1,
        (feed_window_t){.part = RB_PART_MAIN, .values_ns = values, .n = n, .errors = errors});
    feed_worker(feed, 1, feed_worker_row());
    *ret = result_of(feed);
    return &(*ret)->phases[0];
}

static void assert_little(size_t n, uint64_t errors, double little, const char *verdict)
{
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(rb_result_destroy) rb_result_t *r = NULL;
    const rb_result_phase_t *p = little_of(&feed, &r, feed_job(0, S, 0), n, errors);
    assert_true(p->has_little);
    assert_near(p->little, little);
    if (verdict == NULL)
        assert_null(p->little_verdict);
    else
        assert_string_equal(p->little_verdict, verdict);
}

static void littles_law_has_a_verdict(void **state)
{
    (void)state;
    assert_little(94, 0, 0.94, "host_bound");
    assert_little(95, 0, 0.95, "ok");
    assert_little(102, 0, 1.02, "ok"); /* the longest may reach over the borders: 10 ms of 1 s */
    assert_little(103, 0, 1.03, "measuring_fault");
    assert_little(94, 1, 0.94, NULL); /* who failed held the slot as well */
}

static void a_pause_that_is_asked_for_is_no_limit(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(rb_result_destroy) rb_result_t *r = NULL;
    Rackbench__Job job = feed_job(0, S, 0);
    job.has_thinktime_ns = true;
    job.thinktime_ns = MS;
    assert_false(little_of(&feed, &r, job, 10, 0)->has_little);
}

static void feed_places(feed_t *feed)
{
    rb_drive_ref_t drives[] = {{0, 0, (char *)"/dev/nvme0n1", 1},
                               {0, 1, (char *)"/dev/nvme1n1", 1}};
    rb_worker_place_t places[] = {
        {.drive = 0, .worker = 0, .how = RB_PLACE_AUTO, .ncpus = 1, .cpu = 4, .node = 1},
        {.drive = 0, .worker = 1, .how = RB_PLACE_AUTO, .ncpus = 1, .cpu = 6, .node = 1},
        {.drive = 0, .worker = 2, .how = RB_PLACE_AUTO, .ncpus = 1, .cpu = 8, .node = 0},
        {.drive = 1,
         .worker = 0,
         .how = RB_PLACE_ANY,
         .ncpus = 16,
         .cpu = -1,
         .node = -1,
         .drive_node = -1},
    };
    for (size_t i = 0; i < 3; i++)
        places[i].drive_node = 1;
    feed_row(feed, 1, (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {0, 2, drives}});
    feed_row(feed, 1, (rb_row_t){.kind = RB_ROW_PLACEMENT, .placement = {0, 4, places}});
}

static void places_are_told_by_drive_and_node(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_places(&feed);
    feed_reads(&feed, 1, 0, 10, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_host_t *h = &r->phases[0].hosts[0];
    assert_int_equal(h->nplaces, 3);
    assert_int_equal(h->places[0].nworkers, 2);
    assert_string_equal(h->places[0].drive, "/dev/nvme0n1");
    assert_int_equal(h->places[1].nworkers, 1);
    assert_string_equal(h->places[2].drive, "/dev/nvme1n1");
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "  workers: 1 where the scheduler puts them, 3 on a CPU each\n"));
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    char *flat = json; /* without blanks */
    for (const char *c = json; *c != '\0'; c++)
        if (*c != ' ' && *c != '\n')
            *flat++ = *c;
    *flat = '\0';
    assert_non_null(strstr(json,
                           "\"placement\":[{\"job\":\"j\",\"drive\":\"/dev/nvme0n1\",\"worker\":0,"
                           "\"workers\":2,\"how\":\"auto\",\"cpus\":1,\"cpu\":[4,6],\"node\":1,"
                           "\"drive_node\":1},{"));
    assert_non_null(strstr(json, "\"how\":\"any\",\"cpus\":16}]"));
}

static void the_text_names_the_limit(void **state)
{
    (void)state;
    rb_cpu_share_t cpus[] = {{0, true, 990000, 0, 0}, {1, true, 920000, 910000, 0}};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    feed_reads(&feed, 1, 0, 94, false);
    rb_row_worker_t w = feed_worker_row();
    w.cpu_ns = w.wall_ns;
    feed_worker(&feed, 1, w);
    feed_worker(&feed, 2, feed_worker_row());
    feed_cpus(&feed, 2, cpus, 2);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    assert_non_null(strstr(text, "  CPUs 96 % busy, CPU 0 of h02 the most: 99 %; softirqs at most "
                                 "91 % (CPU 1 of h02); steal 0.0 %\n"));
    assert_non_null(strstr(text, "  client bound: h01, a worker used over 90 % of a CPU\n"));
    assert_non_null(strstr(text, "  client bound: h02, CPU 1 in softirqs 91 %, all 2 CPUs of the "
                                 "workers over 90 % busy; rackbench\n"
                                 "              itself used 0.5 CPUs\n"));
    assert_non_null(strstr(text, "X R / N = 0.047 (host_bound)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_cpus_of_the_workers_busy_is_client_bound),
        cmocka_unit_test(one_cpu_full_of_softirqs_is_client_bound),
        cmocka_unit_test(a_busy_host_without_workers_cpus_is_not),
        cmocka_unit_test(the_cpus_are_summed_up),
        cmocka_unit_test(littles_law_has_a_verdict),
        cmocka_unit_test(a_pause_that_is_asked_for_is_no_limit),
        cmocka_unit_test(places_are_told_by_drive_and_node),
        cmocka_unit_test(the_text_names_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
