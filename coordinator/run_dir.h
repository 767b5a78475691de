/* run_dir.h - the directory of a run: plan.yaml, plan.resolved.yaml, journal.rbj, result.json.
 *
 * Main thread.
 */
#pragma once

#include "common/err.h"

enum { RB_RUN_ID = 9 }; /* bytes of a run id, with its NUL */

/* A fresh random id of 8 letters and digits, easy to say and select. */
void rb_run_id(char id[RB_RUN_ID]);

/* One process of this machine runs a run, whatever copies of its directory there are: the claim is
 * held until the process ends. RB_ERR_INPUT: another one has it. */
int rb_run_claim(const char *id, rb_err_t *err);

/* Makes `output`, or ./NAME-YYYYMMDDTHHMMSSZ-ID if that is NULL. The result is owned by the caller.
 * RB_ERR_INPUT when it is there already and not empty, or cannot be made. */
char *rb_run_dir_make(const char *output, const char *name, const char *id, uint64_t wall_ns,
                      rb_err_t *err);

/* RUN as a user gives it: a directory, or the id of a run below the current directory.
 * RB_ERR_INPUT. */
char *rb_run_dir_find(const char *run, rb_err_t *err);

char *rb_run_dir_path(const char *directory, const char *file);
/* A new file of the run; never over an existing one or through a link. NULL: RB_ERR_INPUT,
 * RB_ERR_IO. */
FILE *rb_run_dir_create(const char *path, rb_err_t *err);
int rb_run_dir_write(const char *directory, const char *file, const char *text, rb_err_t *err);
/* Takes away the files that a run leaves, and the directory if that makes it empty. */
void rb_run_dir_remove(const char *directory);
