/* test_plan_resolve.c - defaults, the text of a resolved plan, and the presets. */
#include "tests/unit/plan_fixture.h"

#include "coordinator/plan/emit.h"
#include "coordinator/plan/presets.h"

static void test_defaults(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = resolved_plan("targets: {s: {size: 1GiB}}\n"
                                          "phases: [{jobs: [{}, {rw: randrw}]}]\n");
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    assert_string_equal(text, "name: p\n"
                              "on_host_loss: abort\n"
                              "interval: auto\n"
                              "max_skew: 1ms\n"
                              "strict_skew: false\n"
                              "lease: 3s\n"
                              "randseed: 1\n"
                              "targets:\n"
                              "  - name: s\n"
                              "    files: 1\n"
                              "    size: 1GiB\n"
                              "phases:\n"
                              "  - name: phase0\n"
                              "    destructive: false\n"
                              "    jobs:\n"
                              "      - name: j0\n"
                              "        target: s\n"
                              "        rw: read\n"
                              "        bs: 4KiB\n"
                              "        iodepth: 1\n"
                              "        numjobs: 1\n"
                              "        offset: 0B\n"
                              "        direct: true\n"
                              "        seq_layout: region\n"
                              "      - name: j1\n"
                              "        target: s\n"
                              "        rw: randrw\n"
                              "        rwmixread: 50\n"
                              "        bs: 4KiB\n"
                              "        iodepth: 1\n"
                              "        numjobs: 1\n"
                              "        offset: 0B\n"
                              "        direct: true\n"
                              "        seq_layout: region\n");
}

static void test_inheritance(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = resolved_plan("targets: {s: {size: 1GiB}, t: {devices: /dev/a}}\n"
                                          "phases:\n"
                                          "  - target: s\n"
                                          "    iodepth: 8\n"
                                          "    direct: false\n"
                                          "    on: {role: reader, rack: r1}\n"
                                          "    jobs:\n"
                                          "      - {iodepth: 2, on: {role: writer}}\n"
                                          "      - {target: t}\n");
    const Rackbench__Phase *phase = plan->phases[0];
    const Rackbench__Job *a = phase->jobs[0], *b = phase->jobs[1];
    assert_null(phase->defaults);
    assert_string_equal(a->target, "s");
    assert_int_equal(a->iodepth, 2);
    assert_false(a->direct);
    assert_int_equal(a->n_on, 1);
    assert_string_equal(a->on[0]->value, "writer");
    assert_string_equal(b->target, "t");
    assert_int_equal(b->iodepth, 8);
    assert_int_equal(b->n_on, 2);
    assert_string_equal(b->on[1]->value, "r1");
    assert_false(plan->targets[1]->has_files);
}

/* Text -> plan -> text -> plan, as written and resolved. */
static void check_round_trip(const char *text)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL, *again_places = NULL;
    RB_AUTO(rb_places_destroy) rb_places_t *resolved_places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(text, &places);
    RB_AUTO(rb_free_str) char *emitted = rb_plan_emit(plan);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *again = load_plan(emitted, &again_places);
    assert_plans_equal(plan, again);
    if (rb_plan_resolve(plan, places, &err) != 0)
        fail_msg("%s\n%s", text, err.text);
    RB_AUTO(rb_free_str) char *resolved = rb_plan_emit(plan);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *back = load_plan(resolved, &resolved_places);
    assert_plans_equal(plan, back);
    assert_int_equal(rb_plan_resolve(back, resolved_places, &err), 0); /* changes nothing more */
    assert_plans_equal(plan, back);
}

static void test_round_trip(void **state)
{
    (void)state;
    char demo[4096] = "";
    FILE *f = fopen(RB_SOURCE_DIR "/tests/data/plans/demo.yaml", "re");
    assert_non_null(f);
    assert_true(fread(demo, 1, sizeof(demo) - 1, f) > 0);
    fclose(f);
    check_round_trip(demo);
    /* Texts that YAML would read as something else, and units that are not round. */
    check_round_trip(
        "name: \"- a: {b} # \\\\ \\\" 'c' %, *d &e !f \"\n"
        "interval: 1s1ns\n"
        "max_skew: 1d1h1m1s1ms1us1ns\n"
        "randseed: 18446744073709551615\n"
        "targets: {\"true\": {directory: \"/\\u00e4 \\u0085 \\u2028 \\ufeff \\ufffe\\U0001f600\","
        " size: 1048577}}\n"
        "phases: [{on: {\"~\": \"\", k/x: \"null\"}, jobs: [{}, {target: \"true\"}]}]\n");
}

