/* result_health.h - what the drives of a phase said of themselves, held against what we did. Pure.
 *
 * A part of coordinator/result; borrows from the fold. Main thread.
 */
#pragma once

#include "coordinator/merge.h"

typedef struct {
    const rb_health_drive_t *begin, *end;
    const Rackbench__Drive *identity; /* NULL: not in the inventory */
    int64_t temperature_max;          /* RB_HEALTH_UNKNOWN: not known */
    /* By the drive's own count, in steps of RB_DATA_UNIT bytes; RB_HEALTH_UNKNOWN: it has none. */
    int64_t read_bytes, written_bytes;
    bool has_ours; /* false: an array spreads what we did over several drives */
    uint64_t our_read_bytes, our_written_bytes; /* all parts of the phase */
    bool has_waf;                               /* enough was written to tell */
    double waf;                                 /* written to the flash / written by the host */
    /* In the phase; RB_HEALTH_UNKNOWN. */
    int64_t throttled_s, media_errors, used_percent;
    int64_t warnings;    /* RB_WARNING_..., of any reading */
    rb_fold_link_t link; /* the slowest that was read */
    size_t ncarries;
    const char **carries; /* [ncarries] what the plan calls that which lies on it: arrays, files */
} rb_result_drive_t;

enum { RB_WARNINGS = 5 };
extern const struct rb_result_warning {
    int64_t bit;
    const char *key, *text;
} rb_result_warnings[RB_WARNINGS];

enum { RB_WAF_LEAST_UNITS = 100 }; /* of data units written: a step is a hundredth */

/* [*ret_n], owned by the caller: rb_result_health_free. */
rb_result_drive_t *rb_result_health(const rb_fold_t *fold, uint32_t phase, uint32_t host,
                                    size_t *ret_n);
void rb_result_health_free(rb_result_drive_t *drives, size_t n);

enum {
    RB_WINDOW_READ = 1,     /* drives were asked how they are */
    RB_WINDOW_THROTTLED = 2 /* a drive slowed itself down, as far as the readings tell */
};
/* Bits for a window of one host, or with host 0 of all. */
uint32_t rb_result_window_health(const rb_fold_t *fold, uint32_t phase, uint32_t host,
                                 const rb_window_t *window);

/* The drive of a host that the inventory has under this path; NULL: none. */
const Rackbench__Drive *rb_fold_identity(const rb_fold_t *fold, uint32_t host, const char *path);
