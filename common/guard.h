/* guard.h - may this phase use this drive? A pure verdict on facts that agent/drives gathers.
 *
 * Writing to a drive needs `destructive: true` in the phase and the agent's --allow-device, and is
 * refused whatever the flags while the drive, or a device that shares its blocks, is mounted, swap,
 * held, a path of a multipath device, opened exclusively or signed; a signature of its own or of a
 * partition of it may be overridden by `wipe`, and nothing else. An array is judged with the
 * devices that it is made of, whose signatures are its own; other volumes of its group are said,
 * not refused. Setting its power state needs --allow-device, and a drive that is not in use; a
 * signature does not matter, as no data is lost. Reading a drive in use is allowed with a warning;
 * a signature alone does not make it in use. Any thread; no state.
 */
#pragma once

#include "common/base.h"

/* How a device is used, the most telling reason first. */
typedef enum {
    RB_USE_MOUNT,     /* what: mount point */
    RB_USE_SWAP,      /* what: unused */
    RB_USE_PATH,      /* what: the multipath device that it is a path of */
    RB_USE_HOLDER,    /* what: the md, dm, bcache ... device built on it, and its kind */
    RB_USE_LOOP,      /* what: the loop device it backs */
    RB_USE_EXCLUSIVE, /* what: unused; an O_EXCL open said EBUSY */
    RB_USE_SIGNATURE, /* what: "ext4 filesystem", "gpt partition table", ... */
    RB_USE_NEIGHBOUR  /* what: another volume that lies on it beside the array in question */
} rb_use_kind_t;

/* What the used device is to the drive in question. */
typedef enum {
    RB_RELATION_SELF,
    RB_RELATION_PARTITION, /* a partition of it */
    RB_RELATION_PARENT,    /* the disk it is a partition of */
    RB_RELATION_HOLDER,    /* built on it, directly or not */
    RB_RELATION_LOOP,      /* a loop device over it, directly or not */
    RB_RELATION_BACKING,   /* the block device under a loop device */
    RB_RELATION_TWIN,      /* another loop device over the same file */
    RB_RELATION_MEMBER     /* what an array (md, dm, LVM, bcache) is made of, directly or not */
} rb_relation_t;

typedef struct {
    rb_use_kind_t kind;
    rb_relation_t relation;
    char *device; /* owned: "/dev/sdb1" */
    char *what;   /* owned; NULL where kind says unused */
} rb_use_t;

typedef struct {
    const char *path; /* as the plan names the drive */
    const rb_use_t *
        uses; /* [nuses] of it and of what shares its blocks; other partitions of its disk do not */
    size_t nuses;
    bool read_only;   /* the kernel refuses writes to it */
    bool write;       /* a job of the phase writes to it */
    bool sets_power;  /* a job sets its power state: an NVMe command that changes the drive */
    bool destructive; /* the phase says so */
    bool allowed;     /* by an --allow-device of the agent */
    const char *id;   /* what the plan's `wipe` would call it; "": nothing does */
    bool wipe;        /* it is named there, and the agent has --allow-wipe */
} rb_guard_facts_t;

typedef enum { RB_GUARD_ALLOWED, RB_GUARD_WARNED, RB_GUARD_REFUSED } rb_guard_outcome_t;

typedef struct {
    rb_guard_outcome_t outcome;
    char text[RB_MAX_TEXT]; /* one sentence, starting with the path: the fact and what to do; "" if
                               allowed */
} rb_guard_verdict_t;

rb_guard_verdict_t rb_guard_judge(const rb_guard_facts_t *facts);