/* Labels read as they were written; a name that is no plain key in YAML, too. */
static void test_labels(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan =
        resolved_plan("targets: {s: {size: 1GiB}}\n"
                      "phases: [{jobs: [{on: {role: reader, k/x: \"a b\"}}]}]\n");
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    assert_non_null(strstr(text, "        on: {role: reader, k/x: \"a b\"}\n"));
    RB_AUTO(rb_free_str) char *long_name = rb_calloc(RB_MAX_NAME + 1, 1);
    memset(long_name, 'x', RB_MAX_NAME);
    RB_AUTO(rb_free_str)
    char *long_plan = rb_asprintf(
        "targets: {s: {size: 1GiB}}\nphases: [{jobs: [{on: [{name: %s, value: a}]}]}]\n",
        long_name);
    check_round_trip(long_plan);
}

/* What is unset stays unset: bs only beside a bssplit, and all that agents take as a default. */
static void test_unset(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = resolved_plan("targets: {s: {size: 1GiB}}\nphases: [{jobs: [{rw: "
                                          "randtrim, bssplit: 4k/60:64k/40}]}]\n");
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    assert_non_null(strstr(text, "    jobs:\n"
                                 "      - name: j0\n"
                                 "        target: s\n"
                                 "        rw: randtrim\n"
                                 "        iodepth: 1\n"
                                 "        numjobs: 1\n"
                                 "        offset: 0B\n"
                                 "        direct: true\n"
                                 "        seq_layout: region\n"
                                 "        bssplit: \"4k/60:64k/40\"\n"));
    check_round_trip(
        "targets: {d: {devices: /dev/ng0n1}}\n"
        "phases: [{destructive: true, jobs: [{rw: randrw, rwmixtrim: 10, fsync: 8, "
        "random_distribution: \"zipf:1.2\", ioengine: io_uring_cmd, hipri: true, "
        "iomem: mmaphuge, fallback: allow, continue_on_error: all, cpus_allowed: \"0-3,8\", "
        "cpus_allowed_policy: split, rate: 1GiB, rate_scope: host, rate_process: poisson, "
        "blockalign: 8k}]}]\n");
}

static void test_presets(void **state)
{
    (void)state;
    static const char *const names[] = {"burn-in",
                                        "drive-review",
                                        "kv-offload-mooncake",
                                        "kv-offload-sustained",
                                        "mixed-70-30",
                                        "mlperf-kv-1",
                                        "mlperf-kv-2",
                                        "mlperf-kv-3",
                                        "pts-throughput",
                                        "pts-wsat",
                                        "quick",
                                        "rand-read",
                                        "seq-read"};
    for (size_t i = 0; i < RB_LEN(names); i++) {
        const char *yaml = rb_preset_find(names[i]);
        assert_non_null(yaml);
        check_round_trip(yaml);
        RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(yaml);
        assert_string_equal(plan->name, names[i]);
        for (size_t t = 0; t < plan->n_targets; t++) /* safe anywhere */
            assert_true(plan->targets[t]->n_devices == 0 && !plan->targets[t]->directory);
        RB_AUTO(rb_free_str) char *summary = rb_preset_summary(names[i]);
        assert_true(yaml[0] == '#' && strlen(summary) > 20 && strlen(summary) < 100);
        for (const char *p = yaml; *p; p++)
            assert_true((unsigned char)*p < 0x80); /* embed.cmake writes it as chars */
    }
    size_t n = 0;
    while (rb_presets[n].name)
        n++;
    assert_int_equal(n, RB_LEN(names));
    assert_null(rb_preset_find("quic"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),   cmocka_unit_test(test_inheritance),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_labels),
        cmocka_unit_test(test_unset),      cmocka_unit_test(test_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
