/* terminal.h - what a run is doing, a line a second, while it is doing it.
 *
 *   steady 3/5 step 4 at 12.3k IOPS [#####.....] 6s left  ...
 *   randread 2/5 [#####.....] 12s left  123.4k IOPS  482.0 MiB/s  p99 1.24 ms  4/4 hosts
 *
 * Reads the fold only. On a terminal the line rewrites itself; elsewhere each is a line of its own
 * without control characters, and one that says nothing new is left out. Main thread.
 */
#pragma once

#include "common/units.h"
#include "coordinator/merge.h"

typedef enum {
    RB_LIVE_PLAIN,     /* a pipe or a log: plain lines */
    RB_LIVE_TTY,       /* one line, rewritten; coloured unless NO_COLOR is set */
    RB_LIVE_QUIET,     /* nothing */
    RB_LIVE_JSON_LINES /* one JSON object per state, cluster window and event */
} rb_live_mode_t;

typedef struct {
    const char *word;                 /* "connecting", "laying out", "draining"; "" while it runs */
    const char *phase;                /* its name; NULL: none yet */
    uint32_t phase_number, phases;    /* 2 of 5; 0: none yet */
    uint32_t phase_index;             /* number of the step in the run */
    uint32_t step;                    /* of a search; 0: none */
    uint64_t rate_iops;               /* of that step; 0: its closed loop */
    char point[64];                   /* of a sweep: "iodepth 4, numjobs 2"; "": none */
    uint64_t elapsed_ns, total_ns;    /* of the phase; total 0: not bound by time */
    uint64_t done_bytes, total_bytes; /* of a layout or a fill; total 0: none under way */
    uint32_t hosts_ready, hosts;      /* connected, ready or running; of all */
    const rb_fold_t *fold;            /* NULL: no figures yet */
} rb_live_state_t;

typedef struct rb_live rb_live_t;

/* `out` is borrowed and outlives the object. */
rb_live_t *rb_live_new(FILE *out, rb_live_mode_t mode, rb_units_t units);
void rb_live_destroy(rb_live_t **live);

/* Fills point; phase as it is run. */
void rb_live_name_point(rb_live_state_t *state, const Rackbench__Phase *phase);

/* About once a second, whenever the state changed, and once after the last row. */
void rb_live_update(rb_live_t *live, const rb_live_state_t *state);
/* Clears the line, for what is printed next. */
void rb_live_end(rb_live_t *live);
