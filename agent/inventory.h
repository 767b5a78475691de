/* inventory.h - what this host is: system, processor, memory, drives.
 *
 * Main thread; asks every drive (agent/drives), so some milliseconds each. Never fails: a drive
 * that cannot be asked is left out.
 */
#pragma once

#include "proto/wire.h"

/* Free with rb_inventory_destroy of proto/wire.h. */
Rackbench__Inventory *rb_inventory_new(void);
