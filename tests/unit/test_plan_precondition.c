/* Plans that fill drives: which fills a course needs, and the rules. */
#include "coordinator/plan/expand.h"
#include "coordinator/plan/precondition.h"
#include "coordinator/plan/presets.h"
#include "tests/unit/plan_fixture.h"

#define TARGETS "targets: {s: {size: 1GiB, files: 2}, t: {size: 1MiB}}\n"

/* Phase p is in line 4, from column 5 on; its job in line 5. */
#define FILLED(keys, job)                                                                          \
    "targets: {s: {size: 1GiB}}\nphases:\n  - name: p\n    " keys "\n    jobs: [{" job "}]\n"

static const bad_plan_t bad[] = {
    {FILLED("precondition: {passes: 101}", ""),
     "p.yaml:4:20: passes: 101 is out of range; 0 to 100 is right"},
    {FILLED("precondition: {iodepth: 0}", ""),
     "p.yaml:4:20: iodepth: 0 is out of range; 1 to 4096 is right"},
    {FILLED("precondition: {rw: randrw}", ""),
     "p.yaml:4:20: precondition: rw: write or randwrite is right"},
    {FILLED("precondition: {bs: 1000}", ""), "p.yaml:4:20: precondition: bs is no multiple of 512"},
    {FILLED("recondition: always", ""), "p.yaml:4:5: recondition without a precondition; add "
                                        "precondition: {passes: 2}, or leave it out"},
    {FILLED("fill: {passes: 1}", ""),
     "p.yaml:4:5: fill is what a precondition makes; write precondition: {passes: 2}"},
    {FILLED("precondition: {}", "bssplit: 4k/50:8k/50"),
     "p.yaml:4:5: precondition needs a bs where the job has a bssplit: add bs: 128KiB"},
    {FILLED("precondition: {}", "on: {a: b}}, {on: {a: c}"),
     "p.yaml:4:5: precondition fills target 's' once, and jobs 'j0' and 'j1' use it on different "
     "hosts; give both the same on, or put them in separate phases"},
    {"targets: {d: {devices: [/dev/x]}}\nphases:\n  - name: p\n    precondition: {}\n"
     "    jobs: [{}]\n",
     "p.yaml:5:12: job 'fill' writes to the devices of target 'd', which destroys what is on them; "
     "if that is meant, add destructive: true to phase 'p'"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
}

/* The course in words: "fill write 4096 x2 | p0 | ..." */
static char *course(const char *text)
{
    static const char *const modes[] = {"read", "write",  "randread", "randwrite",
                                        "rw",   "randrw", "trim",     "randtrim"};
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(text);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *run = rb_plan_expand(plan);
    char *words = rb_strdup("");
    for (size_t i = 0; i < run->n_phases; i++) {
        const Rackbench__Phase *p = run->phases[i];
        const Rackbench__Job *job = p->jobs[0];
        RB_AUTO(rb_free_str) char *before = words;
        words = p->fill == NULL ? rb_asprintf("%s| %s ", before, p->name)
                                : rb_asprintf("%s| %s %zuk x%u ", before, modes[job->rw],
                                              (size_t)job->bs_bytes / 1024, p->fill->passes);
        assert_true(p->fill == NULL || (job->iodepth > 0 && job->numjobs == 1));
    }
    return words;
}

static void expect_course(const char *text, const char *want)
{
    RB_AUTO(rb_free_str) char *got = course(text);
    assert_string_equal(got, want);
}

#define PHASES             "precondition: {passes: 1}\nphases:\n"
#define P(name, keys, job) "  - {name: " name ", " keys "jobs: [{target: s, " job "}]}\n"

/* A change of the transfer size or of the order asks for a fill of the new kind; reads change
 * nothing, writes of another kind do. */
static void test_on_change(void **state)
{
    (void)state;
    expect_course(TARGETS PHASES P("a", "", "rw: write, bs: 128k") P("b", "", "rw: read, bs: 128k")
                      P("c", "", "rw: randread, bs: 128k") P("d", "", "rw: randread, bs: 64k")
                          P("e", "", "rw: randwrite, bs: 64k"),
                  "| write 128k x1 | a | b | randwrite 128k x1 | c | randwrite 64k x1 | d | e ");
    expect_course(TARGETS PHASES P("a", "precondition: {bs: 128k, rw: write}, ", "rw: randread")
                      P("b", "precondition: {passes: 0}, ", "rw: randwrite, bs: 8k")
                          P("c", "precondition: {bs: 128k, rw: write}, ", "rw: randread"),
                  "| write 128k x2 | a | b | write 128k x2 | c ");
    expect_course(TARGETS "recondition: always\n" PHASES P("a", "", "rw: read")
                      P("b", "", "rw: read"),
                  "| write 4k x1 | a | write 4k x1 | b ");
}

/* Points of a sweep are phases: one fill where they are alike, more where they are not. */
static void test_sweeps(void **state)
{
    (void)state;
    expect_course(TARGETS PHASES P("a", "sweep: {iodepth: [1, 2]}, ", "rw: randwrite, bs: 8k"),
                  "| randwrite 8k x1 | a | a ");
    expect_course(TARGETS PHASES P("a", "sweep: {bs: [16k, 8k]}, ", "rw: randread"),
                  "| randwrite 16k x1 | a | randwrite 8k x1 | a ");
}

static void test_discard_and_targets(void **state)
{
    (void)state;
    static const char text[] =
        TARGETS "phases:\n  - {name: a, stop_when: {temperature: 60}, precondition: {discard: "
                "true, iodepth: 7}, jobs: [{target: s, rw: "
                "read}, {target: s}, {target: t}]}\n";
    expect_course(text, "| trim 65536k x1 | write 4k x2 | a ");
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(text);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *run = rb_plan_expand(plan);
    const Rackbench__Phase *fill = run->phases[1];
    assert_int_equal(fill->n_jobs, 2); /* one a target */
    assert_string_equal(fill->jobs[1]->target, "t");
    assert_int_equal(fill->jobs[1]->iodepth, 7);
    assert_int_equal(fill->stop_when->temperature, 60);
    assert_int_equal(rb_fill_file_bytes(run, fill), 2 * (2 * RB_GIB + RB_MIB));
}

/* The reviewers' course: the published grids, and a fill whenever size or order changes. */
static void test_drive_review(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(rb_preset_find("drive-review"));
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *run = rb_plan_expand(plan);
    size_t fills = 0, points = 0;
    for (size_t i = 0; i < run->n_phases; i++) {
        fills += run->phases[i]->fill != NULL;
        points += run->phases[i]->point != NULL;
    }
    assert_int_equal(fills, 5);
    assert_int_equal(points, 2 * 24 + 6 * 30);
    assert_int_equal(run->phases[0]->fill->passes, 2);
    assert_int_equal(run->n_phases, fills + points + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),          cmocka_unit_test(test_on_change),
        cmocka_unit_test(test_sweeps),       cmocka_unit_test(test_discard_and_targets),
        cmocka_unit_test(test_drive_review),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
