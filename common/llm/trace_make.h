/* trace_make.h - traces that are made up: users who talk in turns, from a seed.
 *
 * A user begins a conversation with one of `systems` system prompts (shared by all who draw it) and
 * adds new context; the answer and the next context follow what was there, so a turn's prompt is
 * all of the conversation so far. After each turn it goes on with the given chance, else the user
 * begins another one. Between arrivals lies the think time: arrivals do not wait for answers, so
 * the load is open and the same whatever serves it.
 *
 *   generate:KEY=VALUE,...  of: users, duration, context, output, think, go_on, system, systems,
 *                           max, tokens_per_block, seed; ranges as 512-4096, uniform
 *   generate:chatbot        a kind of user first, then what differs: chatbot, coding, document, or
 *   generate:mlperf,users=200     mlperf: one of the three for each user
 *
 * Kinds: chatbot   context 512-4096, output 50-200, think 0.1-0.5 s
 *        coding    context 4096-25000, output 100-500, think 0.2-1 s
 *        document  context 4096-16384, output 200-800, think 0.3-1.5 s
 * context is the most that a user adds: drawn once for a user, and each turn adds a quarter of it
 * to all of it. A prompt of 10000 tokens and more has no answer (prefill only). MLPerf's benchmark
 * reads a whole object 1 + output / 32 times while it decodes; an engine loads a prefix once, and
 * so does this.
 *
 * Pure, any thread. Source: mlcommons/storage kv_cache_benchmark workload.py, Rules.md of v3.0 for
 * the CLOSED options; the rest is ours.
 */
#pragma once

#include "common/llm/trace_load.h"

typedef struct {
    uint64_t least, most;
} rb_trace_range_t;

typedef struct {
    rb_trace_range_t context, output; /* tokens */
    rb_trace_range_t think_ns;
} rb_trace_user_t;

typedef struct {
    uint32_t users, nkinds;
    rb_trace_user_t kinds[3]; /* [nkinds], a user is one of them */
    uint64_t duration_ns;
    uint32_t go_on_ppm;
    uint32_t system_tokens, systems;
    uint32_t max_tokens; /* a conversation that is longer ends */
    uint32_t block_tokens;
    uint64_t seed;
} rb_trace_make_opts_t;

/* What stands behind "generate:". RB_ERR_INPUT, *ret untouched. */
int rb_trace_make_parse(const char *text, rb_trace_make_opts_t *ret, rb_err_t *err);
/* NULL and RB_ERR_INPUT: more requests or blocks than trace.h allows, or none. */
rb_trace_t *rb_trace_make(const rb_trace_make_opts_t *opts, rb_err_t *err);

/* A trace by its name in a plan: "generate:..." or a file, read by opts. */
rb_trace_t *rb_trace_open(const char *name, const rb_trace_load_opts_t *opts, rb_err_t *err);
