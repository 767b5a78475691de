/* nvme_format.h - the block size of an NVMe namespace, and the commands that a drive knows, from
 * its identify data.
 *
 * Pure. Source: NVM Express NVM Command Set 1.0, 4.1.5 (Identify Namespace, CNS 00h): NLBAF at byte
 * 25, FLBAS at 26, LBA formats of 4 bytes from 128 on: metadata size, LBA data size, performance.
 */
#pragma once

#include "common/err.h"

enum { RB_NVME_IDENTIFY_BYTES = 4096 };

/* identify [RB_NVME_IDENTIFY_BYTES]; *ret_shift: log2 of the block size [bytes]. RB_ERR_INPUT: a
 * format with metadata, or none that makes sense. */
int rb_nvme_block_shift(const uint8_t *identify, uint32_t *ret_shift, rb_err_t *err);

/* Commands that a drive may or may not know: bits of ONCS of the controller's identify data
 * [RB_NVME_IDENTIFY_BYTES]. Source: NVM Express Base 2.0, figure 275 (CNS 01h), bytes 520 and 521.
 */
#define RB_NVME_DATASET_MANAGEMENT (1u << 2)
#define RB_NVME_WRITE_ZEROES       (1u << 3)
uint32_t rb_nvme_commands(const uint8_t *identify);
