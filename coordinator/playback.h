/* playback.h - a run read from its directory: its journal folded again, whole or as it grows.
 *
 * Main thread.
 */
#pragma once

#include "coordinator/journal.h"
#include "coordinator/merge.h"

typedef struct {
    char *directory, *path; /* of the journal */
    rb_fold_t *fold;
    rb_journal_reader_t *reader;
    rb_journal_info_t info; /* of what was read so far */
} rb_playback_t;

/* RUN as a user gives it: a directory or an id. Nothing is read yet. RB_ERR_INPUT. */
rb_playback_t *rb_playback_open(const char *run, rb_err_t *err);
void rb_playback_close(rb_playback_t **playback);

/* Folds what the journal holds and was not folded yet. RB_ERR_INPUT: whatever is wrong with the
 * journal, it is what we were given. */
int rb_playback_next(rb_playback_t *playback, rb_err_t *err);

/* A rb_journal_record_fn whose ctx is a rb_fold_t. */
int rb_playback_record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err);

/* Its last row is there. */
bool rb_playback_ended(const rb_playback_t *playback);
/* A process of this machine still writes to it. Ask before rb_playback_next: then a run that has
 * neither ended nor a writer will never end by itself. */
bool rb_playback_live(const rb_playback_t *playback);

/* Exit status and error line of a run that has ended. */
void rb_playback_outcome(const rb_playback_t *playback, rb_err_t *ret);
/* RB_ERR_LOST: of one that has not, and has no writer. */
void rb_playback_gone(const rb_playback_t *playback, rb_err_t *ret);
