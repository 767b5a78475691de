/* test_kv_hosts.c - the KV planner over several hosts: what lies where, who reads, what a lost host
 * costs, which server a request is on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/kv_rig.h"

enum { SLOTS = 40000 };
#define EMPTY (UINT64_MAX - 1)

/* What the drives hold by the parts alone: a read finds its block, a write takes a slot that is
 * empty, and a discard empties one. */
typedef struct {
    uint64_t *slots; /* [RIG_DRIVES x SLOTS] */
    uint64_t reads, writes;
} drives_t;

static void follow(drives_t *d, const rb_kv_step_t *step)
{
    for (size_t i = 0; i < step->nparts; i++) {
        const rb_kv_part_t *p = &step->parts[i];
        assert_true(p->slot < SLOTS);
        uint64_t *slot = &d->slots[(size_t)p->drive * SLOTS + p->slot];
        switch ((rb_kv_op_t)p->op) {
        case RB_KV_PART_READ:
            assert_int_equal(*slot, p->block);
            d->reads++;
            break;
        case RB_KV_PART_WRITE:
            assert_int_equal(*slot, EMPTY);
            *slot = p->block;
            d->writes++;
            break;
        case RB_KV_PART_DISCARD:
            assert_int_equal(*slot, p->block);
            *slot = EMPTY;
            break;
        }
    }
}

/* Runs a plan and follows its parts. */
static rb_kv_account_t followed(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace,
                                drives_t *ret)
{
    rb_kv_step_t step;
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(opts, trace);
    *ret = (drives_t){.slots = rb_calloc((size_t)RIG_DRIVES * SLOTS, sizeof(uint64_t))};
    for (size_t i = 0; i < (size_t)RIG_DRIVES * SLOTS; i++)
        ret->slots[i] = opts->full ? RB_KV_FILLER : EMPTY;
    while (rb_kv_plan_step(plan, &step))
        follow(ret, &step);
    free(ret->slots);
    return *rb_kv_plan_account(plan);
}

static void test_parts(void **state)
{
    (void)state;
    static const struct {
        const char *placement;
        uint64_t reads_a_hit, writes_a_block;
    } rows[] = {{"local", 1, 1},
                {"hash", 1, 1},
                {"stripe(4)", 4, 4},
                {"mirror(2)", 1, 2},
                {"mirror(3, drives)", 1, 3}};
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        for (int policy = RB_KV_POLICY_LRU; policy <= RB_KV_POLICY_FIFO; policy++) {
            drives_t d;
            rb_kv_plan_opts_t opts = fleet(rows[i].placement, 4, 2, 1500);
            opts.policy = (rb_kv_policy_t)policy;
            opts.full = policy == RB_KV_POLICY_FIFO;
            opts.gpu_blocks = i % 2 ? 100 : 0;
            opts.write_back = i == 3;
            rb_kv_account_t a = followed(&opts, trace, &d);
            assert_true(a.drive_hits > 1000 && a.evicted_blocks > 1000);
            assert_int_equal(d.reads, a.drive_hits * rows[i].reads_a_hit);
            assert_int_equal(d.writes, a.written_blocks * rows[i].writes_a_block);
        }
    }
}

/* Without limit the hosts hit together what one host hits, and write it once, or r times. */
static void test_unlimited(void **state)
{
    (void)state;
    static const char *const placements[] = {"hash", "stripe(2)", "mirror(2)", "mirror(2, racks)"};
    static const uint64_t copies[] = {1, 2, 2, 2};
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    for (size_t i = 0; i < RB_LEN(placements); i++) {
        rb_kv_plan_opts_t opts = fleet(placements[i], 4, 2, RB_KV_UNLIMITED);
        RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(&opts, trace);
        rb_kv_account_t a = run_all(plan);
        uint64_t writes = 0;
        assert_int_equal(a.drive_hits, 105710);
        for (uint32_t d = 0; d < 8; d++) {
            uint64_t mine = rb_kv_plan_drive(plan, d)->writes, even = 182790 * copies[i] / 8;
            writes += mine;
            assert_true(mine > even * 95 / 100 && mine < even * 105 / 100);
        }
        assert_int_equal(writes, 182790 * copies[i]);
    }
}

/* Copies are apart, and all of them are read. */
static void test_mirror(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    rb_kv_plan_opts_t opts = fleet("mirror(2, racks)", 4, 2, RB_KV_UNLIMITED);
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(&opts, trace);
    rb_kv_step_t step;
    uint64_t reads[2] = {0};
    while (rb_kv_plan_step(plan, &step)) {
        for (size_t i = 0; i < step.nparts; i++) {
            const rb_kv_part_t *p = &step.parts[i];
            if (p->op == RB_KV_PART_WRITE && p->piece == 1)
                assert_int_not_equal(rig_drives[p->drive].rack, rig_drives[p[-1].drive].rack);
            if (p->op == RB_KV_PART_READ)
                reads[p->piece]++;
        }
    }
    assert_true(reads[0] > 50000 && reads[1] > 50000);
}

