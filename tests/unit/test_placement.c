/* test_placement.c - who runs where, on machines that hwloc makes up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/placement.h"

/* 64 cores, 128 CPUs: of hwloc's synthetic machines CPUs 2n and 2n + 1 share core n. */
#define BIG "package:2 numanode:2 core:16 pu:2"

enum { MOST = 200, NOWHERE = -1 };

typedef struct {
    rb_topology_t topology;
    rb_place_want_t wants[MOST];
    rb_place_t places[MOST];
    size_t n, at;
    int32_t main_cpu;
    rb_err_t err;
} rig_t;

static rig_t rig_of(const char *synthetic, const char *allowed)
{
    rig_t r = {.main_cpu = -1};
    rb_topology_opts_t opts = {.synthetic = synthetic};
    rb_cpu_list_t list;
    cpu_set_t set;
    if (allowed != NULL) {
        assert_int_equal(rb_cpu_list_parse(allowed, &list, &r.err), 0);
        CPU_ZERO(&set);
        for (uint32_t i = 0; i < list.n; i++)
            CPU_SET(list.cpu[i], &set);
        opts.allowed = &set;
    }
    if (rb_topology_of(&opts, &r.topology, &r.err) != 0)
        fail_msg("%s", r.err.text);
    return r;
}

/* numjobs workers on each of ndrives drives of a node. */
static void add(rig_t *r, rb_place_how_t how, int32_t node, uint32_t ndrives, uint32_t numjobs)
{
    for (uint32_t i = 0; i < ndrives * numjobs; i++)
        r->wants[r->n++] =
            (rb_place_want_t){.how = how, .ordinal = i, .number = i % numjobs, .node = node};
}

static void add_list(rig_t *r, rb_place_how_t how, const rb_cpu_list_t *list, uint32_t numjobs)
{
    size_t first = r->n;
    add(r, how, NOWHERE, 1, numjobs);
    for (size_t i = first; i < r->n; i++)
        r->wants[i].list = list;
}

static int choose(rig_t *r)
{
    rb_placement_opts_t opts = {&r->topology, r->main_cpu, r->wants, r->n};
    return rb_placement_choose(&opts, r->places, &r->at, &r->err);
}

static const rb_topology_cpu_t *facts_of(const rig_t *r, int32_t cpu)
{
    for (size_t i = 0; i < r->topology.ncpus; i++)
        if (r->topology.cpus[i].cpu == cpu)
            return &r->topology.cpus[i];
    fail_msg("CPU %d is not of this machine", cpu);
    return NULL;
}

typedef struct {
    size_t cpus, cores; /* in use */
    size_t most;        /* workers on one CPU */
    size_t remote;      /* not on their drive's node */
} use_t;

static use_t use_of(const rig_t *r)
{
    size_t cpu[RB_MAX_CPUS] = {0}, core[RB_MAX_CPUS] = {0};
    use_t use = {0};
    for (size_t i = 0; i < r->n; i++) {
        const rb_place_t *p = &r->places[i];
        const rb_topology_cpu_t *c = facts_of(r, p->cpu);
        assert_int_equal(p->ncpus, 1);
        assert_int_equal(CPU_COUNT(&p->cpus), 1);
        assert_true(CPU_ISSET(c->cpu, &p->cpus));
        assert_int_equal(p->node, c->node);
        use.cpus += cpu[c->cpu]++ == 0;
        use.cores += core[c->core]++ == 0;
        use.most = RB_MAX(use.most, cpu[c->cpu]);
        use.remote += p->drive_node >= 0 && p->drive_node != p->node;
    }
    return use;
}

static void the_facts_are_the_machines(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    assert_int_equal(r.topology.ncpus, 128);
    assert_int_equal(r.topology.nnodes, 4);
    for (size_t i = 0; i < 128; i++) {
        assert_int_equal(r.topology.cpus[i].cpu, i);
        assert_int_equal(r.topology.cpus[i].core, i / 2);
        assert_int_equal(r.topology.cpus[i].node, i / 32);
    }
    rig_t some = rig_of(BIG, "5,8-9,127");
    assert_int_equal(some.topology.ncpus, 4);
    assert_int_equal(some.topology.nnodes, 2);
    assert_int_equal(some.topology.cpus[3].cpu, 127);
    assert_int_equal(some.topology.cpus[3].node, 3);
    rb_topology_opts_t none = {.synthetic = "no machine"};
    assert_int_equal(rb_topology_of(&none, &r.topology, &r.err), -1);
    assert_int_equal(r.err.code, RB_ERR_INPUT);
    assert_int_equal(rb_topology_here(&r.topology, &r.err), 0);
    assert_true(r.topology.ncpus > 0);
}

/* Six drives a node, two workers a drive: twelve of its sixteen cores. */
static void each_worker_has_a_core_of_its_drives_node(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    for (int32_t node = 0; node < 4; node++)
        add(&r, RB_PLACE_AUTO, node, 6, 2);
    assert_int_equal(choose(&r), 0);
    use_t use = use_of(&r);
    assert_int_equal(use.cpus, 48);
    assert_int_equal(use.cores, 48);
    assert_int_equal(use.remote, 0);
}

