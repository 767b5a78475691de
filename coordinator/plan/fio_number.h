/* fio_number.h - numbers as fio reads them, which is not as plans do: with kb_base 1024, its
 * default, 4k is 4096 and 4KiB is 4000; with 1000 it is the other way round.
 *
 * Any thread; no state. RB_ERR_INPUT says what is wrong and what would be right; the place is the
 * caller's to put before it. Unlike fio, what it would read a part of (1.5k is 1 to it, and
 * 5*1024 is 5) is refused.
 */
#pragma once

#include "coordinator/plan/fio_import.h"

typedef struct {
    uint32_t kb_base;          /* 1024 or 1000 */
    const rb_fio_opts_t *opts; /* for $pagesize, $ncpus and $mb_memory, and arithmetic with them */
} rb_fio_units_t;

/* Sizes and counts alike. */
int rb_fio_number(const char *text, const rb_fio_units_t *units, uint64_t *ret, rb_err_t *err);
/* d h m s ms us; a number alone is in unit_ns. [ns] */
int rb_fio_time(const char *text, uint64_t unit_ns, uint64_t *ret_ns, rb_err_t *err);
/* 0 or 1; "" is 1. */
int rb_fio_flag(const char *text, bool *ret, rb_err_t *err);
/* "20%": false where it is none. */
bool rb_fio_percent(const char *text, uint32_t *ret_percent);
