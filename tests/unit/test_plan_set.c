/* test_plan_set.c - --set: values, names, indices, and what is refused. */
#include "coordinator/plan/load.h"
#include "tests/unit/plan_fixture.h"

static const char base[] = "targets: {s: {size: 1GiB}, d: {devices: [/dev/a, /dev/b]}}\n"
                           "phases:\n"
                           "  - name: randread\n"
                           "    runtime: 5s\n"
                           "    jobs:\n"
                           "      - {name: j, target: s, rw: randread, iodepth: 1}\n"
                           "      - {target: s, bs: 8KiB, on: {role: a}}\n";

static Rackbench__Plan *set(const char *assignment)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    Rackbench__Plan *plan = load_plan(base, &places);
    if (rb_plan_set(plan, assignment, places, &err) != 0)
        fail_msg("%s: %s", assignment, err.text);
    return plan;
}

static void test_numbers(void **state)
{
    (void)state;
    static const char *const same[] = {
        "phases.0.jobs.0.iodepth=64",
        "phases.randread.jobs.j.iodepth=64",
        "phases.randread.jobs.0.iodepth=64",
        "phases.0.jobs.j.iodepth= 64",
    };
    for (size_t i = 0; i < RB_LEN(same); i++) {
        RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = set(same[i]);
        assert_int_equal(plan->phases[0]->jobs[0]->iodepth, 64);
    }
}

static void test_kinds(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *name = set("name=x");
    assert_string_equal(name->name, "x");
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *interval = set("interval=100ms");
    assert_int_equal(interval->interval_ns, 100 * RB_NS_PER_MS);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *runtime = set("phases.0.runtime=1m");
    assert_int_equal(runtime->phases[0]->defaults->runtime_ns, 60 * RB_NS_PER_S);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *unnamed = set("phases.0.jobs.j1.bs=1MiB");
    assert_int_equal(unnamed->phases[0]->jobs[1]->bs_bytes, RB_MIB);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *devices = set("targets.d.devices=[/dev/c]");
    assert_int_equal(devices->targets[1]->n_devices, 1);
    assert_string_equal(devices->targets[1]->devices[0], "/dev/c");
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *one = set("targets.d.devices=/dev/nvme*n1");
    assert_int_equal(one->targets[1]->n_devices, 1);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *on = set("phases.0.jobs.1.on={rack: r1, row: 2}");
    assert_int_equal(on->phases[0]->jobs[1]->n_on, 2);
    assert_string_equal(on->phases[0]->jobs[1]->on[1]->value, "2");
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *label = set("phases.0.jobs.1.on.role.value=b");
    assert_string_equal(label->phases[0]->jobs[1]->on[0]->value, "b");
}

static const bad_plan_t bad[] = {
    {"iodepth", "--set iodepth: expected KEY=VALUE, as in phases.0.jobs.0.iodepth=64"},
    {"=4", "--set =4: expected KEY=VALUE, as in phases.0.jobs.0.iodepth=64"},
    {"name=", "--set name=: expected KEY=VALUE, as in phases.0.jobs.0.iodepth=64"},
    {"nam=x", "--set nam=x: unknown key 'nam'; did you mean 'name'?"},
    {"name.x=1", "--set name.x=1: 'name' has no keys of its own; end the path there"},
    {"phases.0=1", "--set phases.0=1: the path ends at an entry; go on with a key of it"},
    {"phases.1.runtime=1s",
     "--set phases.1.runtime=1s: no '1' in phases; 0 to 0 or a name is right"},
    {"phases.randraed.runtime=1s",
     "--set phases.randraed.runtime=1s: no 'randraed' in phases; did you mean 'randread'?"},
    {"phases.0.jobs.0.on.a.value=b",
     "--set phases.0.jobs.0.on.a.value=b: the plan has no on there"},
    {"phases.0.jobs.0.iodeph=4",
     "--set phases.0.jobs.0.iodeph=4: unknown key 'iodeph'; did you mean 'iodepth'?"},
    {"phases..name=4", "--set phases..name=4: no '' in phases; 0 to 0 or a name is right"},
    {"phases.0.jobs.0.rw=raed",
     "--set phases.0.jobs.0.rw=raed: rw: 'raed' is not known here; one of read, write, randread, "
     "randwrite, rw, randrw, trim, randtrim is right"},
    {"phases.0.jobs.0.stonewall=1",
     "--set phases.0.jobs.0.stonewall=1: unknown key 'stonewall'; jobs of a phase run together, "
     "and phases one after the other: add a phase"},
    {"phases.0.jobs.0.iodepth=[1]",
     "--set phases.0.jobs.0.iodepth=[1]:1:1: iodepth: expected one value, got a list"},
    {"phases.0.jobs.0.on={role: [a]}",
     "--set phases.0.jobs.0.on={role: [a]}:1:8: role: expected a map of keys, got a list"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(bad); i++) {
        RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
        rb_err_t err = {0};
        RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(base, &places);
        if (rb_plan_set(plan, bad[i].text, places, &err) == 0)
            fail_msg("accepted: %s", bad[i].text);
        assert_int_equal(err.code, RB_ERR_INPUT);
        assert_string_equal(err.text, bad[i].message);
    }
}

/* A rule that a --set breaks names the --set; one that it did not touch names the file. */
static void test_origin(void **state)
{
    (void)state;
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(base, &places);
    assert_int_equal(rb_plan_set(plan, "phases.0.jobs.0.bs=1000", places, &err), 0);
    assert_int_equal(rb_plan_resolve(plan, places, &err), -1);
    assert_string_equal(err.text, "--set phases.0.jobs.0.bs=1000: bs: 1000B is no multiple of 512, "
                                  "which direct I/O needs; round it, or set direct: false");
    assert_int_equal(rb_plan_set(plan, "phases.0.jobs.0.bs=4KiB", places, &err), 0);
    assert_int_equal(rb_plan_set(plan, "phases.0.jobs=[{target: s, iodepth: 0}]", places, &err), 0);
    assert_int_equal(rb_plan_resolve(plan, places, &err), -1);
    assert_string_equal(err.text, "--set phases.0.jobs=[{target: s, iodepth: 0}]: iodepth: 0 is "
                                  "out of range; 1 to 4096 is right");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_origin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