/* 20 workers on 16 cores: four double up, one drive's no more than another's. */
static void siblings_come_after_all_cores(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    add(&r, RB_PLACE_AUTO, 1, 4, 5);
    assert_int_equal(choose(&r), 0);
    use_t use = use_of(&r);
    assert_int_equal(use.cpus, 20);
    assert_int_equal(use.cores, 16);
    assert_int_equal(use.remote, 0);
    for (size_t drive = 0; drive < 4; drive++) {
        size_t doubled = 0;
        for (size_t i = drive * 5; i < drive * 5 + 5; i++)
            doubled += r.places[i].cpu % 2 == 1; /* the second CPU of a core */
        assert_int_equal(doubled, 1);
    }
}

static void what_does_not_fit_goes_to_another_node(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    add(&r, RB_PLACE_AUTO, 0, 10, 4);
    assert_int_equal(choose(&r), 0);
    use_t use = use_of(&r);
    assert_int_equal(use.most, 1);
    assert_int_equal(use.remote, 8); /* of 40; the node has 32 CPUs */
    assert_int_equal(use.cores, 16 + 8);
}

static void more_workers_than_cpus_are_not_bound(void **state)
{
    (void)state;
    rig_t r = rig_of("core:2 pu:1", NULL);
    add(&r, RB_PLACE_AUTO, NOWHERE, 1, 2);
    assert_int_equal(choose(&r), 0);
    assert_int_equal(use_of(&r).cpus, 2);
    add(&r, RB_PLACE_AUTO, NOWHERE, 1, 1);
    assert_int_equal(choose(&r), 0);
    for (size_t i = 0; i < r.n; i++) {
        assert_int_equal(r.places[i].how, RB_PLACE_ANY);
        assert_int_equal(r.places[i].ncpus, 2);
        assert_int_equal(r.places[i].cpu, -1);
    }
}

static void only_what_is_allowed_is_used(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, "3,10,33,90"); /* the rest is offline or another's cpuset */
    add(&r, RB_PLACE_AUTO, 3, 1, 4);
    assert_int_equal(choose(&r), 0);
    use_t use = use_of(&r);
    assert_int_equal(use.cpus, 4);
    assert_int_equal(use.remote, 4); /* CPU 90 is of node 2 */
}

static void the_main_threads_core_is_last(void **state)
{
    (void)state;
    rig_t r = rig_of("core:4 pu:2", NULL);
    r.main_cpu = 1;
    add(&r, RB_PLACE_AUTO, 0, 1, 3);
    assert_int_equal(choose(&r), 0);
    assert_int_equal(use_of(&r).cores, 3);
    for (size_t i = 0; i < 3; i++)
        assert_true(r.places[i].cpu / 2 != 0);
    add(&r, RB_PLACE_AUTO, 0, 1, 1);
    r.wants[3].number = 3;
    assert_int_equal(choose(&r), 0);
    assert_int_equal(r.places[3].cpu / 2, 0); /* before any sibling */
}

/* Without a node the nodes share out; a machine without NUMA is as one node. */
static void drives_of_no_known_node_spread(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    size_t of_node[4] = {0};
    add(&r, RB_PLACE_AUTO, NOWHERE, 2, 4);
    assert_int_equal(choose(&r), 0);
    for (size_t i = 0; i < r.n; i++)
        of_node[r.places[i].node]++;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(of_node[i], 2);
    rig_t flat = rig_of("core:8 pu:1", NULL);
    add(&flat, RB_PLACE_AUTO, NOWHERE, 2, 4);
    assert_int_equal(choose(&flat), 0);
    assert_int_equal(use_of(&flat).cores, 8);
}

/* Those that can go anywhere do not take the cores that others need. */
static void known_nodes_choose_first(void **state)
{
    (void)state;
    rig_t r = rig_of("numanode:2 core:2 pu:1", NULL);
    add(&r, RB_PLACE_AUTO, NOWHERE, 1, 2);
    add(&r, RB_PLACE_AUTO, 0, 1, 2);
    assert_int_equal(choose(&r), 0);
    use_t use = use_of(&r);
    assert_int_equal(use.cpus, 4);
    assert_int_equal(use.remote, 0);
}

static void near_is_the_node_while_its_cores_suffice(void **state)
{
    (void)state;
    rig_t r = rig_of(BIG, NULL);
    add(&r, RB_PLACE_NEAR, 2, 4, 4);
    add(&r, RB_PLACE_NEAR, NOWHERE, 1, 1);
    assert_int_equal(choose(&r), 0);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(r.places[i].how, RB_PLACE_NEAR);
        assert_int_equal(r.places[i].ncpus, 32);
        assert_int_equal(r.places[i].node, 2);
        assert_true(CPU_ISSET(64, &r.places[i].cpus) && !CPU_ISSET(63, &r.places[i].cpus));
    }
    assert_int_equal(r.places[16].how, RB_PLACE_ANY);
    add(&r, RB_PLACE_NEAR, 2, 1, 1); /* the seventeenth */
    assert_int_equal(choose(&r), 0);
    for (size_t i = 0; i < r.n; i++)
        assert_int_equal(r.places[i].how, RB_PLACE_ANY);
    rig_t flat = rig_of("core:8 pu:1", NULL);
    add(&flat, RB_PLACE_NEAR, 0, 1, 1);
    assert_int_equal(choose(&flat), 0);
    assert_int_equal(flat.places[0].how, RB_PLACE_ANY);
}

