/* sample_parts.h - kinds of operation, and parts of a phase: what rows are keyed by. Part of
 * proto/sample.h, which includes it.
 */
#pragma once

typedef enum { RB_OP_READ, RB_OP_WRITE, RB_OP_TRIM, RB_OP_SYNC, RB_OP_COUNT } rb_op_t;
extern const char *const rb_op_names[RB_OP_COUNT]; /* "read", "write", "trim", "sync" */

/* Where in a phase an operation completed. Only MAIN counts (measurement.md 1). */
typedef enum {
    RB_PART_SETUP,
    RB_PART_RAMP,
    RB_PART_MAIN,
    RB_PART_DRAINED,
    RB_PART_COUNT
} rb_part_t;
extern const char *const rb_part_names[RB_PART_COUNT];
