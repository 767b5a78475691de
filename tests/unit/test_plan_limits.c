/* test_plan_limits.c - every limit of a plan: right at it, refused with its place one beyond, and
 * in the manual. */
#include "common/units.h"
#include "coordinator/plan/limits.h"
#include "coordinator/plan/load_yaml.h"
#include "coordinator/plan/value.h"
#include "tests/unit/plan_fixture.h"

#define FILE_TARGET "targets: {s: {size: 1GiB}}\n"
#define DEVICES     "targets: {d: {devices: [/dev/sdb]}}\n"
#define READ        PHASE("rw: read")

/* The plan is head, the value, tail. The value of a list is so many of item (%zu: which), of a text
 * so many x behind item. */
typedef struct {
    const char *path, *head, *tail, *item;
} case_t;

#define OF_JOB(key, more)        "phases.jobs." key, FILE_TARGET PHASE_HEAD more key ": ", "}\n", ""
#define OF_DEVICE_JOB(key, more) "phases.jobs." key, DEVICES PHASE_HEAD more key ": ", "}\n", ""
#define OF_PHASE(what, key, more)                                                                  \
    "phases." what "." key, FILE_TARGET "phases:\n  - runtime: 1s\n    " what ": {" more key ": ", \
        "}\n    jobs: [{}]\n", ""
#define PHASE_HEAD "phases:\n  - name: p\n    jobs:\n      - {"

static const case_t cases[] = {
    {"name", "name: ", "\n" FILE_TARGET READ, ""},
    {"targets", "targets: {", "}\n" PHASE("target: t1"), "t%zu: {size: 1GiB}"},
    {"phases", FILE_TARGET "phases: [", "]\n", "{jobs: [{}]}"},
    {"wipe", "wipe: [", "]\n" FILE_TARGET READ, "S%zu"},
    {"min_hosts", "on_host_loss: continue\nmin_hosts: ", "\n" FILE_TARGET READ, ""},
    {"interval", "interval: ", "\n" FILE_TARGET READ, ""},
    {"max_skew", "max_skew: ", "\n" FILE_TARGET READ, ""},
    {"lease", "lease: ", "\n" FILE_TARGET READ, ""},
    {"targets.name", "targets: {", ": {size: 1GiB}}\n" READ, ""},
    {"targets.files", "targets: {s: {size: 1GiB, files: ", "}}\n" READ, ""},
    {"targets.size", "targets: {s: {size: ", "}}\n" READ, ""},
    {"targets.devices", "targets: {d: {devices: [", "]}}\n" READ, "/dev/sd%zu"},
    {"targets.model", "targets: {d: {model: [", "]}}\n" READ, "M%zu"},
    {"targets.serial", "targets: {d: {serial: [", "]}}\n" READ, "S%zu"},
    {"targets.pci", "targets: {d: {pci: [", "]}}\n" READ, "\"0000:81:00.%zu\""},
    {"phases.name", FILE_TARGET "phases: [{name: ", ", jobs: [{}]}]\n", ""},
    {"phases.jobs", FILE_TARGET "phases: [{jobs: [", "]}]\n", "{}"},
    {OF_JOB("name", "")},
    {"phases.jobs.on", FILE_TARGET PHASE_HEAD "on: {", "}}\n", "l%zu: a"},
    {OF_JOB("rwmixread", "rw: randrw, ")},
    {OF_JOB("rwmixtrim", "rw: randwrite, ")},
    {OF_JOB("bs", "")},
    {OF_JOB("blockalign", "rw: randread, ")},
    {OF_JOB("iodepth", "")},
    {OF_JOB("iodepth_batch_complete_min", "iodepth: 4096, ")},
    {OF_JOB("numjobs", "rw: randread, ")},
    {OF_DEVICE_JOB("size", "")},
    {OF_DEVICE_JOB("offset", "")},
    {OF_JOB("io_size", "")},
    {OF_JOB("number_ios", "")},
    {OF_JOB("runtime", "")},
    {OF_JOB("ramp_time", "runtime: 1s, ")},
    {OF_JOB("rate_iops", "")},
    {OF_JOB("rate", "")},
    {OF_JOB("thinktime", "")},
    {OF_JOB("thinktime_blocks", "thinktime: 1s, ")},
    {OF_JOB("due_spin", "rate_iops: 1, ")},
    {OF_JOB("latency_target", "runtime: 1s, ")},
    {OF_DEVICE_JOB("power_state", "")},
    {OF_JOB("buffer_compress_percentage", "rw: write, ")},
    {OF_JOB("dedupe_percentage", "rw: write, ")},
    {"phases.jobs.verify_log",
     FILE_TARGET PHASE_HEAD "rw: write, verify: true, verify_log: ", "}\n", "/"},
    {OF_PHASE("precondition", "passes", "")},
    {OF_PHASE("precondition", "bs", "")},
    {OF_PHASE("precondition", "iodepth", "")},
    {OF_PHASE("steady_state", "window", "max: 1000, ")},
    {OF_PHASE("steady_state", "max", "")},
    {OF_PHASE("steady_state", "range", "")},
    {OF_PHASE("steady_state", "slope", "")},
    {"phases.jobs.on.name", FILE_TARGET PHASE_HEAD "on: {", ": a}}\n", ""},
    {"phases.jobs.on.value", FILE_TARGET PHASE_HEAD "on: {a: ", "}}\n", ""},
};

