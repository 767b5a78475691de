/* verify_log.h - the file of acknowledged writes that a job with verify_log keeps, and reading it.
 *
 * Little endian. The head:
 *
 *    0  u64  magic "RBVLOG1\n"
 *    8  u64  XXH3-64 of all that follows in the head
 *   16  u32  size of the head [bytes], u32 drives
 *   24  u64  run, rb_verify_run of the run's id
 *   32  u64  bs of the job [bytes]
 *   40  u32  phase, u32 job: indices in the plan
 *   48       the run's id, padded with zeros to 64 bytes
 *  112       the path of each drive, ended by a zero
 *
 * Then batches, only ever appended:
 *
 *    0  u32  magic "RBLB", u32 writes in it: [1, RB_LOG_BATCH]
 *    8  u64  XXH3-64 of the writes, with run + place in the file as seed
 *   16       per write: u64 offset [bytes], u64 sequence, u32 drive (by order in the head), u32 0
 *
 * A write whose record is in the file was acknowledged by the drive. The reverse does not hold: the
 * newest acknowledged ones may not have made it there (verify_log_writer.h). The end of the file
 * may be torn. Of damage before it reading tells, and goes on with the next whole batch: a record
 * that is lost may let a missing write pass, and makes nothing wrong.
 *
 * Reading takes 16 bytes a place and has RB_MAX_LOG_PLACES at most; 3/8 of them always hold a
 * different block each: 96 million blocks, 384 GiB at 4 KiB. Sorting takes as much again for a
 * while. Blocks; any thread.
 */
#pragma once

#include "agent/pin.h"
#include "agent/verify_log_scan.h"

enum {
    RB_LOG_ID = 64,                /* [bytes] */
    RB_MAX_LOG_HEAD = 8 * 1048576, /* [bytes] */
    RB_MAX_LOG_PLACES = 256 << 20
};

typedef struct {
    uint64_t run, bs_bytes;
    uint32_t phase, job;
    char run_id[RB_LOG_ID];
    size_t ndrives; /* [1, RB_MAX_DRIVES] */
    char **drives;  /* [ndrives] paths */
} rb_log_head_t;

void rb_log_head_clear(rb_log_head_t *head);
/* *ret_data [*ret_size] is the caller's to free. RB_ERR_INPUT: paths too long for a head. */
int rb_log_head_pack(const rb_log_head_t *head, uint8_t **ret_data, size_t *ret_size,
                     rb_err_t *err);

/* Of each block of a drive its newest write, by offset. */
typedef struct {
    rb_log_write_t *blocks; /* [n] */
    size_t n, capacity;
} rb_log_blocks_t;

typedef struct {
    rb_log_head_t head;
    rb_log_blocks_t *of_drive; /* [head.ndrives] */
    uint64_t writes, places;   /* all that are logged; taken in memory */
    rb_log_rest_t rest;
} rb_log_t;

/* Of the pinned directory. RB_ERR_INPUT: no such file, not a log, a link, or too many blocks for
 * the places or the memory that is free; RB_ERR_UNSAFE (agent/pin). */
rb_log_t *rb_log_read(const char *path, const rb_pin_t *pin, rb_err_t *err);
/* The same of an open file, which is read from its start and closed; path names it. */
rb_log_t *rb_log_read_fd(int fd, const char *path, rb_err_t *err);
void rb_log_destroy(rb_log_t **log);
/* NULL: the log has no write of that drive. */
const rb_log_blocks_t *rb_log_of_drive(const rb_log_t *log, const char *path);