static rb_kv_account_t with_loss(const char *placement, uint32_t host, uint64_t at,
                                 const rb_trace_t *trace)
{
    rb_kv_step_t step;
    rb_kv_plan_opts_t opts = fleet(placement, 4, 2, RB_KV_UNLIMITED);
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(&opts, trace);
    rb_kv_plan_lose(plan, host, at);
    while (rb_kv_plan_step(plan, &step))
        for (size_t i = 0; i < step.nparts; i++)
            if (step.request >= at && rig_drives[step.parts[i].drive].host == host)
                fail_msg("%s: request %u uses the lost host", placement, (unsigned)step.request);
    return *rb_kv_plan_account(plan);
}

static void test_lost_host(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    uint64_t hash = with_loss("hash", 2, 6000, trace).drive_hits;
    uint64_t stripe = with_loss("stripe(4)", 2, 6000, trace).drive_hits;
    assert_true(hash < 105710 && stripe < hash); /* a stripe lies on half of the drives */
    with_loss("local", 2, 6000, trace);          /* its server's requests go to the others */
    assert_int_equal(with_loss("mirror(2)", 2, 6000, trace).drive_hits, 105710);
    assert_int_equal(with_loss("hash", 2, 0, trace).drive_hits, 105710); /* never had any */
}

/* Drives hold blocks as their weights say, and one that goes takes only its own blocks along. */
static void test_weights(void **state)
{
    (void)state;
    enum { BLOCKS = 60000 };
    rb_kv_plan_opts_t opts = fleet("hash", 4, 1, RB_KV_UNLIMITED);
    uint32_t held[4] = {0}, drives[RB_MAX_KV_WAYS], moved = 0;
    for (uint32_t d = 0; d < 4; d++)
        rig_drives[d].weight = d + 1;
    for (uint64_t b = 0; b < BLOCKS; b++) {
        rig_drives[2].lost = false;
        assert_int_equal(rb_kv_place(&opts.place, b, 0, drives), 1);
        uint32_t drive = drives[0];
        held[drive]++;
        rig_drives[2].lost = true;
        assert_int_equal(rb_kv_place(&opts.place, b, 0, drives), 1);
        assert_true(drives[0] != 2);
        moved += drives[0] != drive;
    }
    for (uint32_t d = 0; d < 4; d++)
        assert_true(held[d] > BLOCKS / 10 * (d + 1) * 96 / 100 &&
                    held[d] < BLOCKS / 10 * (d + 1) * 104 / 100);
    assert_int_equal(moved, held[2]);
}

static void test_local(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = tiny("0 1|0 1|0 1 2|0 1");
    rb_kv_plan_opts_t opts = fleet("local", 2, 1, RB_KV_UNLIMITED);
    rb_kv_account_t a = run_plan(&opts, trace); /* servers in turn: each host its own copy */
    assert_int_equal(a.drive_hits, 4);
    assert_int_equal(a.written_blocks, 5);
    opts.router = RB_KV_ROUTE_PREFIX_AFFINITY; /* all follow the first */
    a = run_plan(&opts, trace);
    assert_int_equal(a.drive_hits, 6);
    assert_int_equal(a.written_blocks, 3);
}

static void test_routers(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    rb_kv_plan_opts_t opts = fleet("hash", 4, 1, RB_KV_UNLIMITED);
    uint64_t hits[4];
    opts.gpu_blocks = 500;
    for (int r = RB_KV_ROUTE_ROUND_ROBIN; r <= RB_KV_ROUTE_PREFIX_AFFINITY; r++) {
        opts.router = (rb_kv_router_t)r;
        rb_kv_account_t a = run_plan(&opts, trace);
        assert_int_equal(a.gpu_hits + a.drive_hits, 105710); /* where it is hit is all it changes */
        hits[r] = a.gpu_hits;
    }
    assert_true(hits[RB_KV_ROUTE_PREFIX_AFFINITY] > hits[RB_KV_ROUTE_ROUND_ROBIN]);
    assert_true(hits[RB_KV_ROUTE_SESSION] > hits[RB_KV_ROUTE_ROUND_ROBIN]);
    assert_true(hits[RB_KV_ROUTE_LEAST_LOADED] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),   cmocka_unit_test(test_unlimited),
        cmocka_unit_test(test_mirror),  cmocka_unit_test(test_lost_host),
        cmocka_unit_test(test_weights), cmocka_unit_test(test_local),
        cmocka_unit_test(test_routers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
