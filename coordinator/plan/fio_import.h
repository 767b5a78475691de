/* fio_import.h - a plan from a fio job file, with a note on everything that is not what it was.
 *
 *   lines and sections (fio_lex) -> options by a table (fio_options) -> jobs (fio_job, fio_map*)
 *   -> targets (fio_target) -> phases and read-backs (fio_import)
 *
 * Nothing is dropped in silence: an option is a key of the plan, has a note, or is refused with its
 * file and line. Sections run together until one says stonewall (or wait_for), which begins a
 * phase. Any thread; no state; opens nothing itself.
 * Source: fio 3.33 HOWTO; what that leaves open was asked of fio 3.33 itself.
 */
#pragma once

#include "common/err.h"
#include "coordinator/plan/place.h"
#include "rackbench.pb-c.h"

/* A job that asks for what is not there: an error, or a warning and something near it. */
typedef enum { RB_FIO_STRICT, RB_FIO_LENIENT } rb_fio_manner_t;

typedef struct {
    /* The text of an included file, the caller's to free; NULL and err. */
    char *(*read)(const char *path, rb_err_t *err);
    /* Of the environment, borrowed; NULL: not set. */
    const char *(*variable)(const char *name);
    uint64_t page_bytes, ncpus, memory_mb; /* $pagesize, $ncpus, $mb_memory: of this machine */
    rb_fio_manner_t manner;
} rb_fio_opts_t;

typedef struct {
    Rackbench__Plan *plan; /* as rb_plan_load gives it: without defaults */
    rb_places_t *places;
    size_t nnotes;
    char **notes; /* [nnotes] "job.fio:3: ioengine=libaio: io_uring here" */
} rb_fio_import_t;

/* text -> import. file stands in messages, and names the plan; files that it includes are looked
 * for beside it. NULL and RB_ERR_INPUT "file:line: what is wrong, what would be right". */
rb_fio_import_t *rb_fio_import(const char *text, const char *file, const rb_fio_opts_t *opts,
                               rb_err_t *err);
void rb_fio_import_destroy(rb_fio_import_t **import);

/* The notes as comments, then the plan as YAML; owned by the caller. */
char *rb_fio_import_yaml(const rb_fio_import_t *import);
