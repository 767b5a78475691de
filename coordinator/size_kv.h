/* size_kv.h - what a KV tier would hit, move and wear, computed from a trace without any I/O, by
 * the planner that a run goes by.
 *
 * Capacities are of a drive, in bytes as they are stored (padding included). Rates are means over
 * the trace at the speed asked for; endurance is at the trace's own speed.
 * Main thread.
 */
#pragma once

#include "common/llm/kv_plan.h"
#include "common/llm/trace_make.h"
#include "coordinator/analysis/endurance.h"

enum { RB_SIZE_MAX_ROWS = 32 };

typedef struct {
    rb_kv_geometry_opts_t model; /* tokens_per_block 0: the trace's */
    const char *trace;           /* borrowed: file */
    rb_trace_load_opts_t load;
    rb_kv_plan_opts_t plan; /* rule, ways and apart of place; drives come of the numbers below */
    uint32_t nodes, drives; /* drives of each node */
    uint64_t capacity_bytes, rated_bytes; /* of a drive; 0: no limit; rated as capacity */
    uint64_t gpu_bytes, dram_bytes;       /* of a server */
    uint64_t jitter_ns, seed;
    bool decode;  /* answers make blocks, too */
    double years; /* drives are to last */
    double duty;  /* (0, 1] */
} rb_size_opts_t;

void rb_size_opts_init(rb_size_opts_t *o);

typedef struct {
    uint64_t blocks; /* of the whole tier */
    uint64_t bytes;
    double hit_ratio; /* of blocks, one pool, the policy and admission asked for */
} rb_size_row_t;

typedef struct {
    char name[16]; /* "striped", "mirrored" */
    uint32_t copies;
    rb_endurance_t wear;
    bool asked_for; /* the placement given */
} rb_size_wear_t;

typedef struct {
    uint64_t read_bytes, written_bytes, evicted_bytes; /* in all, padding included */
    double read_share;                                 /* of all hosts' reads */
} rb_size_host_t;

typedef struct {
    rb_size_opts_t opts; /* with what was left out filled in */
    rb_kv_geometry_t geometry;
    rb_trace_stats_t stats;
    double seconds; /* of all loops at this speed */
    rb_kv_account_t account, filled;
    uint64_t slots;                                       /* of a drive; RB_KV_UNLIMITED */
    double read_bytes_per_s, write_bytes_per_s;           /* of the cluster */
    double peak_read_bytes_per_s, peak_write_bytes_per_s; /* of the worst minute, each */
    double new_tokens_per_s;                              /* recomputed */
    size_t nhosts;
    rb_size_host_t *hosts; /* [nhosts] */
    size_t nrows;
    rb_size_row_t rows[RB_SIZE_MAX_ROWS];
    size_t nwear; /* 0: drives have no rated capacity */
    rb_size_wear_t wear[2];
} rb_size_t;

/* NULL: RB_ERR_INPUT, RB_ERR_IO (the trace). */
rb_size_t *rb_size_kv(const rb_size_opts_t *opts, rb_err_t *err);
void rb_size_destroy(rb_size_t **size);
