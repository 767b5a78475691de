/* test_kv_share.c - a host's share of a KV plan: what its drives get, and what is due in the phase.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/kv_share.h"
#include "common/llm/trace_pack.h"
#include "tests/unit/kv_rig.h"

enum { HOSTS = 2, DRIVES = 2, BLOCK = 4096 };

typedef struct {
    Rackbench__KvCache cache;
    Rackbench__KvHost hosts[HOSTS], *list[HOSTS];
    uint64_t capacities[DRIVES];
    uint8_t *trace;
    size_t trace_bytes;
} rig_t;

/* Blocks of a page on two hosts of two drives; a second from request to request. */
static void rig(rig_t *r, const char *requests, const char *placement)
{
    rb_err_t err = {0};
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = tiny(requests);
    assert_int_equal(rb_trace_pack(trace, &r->trace, &r->trace_bytes, &err), 0);
    rackbench__kv_cache__init(&r->cache);
    r->cache.layers = r->cache.kv_heads = 1;
    r->cache.head_dim = 128;
    r->cache.tokens_per_block = 1;
    r->cache.placement = (char *)(uintptr_t)placement;
    r->cache.prefill = (char *)(uintptr_t) "none";
    for (size_t i = 0; i < DRIVES; i++)
        r->capacities[i] = 100ull * BLOCK;
    for (size_t i = 0; i < HOSTS; i++) {
        rackbench__kv_host__init(&r->hosts[i]);
        r->hosts[i].n_capacity_bytes = DRIVES;
        r->hosts[i].capacity_bytes = r->capacities;
        r->list[i] = &r->hosts[i];
    }
}

static rb_kv_share_t *share_new(const rig_t *r, uint32_t host, uint64_t end_s)
{
    rb_err_t err = {0};
    const rb_kv_share_opts_t o = {.cache = &r->cache,
                                  .nhosts = HOSTS,
                                  .hosts = (Rackbench__KvHost *const *)r->list,
                                  .host = host,
                                  .trace = r->trace,
                                  .trace_bytes = r->trace_bytes,
                                  .end_ns = end_s * RB_NS_PER_S};
    rb_kv_share_t *share = rb_kv_share_new(&o, &err);
    if (share == NULL || rb_kv_share_build(share, &err) < 0)
        fail_msg("%s", err.text);
    return share;
}

/* Sum over all drives of both hosts. */
static rb_kv_drive_account_t sum_of(const rig_t *r, uint64_t end_s, rb_kv_cluster_t *ret_cluster)
{
    rb_kv_drive_account_t sum = {0};
    for (uint32_t host = 0; host < HOSTS; host++) {
        RB_AUTO(rb_kv_share_destroy) rb_kv_share_t *share = share_new(r, host, end_s);
        for (uint32_t i = 0; i < DRIVES; i++) {
            const rb_kv_drive_account_t *a = rb_kv_share_account(share, i);
            sum.reads += a->reads;
            sum.writes += a->writes;
            assert_int_equal(rb_kv_queue_ios(rb_kv_share_queue(share, i)), a->reads + a->writes);
            assert_int_equal(rb_kv_share_slots(share, i), 100);
        }
        if (host > 0) /* both say the same of the cluster */
            assert_memory_equal(ret_cluster, rb_kv_share_cluster(share), sizeof(*ret_cluster));
        *ret_cluster = *rb_kv_share_cluster(share);
    }
    return sum;
}

static void hosts_share_what_is_asked_for(void **state)
{
    (void)state;
    rig_t r;
    rb_kv_cluster_t c;
    rig(&r, "0 1 2|0 1 3|0 1 2", "hash");
    rb_kv_drive_account_t sum = sum_of(&r, 60, &c);
    assert_int_equal(sum.writes, 4);
    assert_int_equal(sum.reads, 2 + 3);
    assert_int_equal(c.planned.requests, 3);
    assert_int_equal(c.planned.drive_hits, 5);
    assert_int_equal(c.infinite_hits, 5);
    free(r.trace);
    rig(&r, "0 1 2|0 1 3|0 1 2", "mirror(2)");
    sum = sum_of(&r, 60, &c);
    assert_int_equal(sum.writes, 8);
    assert_int_equal(sum.reads, 5);
    free(r.trace);
}

/* The third request comes at 2 s: a phase of two seconds does not hear of it. */
static void what_is_due_later_is_left_out(void **state)
{
    (void)state;
    rig_t r;
    rb_kv_cluster_t c;
    rig(&r, "0 1 2|0 1 3|0 1 2", "hash");
    rb_kv_drive_account_t sum = sum_of(&r, 2, &c);
    assert_int_equal(sum.writes, 4);
    assert_int_equal(sum.reads, 2);
    assert_int_equal(c.planned.requests, 2);
    assert_int_equal(c.planned.drive_hits, 2);
    assert_int_equal(c.infinite_hits, 2);
    r.cache.loops = 2; /* three requests and one more: the other loop's blocks are new */
    sum = sum_of(&r, 4, &c);
    assert_int_equal(c.planned.requests, 4);
    assert_int_equal(sum.writes, 4 + 3);
    assert_int_equal(c.infinite_hits, 5);
    free(r.trace);
}

static void a_request_knows_where_it_is(void **state)
{
    (void)state;
    rig_t r;
    rig(&r, "0 1 2 3 4 5 6 7 8 9|0 1 2 3 4 5 6 7 8 9", "hash");
    RB_AUTO(rb_kv_share_destroy) rb_kv_share_t *share = share_new(&r, 0, 60);
    const rb_kv_request_t *one = rb_kv_share_request(share, 1);
    assert_int_equal(rb_kv_share_request(share, 0)->drives, 0);
    assert_int_equal(one->hosts, 2);
    assert_in_range(one->drives, 2, 4);
    assert_int_equal(one->tokens, 10);
    free(r.trace);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err = {0};
    rig(&r, "0 1|0 1", "hash");
    rb_kv_share_opts_t o = {.cache = &r.cache, .nhosts = HOSTS, .hosts = r.list, .trace = r.trace};
    assert_null(rb_kv_share_new(&o, &err));
    assert_string_equal(err.text, "kv_cache: the coordinator sent no trace");
    o.trace_bytes = r.trace_bytes;
    r.trace[r.trace_bytes / 2] ^= 1;
    RB_AUTO(rb_kv_share_destroy) rb_kv_share_t *share = rb_kv_share_new(&o, &err);
    assert_non_null(share);
    for (int i = 0; i < 2; i++) { /* whoever comes later hears the same */
        err = (rb_err_t){0};
        assert_int_equal(rb_kv_share_build(share, &err), -1);
        assert_non_null(strstr(err.text, "kv_cache: the trace of "));
        assert_int_equal(err.code, RB_ERR_NET);
    }
    r.capacities[1] = BLOCK / 2;
    assert_null(rb_kv_share_new(&o, &err));
    assert_non_null(strstr(err.text, "a drive has no room for one block of 4 KiB"));
    free(r.trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_share_what_is_asked_for),
        cmocka_unit_test(what_is_due_later_is_left_out),
        cmocka_unit_test(a_request_knows_where_it_is),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
