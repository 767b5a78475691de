/* targets.h - from the plan's targets to drives and files of this host, and whether they may be
 * used.
 *
 * Files are <directory>/rackbench.HOST.TARGET.N; without a directory the agent's scratch directory.
 * Devices may be globs. Nothing here writes; the facts for the guard come from agent/drives.
 * A probe's thread: it may block on drives and file systems. Signatures are looked for on drives
 * that are written to.
 */
#pragma once

#include "agent/engine.h"

typedef struct {
    const char *scratch;            /* made when first needed */
    const char *const *allow_paths; /* [nallow_paths] directories, besides scratch */
    size_t nallow_paths;
    const char *const *allow_devices; /* [nallow_devices] globs of paths that may be written */
    size_t nallow_devices;
    uint64_t reserve_bytes; /* that a layout leaves free on a file system; 0: a twentieth of it, at
                               most 1 GiB; 1: nothing */
    bool allow_wipe; /* drives that a plan's `wipe` names may be written though they are signed */
    bool embedded;   /* also accept the directories that the plan names */
} rb_allowances_t;

typedef struct rb_targets rb_targets_t;

/* Resolves every target of every phase for this host and asks the guard; never touches a drive's
 * data and creates nothing. A job's `on` labels are the coordinator's business: every job counts.
 * A verdict (refused, warning) is part of the result, not an error. Errors: directory missing or
 * not allowed, no device matches, size does not fit, one phase writes to a drive by two targets
 * (RB_ERR_INPUT), no free space (RB_ERR_IO).
 * plan, host and allowances are borrowed and outlive the result. */
rb_targets_t *rb_targets_new(const Rackbench__Plan *plan, const char *host,
                             const rb_allowances_t *allowances, rb_err_t *err);
void rb_targets_destroy(rb_targets_t **targets);

/* The message for the coordinator; borrowed until destroy. */
const Rackbench__Loaded *rb_targets_loaded(const rb_targets_t *targets);

/* Subjects of the targets that a phase uses, after asking the guard again (RB_ERR_UNSAFE names path
 * and reason) and looking again which files are there. Makes the scratch directory where a layout
 * needs it. RB_ERR_INPUT: a job of it does not fit what the plan was resolved to. *ret_subjects is
 * borrowed until the next call. */
int rb_targets_phase(rb_targets_t *targets, const Rackbench__Phase *phase,
                     const rb_subject_t **ret_subjects, size_t *ret_n, rb_err_t *err);

/* Of the phase last asked for: the logs of its jobs, each with the directory that was judged.
 * Borrowed until the next call of rb_targets_phase; the paths are the phase's. */
const rb_log_place_t *rb_targets_logs(const rb_targets_t *targets, size_t *ret_n);

typedef struct {
    uint32_t files;
    uint64_t bytes; /* their sizes together */
} rb_cleaned_t;

/* Removes the files laid out and half laid out for this plan's targets under this host's name, and
 * the scratch directory if that leaves it empty. Needs no rb_targets_new, which a full disk would
 * fail. RB_ERR_INPUT: a directory is not allowed; RB_ERR_IO: a file cannot be removed. *ret counts
 * what is gone, on failure too. */
int rb_targets_clean(const Rackbench__Plan *plan, const char *host,
                     const rb_allowances_t *allowances, rb_cleaned_t *ret, rb_err_t *err);
