/* inventory.h - what this host is: system, processor, memory, drives.
 *
 * Main thread; asks every drive (agent/drives), so some milliseconds each. Never fails: a drive
 * that cannot be asked is left out.
 */
#pragma once

#include "proto/wire.h"

/* Free with rb_inventory_destroy of proto/wire.h. */
Rackbench__Inventory *rb_inventory_new(void);
/* Reads the wall clock anew if it goes with the answer to msg: to each Hello, to a run's first Beat
 * and to some of the others; else NULL. Borrowed from the inventory. Some microseconds. */
const Rackbench__WallClock *rb_inventory_wall_clock(Rackbench__Inventory *inventory,
                                                    const Rackbench__ToAgent *msg);
