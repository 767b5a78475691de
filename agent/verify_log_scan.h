/* verify_log_scan.h - the batches of a log of acknowledged writes (verify_log.h): packed, and read
 * from a file that may be torn at its end and damaged before.
 *
 * Behind a bad batch the next whole one is looked for at each byte, by its magic, and taken if its
 * hash is of where it stands, or of where it was written to if the damage moved it: past a batch
 * whose head is whole by any distance, past another by up to 128 bytes. What is so found was
 * written by this run: stale data of a disk is of another run or place. Where more is gone between
 * two batches the reading ends, as at a torn end.
 *
 * A scan takes 160 KiB. Blocks; any thread.
 */
#pragma once

#include "common/err.h"

enum {
    RB_LOG_RECORD = 24,     /* [bytes] a write */
    RB_LOG_BATCH_HEAD = 16, /* [bytes] */
    RB_LOG_BATCH = 4096     /* [writes] */
};

typedef struct {
    uint64_t offset_bytes, sequence;
} rb_log_write_t;

typedef struct {
    uint32_t drive;
    rb_log_write_t write;
} rb_log_record_t;

/* Packs n records, [1, RB_LOG_BATCH], as the batch that will stand at `at_bytes` of the file;
 * returns its size. buf: RB_LOG_BATCH_HEAD + n x RB_LOG_RECORD bytes. */
size_t rb_log_batch_pack(const rb_log_record_t *records, uint32_t n, uint64_t run,
                         uint64_t at_bytes, uint8_t *buf);

typedef struct {
    uint64_t run, bs_bytes;
    size_t ndrives;
    uint64_t size_bytes; /* of the file */
} rb_log_scan_opts_t;

/* What of a log was not understood [bytes]. */
typedef struct {
    uint64_t torn_bytes;                /* at its end */
    uint64_t lost_bytes, lost_at_bytes; /* damaged, whole batches behind; where the first is */
} rb_log_rest_t;

typedef struct rb_log_scan rb_log_scan_t;
/* The file stands behind its head, and outlives the scan. */
rb_log_scan_t *rb_log_scan_new(FILE *file, const rb_log_scan_opts_t *opts);
void rb_log_scan_destroy(rb_log_scan_t **scan);
/* How many writes the next whole batch has; 0: there is none. */
uint32_t rb_log_scan_next(rb_log_scan_t *scan);
/* Of that batch; its drive is below ndrives, its offset at most INT64_MAX - bs. */
rb_log_record_t rb_log_scan_record(const rb_log_scan_t *scan, uint32_t i);
/* After the last. */
rb_log_rest_t rb_log_scan_rest(const rb_log_scan_t *scan);
