/* trace_build.h - how the readers of trace_load put a trace together. Not for others. */
#pragma once

#include "common/llm/id_map.h"
#include "common/llm/trace_load.h"

typedef struct {
    rb_trace_t *trace;
    uint64_t *ids;        /* [trace->nblocks] foreign */
    rb_id_map_t sessions; /* foreign key to number */
    uint64_t fresh;       /* blocks without a hash so far */
    const rb_trace_load_opts_t *opts;
    rb_trace_format_t format;
    int columns[8]; /* of a CSV: which is where, -1: not there */
} rb_trace_build_t;

typedef struct {
    double due_s;
    uint64_t input_tokens, output_tokens;
    uint64_t session; /* foreign key */
} rb_trace_record_t;

/* Adds a request without blocks; rb_trace_build_block adds to the last one. RB_ERR_INPUT, without
 * the place. */
int rb_trace_build_request(rb_trace_build_t *b, const rb_trace_record_t *record, rb_err_t *err);
int rb_trace_build_block(rb_trace_build_t *b, uint64_t id, rb_err_t *err);

/* A line [no newline] of a file of the builder's format; may be cut up. RB_ERR_INPUT, without the
 * place. */
int rb_trace_json_line(rb_trace_build_t *b, char *line, rb_err_t *err);
int rb_trace_csv_header(rb_trace_build_t *b, char *line, rb_err_t *err);
int rb_trace_csv_line(rb_trace_build_t *b, char *line, rb_err_t *err);
