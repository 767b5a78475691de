/* uring_cmd.h - the NVMe passthrough backend: commands to /dev/ngXnY through a ring of big entries,
 * past the block layer. Kernel 6.1 or newer.
 *
 * Reads and writes use registered buffers; TRIM is Dataset Management (deallocate), SYNC is Flush;
 * writes of zeroes are Write Zeroes (without deallocation).
 * The kernel neither splits nor merges: one operation is one command. What a command ends with is
 * -EIO where the drive gives a status. open asks the drive for its format (identify namespace) and
 * tries one read of the largest size.
 * Source: NVM Express NVM Command Set 1.0, 3.2 and 4.1.5; linux/nvme_ioctl.h.
 */
#pragma once

#include "agent/backend/backend.h"

extern const rb_backend_t rb_backend_uring_cmd;
