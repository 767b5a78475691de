/* drive_change.h - is this still the drive that was judged? A path, and even a device number, may
 * stand for another one by now: a drive was pulled, a loop device set up anew, a member replaced.
 *
 * Main thread; reads sysfs.
 */
#pragma once

#include "agent/drives.h"

/* What of it is not as it was, by model, `id`, wwid, sequence number and the drives under it: "it
 * was X, it is Y now", owned by the caller; NULL: nothing that is known. Pure. */
char *rb_drive_change(const Rackbench__Drive *was, const Rackbench__Drive *is);

/* was, rdev: as rb_drive_message and the drive said when the plan was loaded. RB_ERR_UNSAFE: it is
 * another one, and which. */
int rb_drive_check_same(const rb_drive_t *drive, const Rackbench__Drive *was, dev_t rdev,
                        rb_err_t *err);
