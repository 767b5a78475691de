/* plan_fixture.h - what the tests of plans share: load a text, or expect its message. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/plan/load.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

/* A plan of one job, in line 5 from column 10 on. */
#define PHASE(job) "phases:\n  - name: p\n    jobs:\n      - {" job "}\n"
#define JOB(job)   "targets: {s: {size: 1GiB}}\n" PHASE(job)

/* A plan that is refused, and its whole message. */
typedef struct {
    const char *text;
    const char *message;
} bad_plan_t;

typedef enum { LOADED, RESOLVED } plan_stage_t;

static inline Rackbench__Plan *load_plan(const char *text, rb_places_t **ret_places)
{
    rb_err_t err = {0};
    Rackbench__Plan *plan = rb_plan_load(text, strlen(text), "p.yaml", ret_places, &err);
    if (!plan)
        fail_msg("%s\n%s", text, err.text);
    return plan;
}

static inline Rackbench__Plan *resolved_plan(const char *text)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    Rackbench__Plan *plan = load_plan(text, &places);
    if (rb_plan_resolve(plan, places, &err) != 0)
        fail_msg("%s\n%s", text, err.text);
    return plan;
}

static inline void expect_message(const char *text, size_t size, plan_stage_t stage,
                                  const char *message)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = rb_plan_load(text, size, "p.yaml", &places, &err);
    if (stage == RESOLVED && !plan)
        fail_msg("does not load: %s\n%s", text, err.text);
    if (stage == RESOLVED ? rb_plan_resolve(plan, places, &err) == 0 : plan != NULL)
        fail_msg("accepted: %s", text);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, message);
}

static inline void expect_messages(const bad_plan_t *bad, size_t n)
{
    for (size_t i = 0; i < n; i++)
        expect_message(bad[i].text, strlen(bad[i].text), RESOLVED, bad[i].message);
}

static inline void expect_good(const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(texts[i]);
        assert_non_null(plan);
    }
}

static inline void assert_plans_equal(const Rackbench__Plan *a, const Rackbench__Plan *b)
{
    rb_bytes_t x = rb_plan_pack(a), y = rb_plan_pack(b);
    assert_int_equal(x.size, y.size);
    assert_memory_equal(x.data, y.data, x.size);
    rb_bytes_clear(&x);
    rb_bytes_clear(&y);
}