typedef struct {
    char *path; /* owned */
    const ProtobufCFieldDescriptor *field;
    const rb_range_t *range;
} limit_t;

/* Calls `with` for each row of the table. */
static void each_limit(void (*with)(const limit_t *limit))
{
    for (const rb_limits_t *l = rb_limits; l->of != NULL; l++)
        for (size_t i = 0; i < l->nranges; i++) {
            RB_AUTO(rb_free_str) char *path = rb_asprintf("%s%s", l->path, l->ranges[i].key);
            limit_t limit = {path, rb_schema_field(l->of, l->ranges[i].key), &l->ranges[i]};
            assert_non_null(limit.field);
            with(&limit);
        }
}

static bool is_list(const limit_t *limit)
{
    return limit->field->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_text(const limit_t *limit)
{
    return !is_list(limit) && limit->field->type == PROTOBUF_C_TYPE_STRING;
}

static void put_value(FILE *out, const limit_t *limit, const case_t *c, uint64_t n)
{
    char number[RB_FMT_SIZE];
    if (is_text(limit)) {
        fputs(c->item, out);
        for (size_t i = strlen(c->item); i < n; i++)
            fputc('x', out);
    } else if (is_list(limit)) {
        const char *which = strstr(c->item, "%zu");
        int before = which ? (int)(which - c->item) : (int)strlen(c->item);
        for (size_t i = 1; i <= n; i++) {
            fprintf(out, "%.*s", before, c->item);
            if (which)
                fprintf(out, "%zu%s", i, which + strlen("%zu"));
            fputs(i < n ? ", " : "", out);
        }
    } else if (rb_schema_number(limit->field) == RB_NUMBER_PPM) {
        fprintf(out, "%lluppm", (unsigned long long)n);
    } else {
        fputs(rb_value_number(limit->field, n, number), out);
    }
}

static char *make_plan(const limit_t *limit, const case_t *c, uint64_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(c->head, out);
    put_value(out, limit, c, n);
    fputs(c->tail, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* The message of a plan that is refused: file, line and column, then whose limit it is. */
static void expect_refused(const limit_t *limit, const char *text)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = rb_plan_load(text, strlen(text), "p.yaml", &places, &err);
    if (plan && rb_plan_resolve(plan, places, &err) == 0)
        fail_msg("%s: one beyond is accepted", limit->path);
    unsigned line, column;
    int after = 0;
    if (sscanf(err.text, "p.yaml:%u:%u: %n", &line, &column, &after) != 2 || after == 0)
        fail_msg("%s: no place in '%s'", limit->path, err.text);
    bool by_parser = limit->range->max == RB_MAX_PLAN_ITEMS && is_list(limit);
    if (!strstr(err.text + after, by_parser ? "4096 entries" : limit->range->key))
        fail_msg("%s: '%s' does not name it", limit->path, err.text);
}

static void check_limit(const limit_t *limit)
{
    const case_t *c = cases;
    while (c < cases + RB_LEN(cases) && strcmp(c->path, limit->path) != 0)
        c++;
    if (c == cases + RB_LEN(cases))
        fail_msg("no plan here has %s", limit->path);
    RB_AUTO(rb_free_str) char *at = make_plan(limit, c, limit->range->max);
    RB_AUTO(rb_free_str) char *beyond = make_plan(limit, c, limit->range->max + 1);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(at);
    assert_non_null(plan);
    expect_refused(limit, beyond);
}

static void test_each(void **state)
{
    (void)state;
    each_limit(check_limit);
}

static char *manual; /* rackbench-plan(5) */

static void check_manual(const limit_t *limit)
{
    char number[RB_FMT_SIZE];
    snprintf(number, sizeof(number), "%llu", (unsigned long long)limit->range->max);
    if (!is_text(limit) && !is_list(limit))
        rb_value_number(limit->field, limit->range->max, number);
    RB_AUTO(rb_free_str)
    char *row = rb_asprintf(".It Cm %s Ta %s%s\n", limit->path, number,
                            is_list(limit)   ? " entries"
                            : is_text(limit) ? " bytes"
                                             : "");
    if (!strstr(manual, row))
        fail_msg("rackbench-plan(5), LIMITS, has no row\n%s", row);
}

static void test_manual(void **state)
{
    (void)state;
    size_t size = 0;
    FILE *in = fopen(RB_SOURCE_DIR "/deploy/man/rackbench-plan.5", "re");
    assert_non_null(in);
    assert_true(getdelim(&manual, &size, '\0', in) > 0);
    fclose(in);
    each_limit(check_manual);
    free(manual);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each), cmocka_unit_test(test_manual)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