static void lists_are_shared_or_split(void **state)
{
    (void)state;
    rb_cpu_list_t list = {.n = 4, .cpu = {2, 5, 6, 500}}; /* there is no 500 */
    rig_t r = rig_of("core:8 pu:1", NULL);
    add_list(&r, RB_PLACE_LIST, &list, 2);
    assert_int_equal(choose(&r), 0);
    assert_int_equal(r.places[1].ncpus, 3);
    assert_int_equal(r.places[1].cpu, -1);
    rig_t split = rig_of("core:8 pu:1", NULL);
    static const int32_t in_turn[] = {2, 5, 6, 2, 5};
    add_list(&split, RB_PLACE_SPLIT, &list, RB_LEN(in_turn));
    assert_int_equal(choose(&split), 0);
    for (size_t i = 0; i < RB_LEN(in_turn); i++)
        assert_int_equal(split.places[i].cpu, in_turn[i]);
}

static void auto_avoids_what_lists_name(void **state)
{
    (void)state;
    rb_cpu_list_t list = {.n = 2, .cpu = {0, 1}}, one = {.n = 1, .cpu = {2}};
    rig_t r = rig_of("core:4 pu:1", NULL);
    add(&r, RB_PLACE_AUTO, 0, 1, 1);
    add_list(&r, RB_PLACE_LIST, &list, 1);
    add_list(&r, RB_PLACE_SPLIT, &one, 1);
    assert_int_equal(choose(&r), 0);
    assert_int_equal(r.places[0].cpu, 3);
}

static void a_list_without_any_of_ours_is_refused(void **state)
{
    (void)state;
    rb_cpu_list_t list = {.n = 2, .cpu = {8, 9}};
    rig_t r = rig_of("core:8 pu:1", "0-2,5");
    add(&r, RB_PLACE_AUTO, 0, 1, 1);
    add_list(&r, RB_PLACE_LIST, &list, 1);
    assert_int_equal(choose(&r), -1);
    assert_int_equal(r.err.code, RB_ERR_INPUT);
    assert_int_equal(r.at, 1);
    assert_string_equal(r.err.text, "this agent may use none of them, only 0-2,5");
}

static void sets_are_written_as_lists(void **state)
{
    (void)state;
    char text[32];
    cpu_set_t set;
    CPU_ZERO(&set);
    assert_string_equal(rb_placement_cpus(&set, text, sizeof(text)), "");
    for (unsigned i = 0; i < RB_MAX_CPUS; i += 2)
        CPU_SET(i, &set);
    assert_string_equal(rb_placement_cpus(&set, text, sizeof(text)), "0,2,4,6,8,10,12,14,...");
    CPU_ZERO(&set);
    CPU_SET(1022, &set);
    CPU_SET(1023, &set);
    assert_string_equal(rb_placement_cpus(&set, text, sizeof(text)), "1022-1023");
}

static void a_thread_goes_where_it_is_placed(void **state)
{
    (void)state;
    rig_t r = {.main_cpu = -1};
    cpu_set_t before, now;
    assert_int_equal(rb_topology_here(&r.topology, &r.err), 0);
    add(&r, RB_PLACE_AUTO, NOWHERE, 1, 1);
    assert_int_equal(choose(&r), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    assert_int_equal(rb_placement_apply(&r.places[0], &r.err), 0);
    assert_int_equal(sched_getaffinity(0, sizeof(now), &now), 0);
    assert_true(CPU_EQUAL(&now, &r.places[0].cpus));
    assert_int_equal(sched_getcpu(), r.places[0].cpu);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_facts_are_the_machines),
        cmocka_unit_test(each_worker_has_a_core_of_its_drives_node),
        cmocka_unit_test(siblings_come_after_all_cores),
        cmocka_unit_test(what_does_not_fit_goes_to_another_node),
        cmocka_unit_test(more_workers_than_cpus_are_not_bound),
        cmocka_unit_test(only_what_is_allowed_is_used),
        cmocka_unit_test(the_main_threads_core_is_last),
        cmocka_unit_test(drives_of_no_known_node_spread),
        cmocka_unit_test(known_nodes_choose_first),
        cmocka_unit_test(near_is_the_node_while_its_cores_suffice),
        cmocka_unit_test(lists_are_shared_or_split),
        cmocka_unit_test(auto_avoids_what_lists_name),
        cmocka_unit_test(a_list_without_any_of_ours_is_refused),
        cmocka_unit_test(sets_are_written_as_lists),
        cmocka_unit_test(a_thread_goes_where_it_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
