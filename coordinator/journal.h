/* journal.h - the truth of a run: an append-only file of rows, each with its host and a CRC.
 *
 *   0  "RBJRNL1\n"                              magic
 *   8  records:  u32 length of payload [bytes]
 *                u32 host (0: the coordinator)
 *                u32 CRC-32 (zlib's) over length, host and payload
 *                payload: a packed row (proto/sample.h), at most RB_MAX_FRAME bytes
 *
 * Numbers are little endian. Whatever cuts a write short, the records before it stay readable.
 * One thread; append is one writev, sync waits for the disk. Who writes holds a lock (flock) on the
 * file. The only door to zlib.
 */
#pragma once

#include "common/err.h"

typedef struct rb_journal rb_journal_t;

/* Makes the file, and holds a lock on it (flock) as long as the journal is open. RB_ERR_INPUT when
 * it exists already or its directory does not. */
rb_journal_t *rb_journal_create(const char *path, rb_err_t *err);
/* Closes without a sync. */
void rb_journal_destroy(rb_journal_t **journal);

/* Appends one record; on failure (RB_ERR_IO) the file ends with the record before, and a later
 * append may succeed. RB_ERR_INTERNAL: larger than RB_MAX_FRAME. Not on disk before
 * rb_journal_sync. */
int rb_journal_append(rb_journal_t *journal, uint32_t host, const void *data, size_t size,
                      rb_err_t *err);
/* RB_ERR_IO. Costs nothing when nothing was appended since the last one. */
int rb_journal_sync(rb_journal_t *journal, rb_err_t *err);

/* Called per record, in order; data is borrowed for the call. Returns -1 with err to end the
 * reading. */
typedef int rb_journal_record_fn(void *ctx, uint32_t host, const void *data, size_t size,
                                 rb_err_t *err);

typedef struct {
    uint64_t records;    /* read, all of them whole */
    uint64_t end_bytes;  /* offset behind the last whole record */
    uint64_t torn_bytes; /* behind it, ignored; 0: the file ends cleanly */
    bool corrupt;        /* a whole record lies behind the bad one: damage, not a cut-off write */
} rb_journal_info_t;

/* Does a process that writes to it live on this machine? */
bool rb_journal_held(const char *path);

typedef struct rb_journal_reader rb_journal_reader_t;
/* A journal to be read while it grows. RB_ERR_INPUT: no such file or not a journal. */
rb_journal_reader_t *rb_journal_open(const char *path, rb_err_t *err);
void rb_journal_close(rb_journal_reader_t **reader);
/* Reads the whole records that were written since the last call. *ret_info is of all calls; a torn
 * rest may be a record that is being written: the next call looks at it again. Fails as
 * rb_journal_read does; after a failure the reader is good for close only. */
int rb_journal_next(rb_journal_reader_t *reader, rb_journal_record_fn *record, void *ctx,
                    rb_journal_info_t *ret_info, rb_err_t *err);

/* Reads all whole records; a torn or corrupt rest is no error, *ret_info tells. RB_ERR_INPUT: no
 * such file or not a journal; RB_ERR_IO: it cannot be read; else what `record` returned, with path
 * and record before it. */
int rb_journal_read(const char *path, rb_journal_record_fn *record, void *ctx,
                    rb_journal_info_t *ret_info, rb_err_t *err);

/* Locks a journal and reads it as rb_journal_read does, to go on behind it: the first append cuts a
 * torn rest off (ret_info->torn_bytes). Beside what those return, RB_ERR_INPUT: another process
 * writes it (it is named), or it is damaged (`corrupt`). */
rb_journal_t *rb_journal_resume(const char *path, rb_journal_record_fn *record, void *ctx,
                                rb_journal_info_t *ret_info, rb_err_t *err);
