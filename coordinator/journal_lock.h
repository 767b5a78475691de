/* journal_lock.h - one process writes a journal: it holds a lock (flock) on the file. Main thread.
 */
#pragma once

#include "common/err.h"

/* Takes the lock; gone with the fd. RB_ERR_INPUT: another process has it, which err names. Waits
 * some 30 ms at most. */
int rb_journal_lock(int fd, const char *path, rb_err_t *err);
