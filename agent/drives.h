/* drives.h - the facts about a block device of this host: what it is and who uses it.
 *
 * From sysfs, the mounts of every mount namespace that a process of this host is in, /proc/swaps,
 * an O_RDONLY | O_EXCL open and libblkid (the only door to it). Reads only, never writes. Any
 * thread that may block: a few milliseconds a drive that answers, for ever where one does not. A
 * probe (agent/probe) is told which one it is at.
 */
#pragma once

#include <sys/types.h>

#include "common/err.h"
#include "common/guard.h"
#include "proto/wire.h"

typedef struct {
    char *path;  /* as asked for; may be a symbolic link */
    dev_t rdev;  /* of the device itself */
    char *model; /* "" where the kernel knows none */
    char *serial;
    char *pci; /* address of its controller: "0000:81:00.0"; "": not on PCI */
    uint64_t size_bytes;
    uint32_t logical_block_bytes;
    bool rotational, read_only;
    size_t nuses;
    rb_use_t *uses; /* [nuses], as guard.h wants them */
} rb_drive_t;

/* The block device that path stands for: /dev/nvme0n1 for /dev/ng0n1, the character device of the
 * same NVMe namespace; else path itself. Owned by the caller. */
char *rb_drive_block_path(const char *path);

/* Is this open descriptor that block device, or the NVMe character device of the same namespace,
 * and the drive in its place still the one of that number in the kernel's sequence? diskseq 0: not
 * known, any drive will do. */
bool rb_drive_is(int fd, dev_t rdev, uint64_t diskseq);

/* How far to look. Only SIGNATURES reads the drive: about 1 MiB of it and of each partition. */
typedef enum { RB_DRIVE_USES, RB_DRIVE_SIGNATURES } rb_drive_look_t;

/* Follows symbolic links, and an NVMe namespace's character device to its block device, whose uses
 * it has. RB_ERR_INPUT: missing, not a block device, no medium; RB_ERR_IO: cannot
 * be opened or asked. */
rb_drive_t *rb_drive_new(const char *path, rb_drive_look_t look, rb_err_t *err);
/* Only what can be said without opening it: path, device, identity, read_only. */
rb_drive_t *rb_drive_peek(const char *path, rb_err_t *err);
void rb_drive_destroy(rb_drive_t **drive);

/* What a plan's `wipe` calls it: its serial number, "loop:BACKING_FILE" or "zram:N"; "" where
 * nothing tells it from others. Owned by the caller. */
char *rb_drive_id(const rb_drive_t *drive);

/* As a message; in_use says why writing would be refused even with every permission. The caller
 * owns it (malloc, so that it may become part of a message freed by protobuf-c). */
Rackbench__Drive *rb_drive_message(const rb_drive_t *drive);

/* Paths of the whole disks that have a medium: no ram disks, no loop or zram device without
 * content, no hidden path of a multipath drive. In version order, NULL at the end; free with
 * rb_drive_list_destroy. */
char **rb_drive_list(void);
void rb_drive_list_destroy(char ***list);

/* Logical block of the disk under a filesystem's st_dev [bytes]; 4096 where there is none (btrfs,
 * overlay, tmpfs). */
uint32_t rb_drive_block_of(dev_t st_dev);
