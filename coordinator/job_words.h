/* job_words.h - what a job does, in one sentence for people.
 *
 * Any thread; pure.
 */
#pragma once

#include "rackbench.pb-c.h"

/* "randread 4 KiB, iodepth 16 x 2, io_uring direct, zipf:1.2, 500 IOPS per worker in an open loop,
 * on d (2 drives)". The job is a resolved one, as it was run; keys that it does not have are not
 * spoken of. place: what it works on, behind "on". Owned by the caller. */
char *rb_job_words(const Rackbench__Job *job, const char *place);
