/* sample_unpack.h - what the files that read rows share: fields that many rows have
 * (sample_unpack.c: any row and the coordinator's own, sample_unpack_agent.c: those of agents).
 */
#pragma once

#include "proto/sample_cursor.h"

static inline uint32_t take_phase(rb_cursor_t *c)
{
    return rb_cursor_u32(c, "phase", RB_MAX_PHASES - 1);
}

static inline int32_t take_phase_or_none(rb_cursor_t *c)
{
    return (int32_t)rb_cursor_i64(c, "phase", -1, RB_MAX_PHASES - 1);
}

static inline uint32_t take_job(rb_cursor_t *c)
{
    return rb_cursor_u32(c, "job", RB_MAX_JOBS - 1);
}

static inline uint32_t take_target(rb_cursor_t *c)
{
    return rb_cursor_u32(c, "target", RB_MAX_TARGETS - 1);
}

static inline uint32_t take_drive(rb_cursor_t *c)
{
    return rb_cursor_u32(c, "drive", RB_MAX_DRIVES - 1);
}

static inline uint64_t take_u64(rb_cursor_t *c, const char *field)
{
    return rb_cursor_u64(c, field, UINT64_MAX);
}

static inline int64_t take_i64(rb_cursor_t *c, const char *field)
{
    return rb_cursor_i64(c, field, INT64_MIN, INT64_MAX);
}

/* sample_unpack_agent.c */
void rb_take_window(rb_cursor_t *c, rb_row_t *row);
void rb_take_worker(rb_cursor_t *c, rb_row_t *row);
void rb_take_kernel(rb_cursor_t *c, rb_row_t *row);
void rb_take_event(rb_cursor_t *c, rb_row_t *row);
void rb_take_drives(rb_cursor_t *c, rb_row_t *row);
void rb_take_layout(rb_cursor_t *c, rb_row_t *row);
void rb_take_cpu(rb_cursor_t *c, rb_row_t *row);
void rb_take_placement(rb_cursor_t *c, rb_row_t *row);
