/* sample_kv_rows.h - the rows of a KV cache: part of proto/sample.h, which includes it. */
#pragma once

#include "common/base.h"
#include "proto/sample_parts.h"

/* What a drive did of a request of a KV cache: its share of a restore, or blocks that were written
 * together. Times since T0 on the common clock. */
typedef struct {
    uint32_t request; /* number in the trace, loops counted on */
    rb_part_t part;   /* of the phase, that it completed in */
    bool writes;      /* else it restores */
    int64_t due_at_ns;
    int64_t first_at_ns;    /* its first layer was complete, of all blocks here */
    int64_t end_at_ns;      /* all of it was */
    uint64_t bytes, blocks; /* blocks: pieces of them, that are here */
    uint32_t drives, hosts; /* that the restore is on, in the cluster */
    uint32_t tokens;        /* that the restore saves from being computed */
    uint32_t failed;        /* I/Os that failed, or were wrong */
} rb_kv_row_part_t;

enum { RB_MAX_KV_ROW_PARTS = 4096 }; /* of a row */

typedef struct {
    uint32_t phase, job, target, drive;
    size_t nparts;
    rb_kv_row_part_t *parts; /* [nparts] */
} rb_row_kv_parts_t;

/* What the planner says of the whole cluster: the same in each row of a phase. Sums over requests;
 * hits are prefix-consecutive. */
typedef struct {
    uint64_t requests, references; /* blocks of prompts */
    uint64_t gpu_hits, dram_hits, drive_hits;
    uint64_t input_tokens, hit_tokens;
} rb_kv_hits_t;

typedef struct {
    uint32_t phase, job, target, drive;
    uint64_t read_blocks, written_blocks, evicted_blocks; /* pieces, as planned for the phase */
    uint64_t waited_for_write;  /* reads that were due before their block was on the drive */
    uint64_t not_begun;         /* parts that were due and not complete at its end */
    uint64_t slots, slot_bytes; /* of the tier */
    uint64_t prefilled;         /* slots that were written before T0 */
    rb_kv_hits_t planned;       /* all that is due in the phase */
    rb_kv_hits_t filled;        /* from when all drives were full on; zero: they never were */
    uint64_t infinite_hits, infinite_tokens; /* of a cache that forgets nothing */
} rb_row_kv_drive_t;
