/* test_plan_kv.c - what a kv_cache may say in a plan: each key's error, where it is, what is right.
 */
#include "tests/unit/plan_fixture.h"

#include "coordinator/plan/load.h"

#define KV(keys)  JOB("runtime: 9s, kv_cache: {trace: t.jsonl, " keys "}")
#define GOOD      "model: llama3.1-8b, tokens_per_block: 16"
#define NOT(keys) KV(GOOD ", " keys)

static void starts(const char *text, const char *words)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(text, &places);
    if (rb_plan_resolve(plan, places, &err) == 0)
        fail_msg("accepted: %s", text);
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (strncmp(err.text, "p.yaml:5:", 9) != 0 || strstr(err.text, words) == NULL)
        fail_msg("'%s' is not in '%s'", words, err.text);
}

static void words_are_told(void **state)
{
    (void)state;
    starts(KV("model: lama"), "kv_cache: model: ");
    starts(KV("layers: 3"), "kv_cache: model: ");
    starts(NOT("dtype: int3"), "kv_cache: dtype: ");
    starts(NOT("shape: ball"), "kv_cache: shape: ");
    starts(NOT("placement: 'stripe(99)'"), "kv_cache: placement: ");
    starts(NOT("policy: mru"), "kv_cache: policy: ");
    starts(NOT("admission: all"), "kv_cache: admission: ");
    starts(NOT("router: random"), "kv_cache: router: ");
    starts(NOT("read_copy: first"), "kv_cache: read_copy: ");
    starts(NOT("prefill: half"), "kv_cache: prefill: 'half'; full or none is right");
    starts(NOT("front: {gpu: 1GiB, write: later}"),
           "kv_cache: front: write 'later'; through or back is right");
    starts(NOT("restore: {order: any}"), "restore: order 'any'; layer or block is right");
}

static void numbers_are_told(void **state)
{
    (void)state;
    starts(NOT("scale: 1/0"), "kv_cache: scale: '1/0'; 1/N is right, N from 1 to 1048576");
    starts(NOT("scale: '0.5'"), "kv_cache: scale: '0.5'; 1/N is right");
    starts(NOT("scale: 1/2x"), "kv_cache: scale: '1/2x'; 1/N is right");
    starts(NOT("speed: fast"), "kv_cache: speed: 'fast'; a number above 0 and up to 1000");
    starts(NOT("speed: '0'"), "kv_cache: speed: '0'; a number above 0");
    starts(NOT("speed: '1001'"), "kv_cache: speed: '1001'; a number above 0 and up to 1000");
    starts(NOT("restore: {io_size: 1000}"),
           "kv_cache: restore: io_size 1000; a multiple of 4096 bytes is right");
}

static void what_the_trace_says_is_not_said_twice(void **state)
{
    (void)state;
    static const char *const keys[] = {"rate_iops: 5", "bssplit: 4k/100", "number_ios: 9",
                                       "size: 1MiB",   "thinktime: 1ms",  "fsync: 1"};
    for (size_t i = 0; i < RB_LEN(keys); i++) {
        RB_AUTO(rb_free_str)
        char *text = rb_asprintf("targets: {s: {size: 1GiB}}\nphases:\n  - name: p\n    jobs:\n"
                                 "      - {runtime: 9s, %s, kv_cache: {trace: t, " GOOD "}}\n",
                                 keys[i]);
        starts(text, "the trace of kv_cache says which blocks are read and written, and when; "
                     "leave it out");
    }
    starts(JOB("rw: read, runtime: 9s, kv_cache: {trace: t, " GOOD "}"),
           "rw: a kv_cache reads and writes; leave it out");
    starts(JOB("numjobs: 2, runtime: 9s, kv_cache: {trace: t, " GOOD "}"),
           "numjobs: one worker serves a drive of a kv_cache; raise iodepth");
}

static void what_it_needs(void **state)
{
    (void)state;
    starts(JOB("runtime: 9s, kv_cache: {" GOOD "}"),
           "kv_cache needs the requests: add trace: FILE");
    starts(JOB("kv_cache: {trace: t, " GOOD "}"), "kv_cache needs runtime");
    starts("on_host_loss: continue\ntargets: {s: {size: 1GiB}}\nphases:\n  - jobs:\n"
           "      - {runtime: 9s, kv_cache: {trace: t, " GOOD "}}\n",
           "a host that is lost ends the run; set on_host_loss: abort");
}

static void a_good_one_is_taken(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan =
        resolved_plan(NOT("speed: '2.5', scale: 1/64, placement: 'mirror(2)', policy: fifo, "
                          "restore: {io_size: 4096, order: block}, front: {gpu: 1GiB}"));
    assert_int_equal(plan->phases[0]->jobs[0]->iodepth, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_told),
        cmocka_unit_test(numbers_are_told),
        cmocka_unit_test(what_the_trace_says_is_not_said_twice),
        cmocka_unit_test(what_it_needs),
        cmocka_unit_test(a_good_one_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
