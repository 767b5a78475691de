/* test_kv_result.c - what a phase with a KV cache was, from its rows: result, JSON and text. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/json.h"

static rb_kv_row_part_t part(uint32_t request, int64_t due_ns, int64_t end_ns)
{
    return (rb_kv_row_part_t){.request = request,
                              .part = RB_PART_MAIN,
                              .due_at_ns = due_ns,
                              .first_at_ns = due_ns + (end_ns - due_ns) / 2,
                              .end_at_ns = end_ns,
                              .bytes = 65536,
                              .blocks = 2,
                              .drives = 2,
                              .hosts = 2,
                              .tokens = 1000};
}

static void feed_parts(feed_t *feed, uint32_t host, rb_kv_row_part_t *parts, size_t n)
{
    feed_row(feed, host,
             (rb_row_t){.kind = RB_ROW_KV_PARTS, .kv_parts = {.nparts = n, .parts = parts}});
}

static rb_row_kv_drive_t drive_row(uint64_t reads, uint64_t evicted)
{
    return (rb_row_kv_drive_t){.read_blocks = reads,
                               .written_blocks = 3,
                               .evicted_blocks = evicted,
                               .waited_for_write = 1,
                               .not_begun = 2,
                               .slots = 10,
                               .slot_bytes = 32768,
                               .prefilled = 10,
                               .planned = {.requests = 3,
                                           .references = 20,
                                           .gpu_hits = 1,
                                           .dram_hits = 2,
                                           .drive_hits = 5,
                                           .input_tokens = 300,
                                           .hit_tokens = 100},
                               .infinite_hits = 10};
}

/* Two hosts of a drive, two requests on both: host 2 is the last of both, by 30 ms and by 10 ms.
 * The second is complete after 110 ms, where 1000 tokens take 100 ms to compute. */
static void feed_kv(feed_t *feed)
{
    Rackbench__KvCache cache = RACKBENCH__KV_CACHE__INIT;
    Rackbench__Job job = feed_job(0, 2 * S, 0);
    cache.model = (char *)"llama3.1-8b";
    cache.has_tokens_per_block = cache.has_prefill_tokens_per_s = true;
    cache.tokens_per_block = 16;
    cache.scale = (char *)"1/64";
    cache.speed = (char *)"2";
    cache.prefill_tokens_per_s = 10000;
    job.kv_cache = &cache;
    feed_begin(feed, job, 2);
    rb_kv_row_part_t one[] = {part(0, 0, 20 * MS), part(1, 100 * MS, 200 * MS)};
    rb_kv_row_part_t two[] = {part(0, 0, 50 * MS), part(1, 100 * MS, 210 * MS),
                              part(2, 300 * MS, 310 * MS), part(9, 300 * MS, 305 * MS)};
    two[2].failed = 1; /* its other part is missing */
    two[3].writes = true;
    feed_parts(feed, 1, one, RB_LEN(one));
    feed_parts(feed, 2, two, RB_LEN(two));
    for (uint32_t host = 1; host <= 2; host++) {
        feed_reads(feed, host, 0, 5, false);
        feed_reads(feed, host, 1, 5, true);
        feed_finished(feed, host, 2 * S);
        feed_row(feed, host,
                 (rb_row_t){.kind = RB_ROW_KV_DRIVE, .kv_drive = drive_row(host * 4, host)});
    }
    feed_end(feed, INT64_MAX, 0);
    feed_run_end(feed, "complete");
}

static void requests_wait_for_their_last_host(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_kv(&feed);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_kv_t *kv = &r->phases[0].kv;
    assert_true(kv->present);
    assert_int_equal(kv->scale, 64);
    assert_int_equal(kv->counts.requests, 2);
    assert_int_equal(kv->counts.open, 1);
    assert_int_equal(kv->counts.failed, 1);
    assert_int_equal(kv->counts.slower, 1);
    assert_int_equal(kv->all.restore->min, 50 * MS);
    assert_int_equal(kv->all.restore->max, 110 * MS);
    assert_int_equal(kv->all.first_layer->max, 55 * MS);
    assert_int_equal(kv->write->max, 5 * MS);
    assert_int_equal(kv->nhosts, 2);
    assert_int_equal(kv->hosts[0].last, 0);
    assert_int_equal(kv->hosts[1].last, 2);
    assert_float_equal(kv->hosts[1].late_s, 0.02, 1e-9);
    assert_int_equal(kv->sum.read_blocks, 12);
    assert_int_equal(kv->sum.evicted_blocks, 3);
    assert_int_equal(kv->sum.slots, 20);
    assert_int_equal(kv->sum.planned.references, 20); /* of the cluster: not added up */
    assert_float_equal(kv->restored_bytes_per_s, 2 * 10 * 4096 / 2.0, 1e-6);
    assert_false(r->phases[0].closed_loop);
}

static void reports_say_so(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_kv(&feed);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    static const char *const lines[] = {
        "  SCALED: blocks and capacity are 1/64 of real ones\n",
        "    1 of them slower than computing their tokens again\n",
        "    1 requests with a block that was wrong or could not be read\n",
        "    1 more were not complete at the end\n",
        "  hit ratio 0.4000 of blocks, 0.3333 of tokens; infinite cache 0.5000\n",
        "evicted 96 KiB; 2 restores waited for a write; network not modelled\n",
        "  4 blocks of the trace were not done when the phase ended\n",
        "  of 2 requests that several hosts served 100.0 % waited for h02 last, by 20.0 ms"};
    for (size_t i = 0; i < RB_LEN(lines); i++)
        if (strstr(text, lines[i]) == NULL)
            fail_msg("no '%s' in\n%s", lines[i], text);
    assert_null(strstr(text, "closed loop"));
    static const char *const members[] = {
        "\"slower_than_recompute\": 1",  "\"failed\": 1",
        "\"evicted_bytes\": 98304",      "\"last_of_requests\": 2",
        "\"network\": \"not modelled\"", "\"scale\": 64"};
    for (size_t i = 0; i < RB_LEN(members); i++)
        if (strstr(json, members[i]) == NULL)
            fail_msg("no '%s' in\n%s", members[i], json);
}

static void rows_of_other_jobs_are_refused(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    rb_kv_row_part_t one = part(0, 0, MS);
    rb_err_t err = {0};
    rb_row_t row = {.kind = RB_ROW_KV_PARTS, .kv_parts = {.nparts = 1, .parts = &one}};
    assert_int_equal(feed_try(&feed, 1, &row, &err), -1);
    assert_non_null(strstr(err.text, "KV PARTS row of job 'j', which has no kv_cache"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_wait_for_their_last_host),
        cmocka_unit_test(reports_say_so),
        cmocka_unit_test(rows_of_other_jobs_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
