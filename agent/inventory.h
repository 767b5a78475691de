/* inventory.h - what this host is: system, processor, memory; and each drive by itself, as asking
 * it may block (agent/survey has them all). No drive's data is read, so signatures are not known.
 * Never fails: of a drive that cannot be asked, in_use says why.
 */
#pragma once

#include "proto/wire.h"

/* All but the drives; reads /proc. Free with rb_inventory_destroy of proto/wire.h. */
Rackbench__Inventory *rb_inventory_new(void);
/* One of them; may block for as long as the drive does. Any thread. Owned by the caller (malloc).
 */
Rackbench__Drive *rb_inventory_drive(const char *path);
Rackbench__Drive *rb_inventory_closed_drive(const char *path, const rb_err_t *why);
/* Reads the wall clock anew if it goes with the answer to msg: to each Hello, to a run's first Beat
 * and to some of the others; else NULL. Borrowed from the inventory. Some microseconds. */
const Rackbench__WallClock *rb_inventory_wall_clock(Rackbench__Inventory *inventory,
                                                    const Rackbench__ToAgent *msg);
