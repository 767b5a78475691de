/* kv_rig.h - small traces and fleets for tests of the KV planner. */
#pragma once

#include "common/llm/kv_plan.h"
#include "tests/unit/conversation.h"

/* Requests of "0 1 2|0 1 3": blocks of one token each, a second apart. */
static inline rb_trace_t *tiny(const char *requests)
{
    char json[4000] = "";
    size_t at = 0, n = 0;
    RB_AUTO(rb_free_str) char *copy = rb_strdup(requests);
    char *rest = copy;
    for (char *one; (one = strsep(&rest, "|")) != NULL; n++) {
        size_t blocks = 1;
        for (char *c = one; *c; c++)
            blocks += *c == ' ';
        at += (size_t)snprintf(json + at, sizeof(json) - at,
                               "{\"timestamp\": %zu, \"input_length\": %zu, \"output_length\": 1, "
                               "\"hash_ids\": [",
                               1000 * n, blocks);
        for (char *c = one; *c; c++)
            at += (size_t)snprintf(json + at, sizeof(json) - at, *c == ' ' ? ", " : "%c", *c);
        at += (size_t)snprintf(json + at, sizeof(json) - at, "]}\n");
    }
    const rb_trace_load_opts_t opts = {.format = RB_TRACE_MOONCAKE, .block_tokens = 1};
    rb_err_t err = {0};
    rb_trace_t *trace = rb_trace_read("tiny", json, at, &opts, &err);
    if (trace == NULL)
        fail_msg("%s", err.text);
    return trace;
}

enum { RIG_DRIVES = 64 };
static rb_kv_drive_t rig_drives[RIG_DRIVES];

/* Hosts with two racks among them, and as many drives each. */
static inline rb_kv_plan_opts_t fleet(const char *placement, uint32_t hosts, uint32_t drives,
                                      uint64_t slots)
{
    rb_err_t err = {0};
    rb_kv_plan_opts_t opts = {.nhosts = hosts};
    if (rb_kv_place_parse(placement, &opts.place, &err) != 0)
        fail_msg("%s", err.text);
    RB_ASSERT(hosts * drives <= RIG_DRIVES);
    for (uint32_t d = 0; d < hosts * drives; d++)
        rig_drives[d] = (rb_kv_drive_t){
            .host = d / drives, .rack = d / drives % 2, .slots = slots, .weight = 1};
    opts.place.ndrives = hosts * drives;
    opts.place.drives = rig_drives;
    return opts;
}

static inline rb_kv_plan_t *plan_new(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace)
{
    rb_err_t err = {0};
    rb_kv_plan_t *plan = rb_kv_plan_new(opts, trace, &err);
    if (plan == NULL)
        fail_msg("%s", err.text);
    return plan;
}

static inline rb_kv_account_t run_all(rb_kv_plan_t *plan)
{
    rb_kv_step_t step;
    while (rb_kv_plan_step(plan, &step))
        ;
    return *rb_kv_plan_account(plan);
}

static inline rb_kv_account_t run_plan(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace)
{
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(opts, trace);
    return run_all(plan);
}
