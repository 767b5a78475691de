/* loop_device.h - what is under a loop device, as the kernel itself says it.
 *
 * The path in sysfs does not say it: the file may be unlinked, or another one stand at its path, in
 * this mount namespace or for everybody. Any thread; one open and one ioctl a device.
 */
#pragma once

#include <sys/types.h>

#include "common/base.h"

typedef enum {
    RB_UNDER_NOTHING, /* no loop device, or one that is not set up */
    RB_UNDER_FILE,
    RB_UNDER_DEVICE,
    RB_UNDER_UNKNOWN /* set up, but it cannot be opened and asked here */
} rb_under_kind_t;

typedef struct {
    rb_under_kind_t kind;
    dev_t dev; /* FILE: it is the file of that number on that device */
    ino_t ino;
    dev_t rdev; /* DEVICE: of the block device */
} rb_under_t;

/* dir: of the device in sysfs, /sys/block/loop0 or resolved. */
rb_under_t rb_loop_under(const char *dir);
/* Whether both are over the same file. What cannot be asked may be over any file. */
bool rb_loop_same_file(const rb_under_t *a, const rb_under_t *b);
/* The path of the file or block device under it, owned by the caller; NULL: none, or what is found
 * at that path is another one. */
char *rb_loop_path(const char *dir);
