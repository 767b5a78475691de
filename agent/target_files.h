/* target_files.h - the files of a file target on this host: where, what must be laid out, room,
 * removal.
 *
 * A part of agent/targets. Main thread; a few system calls a file.
 */
#pragma once

#include <limits.h>

#include "agent/targets.h"

/* Where a target's files are: DIRECTORY/rackbench.HOST.TARGET.N, while laid out with .part behind.
 */
typedef struct {
    char directory[PATH_MAX];  /* as the plan names it, or the scratch directory */
    char prefix[NAME_MAX + 1]; /* "rackbench.HOST.TARGET." */
    bool is_scratch;           /* may not exist yet */
} rb_file_place_t;

/* Checks names and that the directory is allowed; whether it exists only for a plan's directory
 * (RB_ERR_INPUT). Symbolic links are followed before directories are compared. */
int rb_file_place(const Rackbench__Target *target, const char *host,
                  const rb_allowances_t *allowances, rb_file_place_t *ret_place, rb_err_t *err);

/* Is it there, and may plans lay out files in it? key: of the plan, that names it. RB_ERR_INPUT. */
int rb_file_directory_check(const char *directory, const char *key,
                            const rb_allowances_t *allowances, rb_err_t *err);

/* The n-th file: path, size, block and whether it needs layout. RB_ERR_INPUT: size missing or not a
 * multiple of the block, something else is in the file's place, directory not writable. */
int rb_file_subject(const rb_file_place_t *place, const Rackbench__Target *target, uint32_t n,
                    rb_subject_t *ret_subject, rb_err_t *err);

/* Looks again whether the file is there in full. RB_ERR_INPUT: something else is in its place. */
int rb_file_look(rb_subject_t *subject, rb_err_t *err);

/* Looks again whether its directory is allowed, and pins it: from here on the file is opened in
 * this very directory or not at all. RB_ERR_INPUT: not there, not allowed; RB_ERR_UNSAFE: it was
 * pinned before, to another directory. */
int rb_file_pin(rb_subject_t *subject, const rb_allowances_t *allowances, rb_err_t *err);

/* The same of a directory that another file will lie in. */
int rb_file_pin_directory(const char *directory, const rb_allowances_t *allowances,
                          rb_pin_t *ret_pin, rb_err_t *err);
bool rb_file_is_missing(const char *path);

/* Is there room for all files that need layout, each filesystem's together? What a half laid out
 * file holds counts as free; reserve_bytes as in rb_allowances_t. RB_ERR_IO. */
int rb_file_room(const rb_subject_t *subjects, size_t nsubjects, const Rackbench__Plan *plan,
                 uint64_t reserve_bytes, rb_err_t *err);

/* Makes the directory and its parents. */
int rb_file_make_directory(const char *directory, rb_err_t *err);

/* Removes files at the place, adding to *cleaned; then the scratch directory if that left it empty.
 * Judges once more the very directory that it works in. RB_ERR_INPUT: it is not allowed. */
int rb_file_clean(const rb_file_place_t *place, const rb_allowances_t *allowances,
                  rb_cleaned_t *cleaned, rb_err_t *err);
