/* test_job_words.c - the sentence that says what a job was, from plans as they are written. */
#include "tests/unit/plan_fixture.h"
#include "tests/unit/report_rows.h"

#include "coordinator/job_words.h"
#include "coordinator/report/json.h"

static void says(const char *plan_text, const char *words)
{
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(plan_text);
    RB_AUTO(rb_free_str) char *text = rb_job_words(plan->phases[0]->jobs[0], "s");
    assert_string_equal(text, words);
}

static void a_job_is_told_with_its_defaults(void **state)
{
    (void)state;
    says(JOB("runtime: 9s"), "read 4 KiB, iodepth 1, io_uring direct, closed loop, on s");
    says(JOB("rw: randread, runtime: 9s, bs: 16k, iodepth: 16, numjobs: 2, rate_iops: 500, "
             "random_distribution: 'zipf:1.2'"),
         "randread 16 KiB, iodepth 16 x 2, io_uring direct, zipf:1.2, 500 IOPS per worker in an "
         "open loop, on s");
}

static void what_is_not_usual_is_told(void **state)
{
    (void)state;
    says(JOB("rw: randrw, rwmixread: 70, runtime: 9s, bssplit: 4k/60:64k/40, direct: false, "
             "ioengine: sync, fsync: 8, size: 1MiB"),
         "randrw 4k/60:64k/40, 70 % reads, in a region of 1 MiB, iodepth 1, sync buffered (the "
         "page cache answers too), fsync after 8, closed loop, on s");
    says(JOB("rw: write, runtime: 9s, numjobs: 4, seq_layout: shared, rate: 8MiB, "
             "rate_scope: cluster, rate_process: poisson, sync: dsync"),
         "write 4 KiB, iodepth 1 x 4, io_uring direct, seq_layout shared, sync dsync, 8 MiB/s of "
         "the cluster in an open loop (poisson), on s");
    says(
        JOB("size_percent: 20, loops: 3, start_delay: 5s"),
        "read 4 KiB, in a region of 20 %, 3 loops, iodepth 1, io_uring direct, 5s after the start, "
        "closed loop, on s");
    says(JOB("rw: randread, norandommap: false, runtime: 9s, thinktime: 2ms"),
         "randread 4 KiB, iodepth 1, io_uring direct, each block once, closed loop with thinktime "
         "2ms, on s");
}

static void a_kv_cache_is_told_by_its_trace(void **state)
{
    (void)state;
    says(JOB("runtime: 9s, iodepth: 8, verify: true, kv_cache: {model: llama3.1-8b, "
             "tokens_per_block: 512, scale: 1/1024, trace: dir/t.jsonl, speed: '40', "
             "placement: hash}"),
         "kv_cache of llama3.1-8b, 512 tokens in blocks of 64 MiB, run at 1/1024 of their size, "
         "shape block, placement hash, policy lru, trace t.jsonl at speed 40, iodepth 8, io_uring "
         "direct, verify, open loop, on s");
    says(JOB("runtime: 9s, kv_cache: {model: llama3.1-8b, tokens_per_block: 16, trace: t.jsonl, "
             "loops: 2, discard_on_evict: true, policy: fifo, shape: layer}"),
         "kv_cache of llama3.1-8b, 16 tokens in blocks of 2 MiB, shape layer, placement local, "
         "policy fifo, trace t.jsonl at speed 1, 2 loops, discard_on_evict, iodepth 32, io_uring "
         "direct, open loop, on s");
}

/* Two hosts with a drive each of the job's target. */
static void feed_drives(feed_t *feed, const char *const models[2])
{
    Rackbench__Target target = RACKBENCH__TARGET__INIT, *targets[] = {&target};
    Rackbench__Phase one = RACKBENCH__PHASE__INIT, *phases[] = {&one};
    Rackbench__Plan plan = RACKBENCH__PLAN__INIT;
    Rackbench__Job job = feed_job(0, S, 0), *jobs[] = {&job};
    char *device = (char *)"/dev/d1";
    target.name = (char *)"d";
    target.devices = &device;
    target.n_devices = 1;
    one.name = (char *)"one";
    one.jobs = jobs;
    plan.targets = targets;
    plan.phases = phases;
    one.n_jobs = plan.n_targets = plan.n_phases = 1;
    rb_bytes_t bytes = rb_plan_pack(&plan);
    feed->fold = rb_fold_new();
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_RUN,
                        .run = {.id = (char *)"i",
                                .name = (char *)"n",
                                .version = (char *)"0",
                                .plan = bytes}});
    rb_bytes_clear(&bytes);
    for (uint32_t h = 1; h <= 2; h++) {
        Rackbench__Drive drive = RACKBENCH__DRIVE__INIT, *drives[] = {&drive};
        Rackbench__Inventory inventory = RACKBENCH__INVENTORY__INIT;
        drive.path = device;
        drive.model = (char *)(uintptr_t)models[h - 1];
        inventory.n_drives = drive.model != NULL;
        inventory.drives = drives;
        rb_bytes_t packed = rb_inventory_pack(&inventory);
        feed_row(
            feed, 0,
            (rb_row_t){
                .kind = RB_ROW_HOST,
                .host = {.host = h, .name = (char *)(h == 1 ? "h1" : "h2"), .inventory = packed}});
        rb_bytes_clear(&packed);
        rb_drive_ref_t ref = {.path = device};
        feed_row(feed, h,
                 (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {.ndrives = 1, .drives = &ref}});
    }
    feed_start(feed, 0, 2);
    feed_reads(feed, 1, 0, 10, false);
}

static void told_of_drives(const char *a, const char *b, const char *words)
{
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_drives(&feed, (const char *const[]){a, b});
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].njobs, 1);
    RB_AUTO(rb_free_str)
    char *whole = rb_asprintf("read, iodepth 1, io_uring direct, closed loop, on %s", words);
    assert_string_equal(r->phases[0].what[0], whole);
    RB_AUTO(rb_free_str) char *line = rb_asprintf("\n  j: %s\n", whole);
    RB_AUTO(rb_free_str) char *member = rb_asprintf("\"what\": {\n    \"j\": \"%s\"\n   }", whole);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(text, line));
    assert_non_null(strstr(json, member));
}

static void drives_are_told_by_number_and_model(void **state)
{
    (void)state;
    told_of_drives("X100", "X100", "d (2 drives, X100)");
    told_of_drives("X100", "Y7", "d (2 drives of several models)");
    told_of_drives(NULL, NULL, "d (2 drives, model not known)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_told_with_its_defaults),
        cmocka_unit_test(what_is_not_usual_is_told),
        cmocka_unit_test(a_kv_cache_is_told_by_its_trace),
        cmocka_unit_test(drives_are_told_by_number_and_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
