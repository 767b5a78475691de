/* trace_load.h - traces from files; the only code in this folder that does I/O.
 *
 *   mooncake   JSON lines: timestamp [ms], input_length, output_length, hash_ids (512 tokens each)
 *   bailian    JSON lines: timestamp [s], chat_id, parent_chat_id, hash_ids (16 tokens each)
 *   azure      CSV: TIMESTAMP (date and time), ContextTokens, GeneratedTokens: no hashes
 *   burstgpt   CSV: Timestamp [s], (Session ID,) ... Request tokens, Response tokens: no hashes
 *   mlperf     CSV of --io-trace-log: Timestamp, Operation, Object_Size_Bytes, Tier, Key, Phase. An
 *              object is a prompt of its own; a Write is its first request, a Read a later one that
 *              hits all of it; what the log evicts is not taken over: our tier decides
 *
 * A trace without hashes is arrivals and lengths only: each block is unique, nothing is ever hit.
 * Mooncake names no session: a request goes on with the conversation whose last prompt's full
 * blocks (two at least: the first is the system prompt that all share) it begins with.
 *
 * Errors name the place: "trace.jsonl:17: input_length is missing: ...". Any thread.
 *
 * Source: kvcache-ai/Mooncake FAST25-release/traces; alibaba-edu/qwen-bailian-usagetraces-anon;
 * Azure/AzurePublicDataset; HPMLL/BurstGPT; mlcommons/storage kv_cache_benchmark tracer.py.
 */
#pragma once

#include "common/llm/trace.h"

typedef enum {
    RB_TRACE_AUTO, /* by the first line */
    RB_TRACE_MOONCAKE,
    RB_TRACE_BAILIAN,
    RB_TRACE_AZURE,
    RB_TRACE_BURSTGPT,
    RB_TRACE_MLPERF
} rb_trace_format_t;

typedef struct {
    rb_trace_format_t format;
    uint32_t block_tokens; /* 0: as the format has it; of those without hashes 16 */
    uint64_t token_bytes;  /* mlperf: of the model, to know an object's tokens; else unused */
    uint64_t max_requests; /* 0: all */
} rb_trace_load_opts_t;

/* auto, mooncake, bailian, azure, burstgpt, mlperf. RB_ERR_INPUT. */
int rb_trace_format_parse(const char *word, rb_trace_format_t *ret, rb_err_t *err);

/* NULL: RB_ERR_INPUT (the file is not there, or not such a trace), RB_ERR_IO. */
rb_trace_t *rb_trace_load(const char *path, const rb_trace_load_opts_t *opts, rb_err_t *err);
/* The same of bytes in memory; name stands in errors. */
rb_trace_t *rb_trace_read(const char *name, const char *text, size_t size,
                          const rb_trace_load_opts_t *opts, rb_err_t *err);
