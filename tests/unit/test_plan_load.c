/* test_plan_load.c - YAML to plan: what loads, where it stands, and what is refused with which
 * words. */
#include "tests/unit/plan_fixture.h"

#include "coordinator/plan/load_yaml.h"

static const bad_plan_t bad[] = {
    {"", "p.yaml:1:1: the file is empty"},
    {"# only a comment\n", "p.yaml:1:1: the file is empty"},
    {"- a\n", "p.yaml:1:1: expected a map of keys, got a list"},
    {"name: [a\n",
     "p.yaml:2:1: not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"name: a\n\tjobs: b\n", "p.yaml:2:1: not valid YAML: while scanning a plain scalar: found a "
                             "tab character that violates indentation"},
    {"name: \"\\xff\n",
     "p.yaml:2:1: not valid YAML: while scanning a quoted scalar: found unexpected end of stream"},
    {"name: &x a\n", "p.yaml:1:7: anchors (&name) are not supported; write the value out"},
    {"name: *x\n",
     "p.yaml:1:7: aliases (*name) are not supported; write the value out, or quote the text"},
    {"name: !!str a\n", "p.yaml:1:7: tags (!name) are not supported; leave it out"},
    {"name: a\n---\nname: b\n", "p.yaml:2:1: a second YAML document; one in a file is right"},
    {"[a]: b\n", "p.yaml:1:1: a list or map as a key; a plain word is right"},
    {"name: a\nname: b\n", "p.yaml:2:1: key 'name' is given twice (first in line 1); remove one"},
    {"a: &x {b: 1}\n", "p.yaml:1:4: anchors (&name) are not supported; write the value out"},
    {"name: \"a\\0b\"\n", "p.yaml:1:7: a text with a NUL character; leave it out"},
    {"name: \"a\\nb\"\n",
     "p.yaml:1:7: name: control character 0x0a in a text; printable characters are right"},
    {"nmae: a\n", "p.yaml:1:1: unknown key 'nmae'; did you mean 'name'?"},
    {"colour: red\n",
     "p.yaml:1:1: unknown key 'colour'; the keys here are name, on_host_loss, min_hosts, interval, "
     "max_skew, strict_skew, lease, randseed, targets, phases, wipe, precondition, "
     "recondition"},
    {"name:\n", "p.yaml:1:6: name: expected one value, got nothing"},
    {"name: [a, b]\n", "p.yaml:1:7: name: expected one value, got a list"},
    {"randseed: {a: 1}\n", "p.yaml:1:11: randseed: expected one value, got a map"},
    {"interval: 1\n", "p.yaml:1:11: interval: \"1\" is not a duration: add a unit: 30s; write 30s, "
                      "250us or 1m30s, with the units ns us ms s m h d"},
    {"interval: fast\n",
     "p.yaml:1:11: interval: \"fast\" is not a duration: it does not begin with a digit; write "
     "30s, 250us or 1m30s, with the units ns us ms s m h d"},
    {"min_hosts: 5000000000\n",
     "p.yaml:1:12: min_hosts: '5000000000' is too large; at most 4294967295 is right"},
    {"strict_skew: maybe\n", "p.yaml:1:14: strict_skew: 'maybe' is neither true nor false"},
    {"on_host_loss: abrot\n",
     "p.yaml:1:15: on_host_loss: 'abrot' is not known here; one of abort, continue is right"},
    {"targets: {s: {size: 1Gib}}\n",
     "p.yaml:1:21: size: \"1Gib\" is not a size: its unit is unknown; write bytes, or a number "
     "with KiB MiB GiB TiB PiB (or k M G T P), kB MB GB TB PB"},
    {"targets: s\n", "p.yaml:1:10: targets: expected a map or a list, got 's'"},
    {"targets: {s: 1GiB}\n", "p.yaml:1:14: s: expected a map of keys, got '1GiB'"},
    {"targets: [{size: 1GiB}]\n", "p.yaml:1:11: the key 'name' is missing"},
    {"targets: {s: {name: t, size: 1GiB}}\n",
     "p.yaml:1:15: 'name' is set by an earlier key already; remove one"},
    {"targets: {s: {size: 1GiB, size_bytes: 2GiB}}\n",
     "p.yaml:1:27: 'size' is set by an earlier key already; remove one"},
    {"targets: {s: {fils: 1}}\n", "p.yaml:1:15: unknown key 'fils'; did you mean 'files'?"},
    {"phases:\n  - name: a\n    jobs:\n      - {iodeph: 4}\n",
     "p.yaml:4:10: unknown key 'iodeph'; did you mean 'iodepth'?"},
    {"phases:\n  - name: a\n    iodeph: 4\n",
     "p.yaml:3:5: unknown key 'iodeph'; did you mean 'iodepth'?"},
    {"phases:\n  - name: a\n    defaults: {iodepth: 4}\n",
     "p.yaml:3:5: unknown key 'defaults'; the keys here are name, destructive, jobs, stop_when, "
     "sweep, sweep_mode, point, precondition, recondition, fill, steady_state, target, rw, "
     "rwmixread, bs, iodepth, numjobs, size, offset and more: see man rackbench-plan"},
    {"phases:\n  - name: a\n    jobs:\n      - {rw: raed}\n",
     "p.yaml:4:14: rw: 'raed' is not known here; one of read, write, randread, randwrite, rw, "
     "randrw, trim, randtrim is right"},
    {"phases:\n  - jobs: [{blocksize: 4k}]\n", "p.yaml:2:13: unknown key 'blocksize'; write bs"},
    {"phases:\n  - time_based: true\n",
     "p.yaml:2:5: unknown key 'time_based'; runtime is always time based: leave it out"},
    {"group_reporting: true\n",
     "p.yaml:1:1: unknown key 'group_reporting'; results are always merged, and shown by host and "
     "drive too: leave it out"},
    {"phases:\n  - jobs: [{directory: /data}]\n",
     "p.yaml:2:13: unknown key 'directory'; drives and files are targets: targets: {t: {devices: "
     "[...]}} or {t: {directory: /d, size: 1GiB}}, and target: t in the job"},
    {"phases:\n  - jobs: [{ioengine: libaio}]\n",
     "p.yaml:2:23: ioengine: 'libaio' is not known here; write io_uring, or sync for one operation "
     "at a time"},
    {"phases:\n  - jobs: [{ioengine: uring}]\n",
     "p.yaml:2:23: ioengine: 'uring' is not known here; one of io_uring, sync, io_uring_cmd is "
     "right"},
    {"phases:\n  - jobs: [{rw: readwrite}]\n",
     "p.yaml:2:17: rw: 'readwrite' is not known here; write rw"},
    {"phases:\n  - jobs: [{direct: 2}]\n", "p.yaml:2:21: direct: '2' is neither true nor false"},
    {"phases:\n  - jobs: [{on: [reader]}]\n", "p.yaml:2:18: the key 'name' is missing"},
    {"phases:\n  - jobs: [{on: {role: }}]\n", "p.yaml:2:24: the key 'value' is missing"},
    {"phases:\n  - jobs: [read]\n", "p.yaml:2:12: expected a map of keys, got 'read'"},
    {"phases:\n  - jobs: [{iodepth: [1, 2]}]\n",
     "p.yaml:2:22: iodepth: expected one value, got a list"},
    {"phases:\n  - jobs: [{sweep: {iodepth: [1, 2]}}]\n",
     "p.yaml:2:13: unknown key 'sweep'; the keys here are name, target, rw, rwmixread, bs, "
     "iodepth, numjobs, size, offset, direct, runtime, ramp_time, io_size, number_ios, rate_iops, "
     "seq_layout, on, random_distribution and more: see man rackbench-plan"},
    {"phases:\n  - jobs: [{bs: -1}]\n",
     "p.yaml:2:17: bs: \"-1\" is not a size: it does not begin with a digit; write bytes, or a "
     "number with KiB MiB GiB TiB PiB (or k M G T P), kB MB GB TB PB"},
    {"a: [[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]",
     "p.yaml:1:19: more than 16 maps and lists in each other"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(bad); i++)
        expect_message(bad[i].text, strlen(bad[i].text), LOADED, bad[i].message);
}

static void test_bytes(void **state)
{
    (void)state;
    expect_message("name: a\nx: \xff\n", 13, LOADED,
                   "p.yaml:2:4: not UTF-8 text without control characters; save the file as UTF-8");
    expect_message("name: a\0b", 9, LOADED,
                   "p.yaml:1:8: not UTF-8 text without control characters; save the file as UTF-8");
}

/* Some editors write one; places count from behind it. */
static void test_byte_order_mark(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfname: a\n";
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(text, &places);
    assert_string_equal(plan->name, "a");
    static const char wrong[] = "\xef\xbb\xbfname: [a, b]\n";
    expect_message(wrong, strlen(wrong), LOADED,
                   "p.yaml:1:7: name: expected one value, got a list");
}

static void test_limits(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *big = rb_calloc(RB_MAX_PLAN_BYTES + 2, 1);
    memset(big, '#', RB_MAX_PLAN_BYTES + 1);
    expect_message(big, RB_MAX_PLAN_BYTES + 1, LOADED,
                   "p.yaml: 1048577 bytes of text; at most 1 MiB is right");
    expect_message(big, RB_MAX_PLAN_BYTES, LOADED, "p.yaml:1:1: the file is empty");

    size_t n = (size_t)sprintf(big, "targets: [");
    for (int i = 0; i <= RB_MAX_PLAN_ITEMS; i++)
        n += (size_t)sprintf(big + n, "{name: a},");
    sprintf(big + n, "]");
    expect_message(big, strlen(big), LOADED,
                   "p.yaml:1:40971: more than 4096 entries in one map or list");

    memset(big, 'x', RB_MAX_PLAN_BYTES);
    memcpy(big, "name: ", 6);
    expect_message(big, 5006, LOADED,
                   "p.yaml:1:7: name: text of 5000 bytes; at most 4095 are right");
}

static char *read_demo(void)
{
    FILE *f = fopen(RB_SOURCE_DIR "/tests/data/plans/demo.yaml", "re");
    assert_non_null(f);
    char *text = rb_calloc(4096, 1);
    assert_true(fread(text, 1, 4095, f) > 0);
    fclose(f);
    return text;
}

static void test_demo(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *text = read_demo();
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(text, &places);
    assert_string_equal(plan->name, "demo");
    assert_int_equal(plan->on_host_loss, RACKBENCH__PLAN__ON_HOST_LOSS__continue);
    assert_true(plan->has_min_hosts && plan->min_hosts == 3);
    assert_int_equal(plan->interval_ns, 500 * RB_NS_PER_MS);
    assert_false(plan->has_lease_ns);
    assert_int_equal(plan->n_targets, 2);
    assert_string_equal(plan->targets[0]->name, "s");
    assert_string_equal(plan->targets[0]->directory, "/data");
    assert_int_equal(plan->targets[0]->size_bytes, RB_GIB);
    assert_int_equal(plan->targets[1]->n_devices, 2);
    assert_string_equal(plan->targets[1]->devices[1], "/dev/sdb");

    const Rackbench__Phase *phase = plan->phases[0];
    assert_non_null(phase->defaults);
    assert_int_equal(phase->defaults->runtime_ns, 90 * RB_NS_PER_S);
    assert_int_equal(phase->defaults->n_on, 2);
    assert_string_equal(phase->defaults->on[1]->name, "rack");
    assert_string_equal(phase->defaults->on[1]->value, "r1");
    assert_false(phase->jobs[0]->has_runtime_ns);
    assert_int_equal(phase->jobs[0]->rw, RACKBENCH__RW__MODE__randread);
    assert_int_equal(phase->jobs[1]->rate_iops, 2000);

    phase = plan->phases[1];
    assert_null(phase->name);
    assert_true(phase->destructive);
    assert_string_equal(phase->jobs[0]->name, "fill");
    assert_int_equal(phase->jobs[0]->bs_bytes, RB_MIB);
    assert_int_equal(phase->jobs[0]->io_size_bytes, 10000000000);
    assert_int_equal(phase->jobs[0]->seq_layout, RACKBENCH__SEQ_LAYOUT__KIND__same);
    assert_int_equal(phase->jobs[1]->number_ios, 1000000);
}

static void check_place(const rb_places_t *places, const char *path, const char *want)
{
    RB_AUTO(rb_free_str) char *got = rb_places_find(places, path);
    assert_string_equal(got, want);
}

static void test_places(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *text = read_demo();
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(text, &places);
    assert_non_null(plan);
    check_place(places, "name", "p.yaml:2:1");
    check_place(places, "phases.0.jobs.1.iodepth", "p.yaml:16:35");
    check_place(places, "phases.0.jobs.1.bs_bytes", "p.yaml:16:9");   /* unset: its job's */
    check_place(places, "phases.0.jobs.1.runtime_ns", "p.yaml:12:5"); /* inherited */
    check_place(places, "phases.0.jobs.0.on.0.value", "p.yaml:13:10");
    check_place(places, "phases.1.jobs.1", "p.yaml:20:7"); /* its key */
    check_place(places, "phases.7.name", "p.yaml:9:1");
    check_place(places, "nothing", "p.yaml:2:1"); /* the plan's first key */
    check_place(NULL, "name", "plan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_byte_order_mark),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_demo),
        cmocka_unit_test(test_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
