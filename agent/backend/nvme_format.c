#include "agent/backend/nvme_format.h"

enum { NLBAF = 25, FLBAS = 26, FORMATS = 128, ONCS = 520, MIN_SHIFT = 9, MAX_SHIFT = 16 };

int rb_nvme_block_shift(const uint8_t *identify, uint32_t *ret_shift, rb_err_t *err)
{
    uint32_t flbas = identify[FLBAS], index = flbas & 0xf;
    if (identify[NLBAF] > 15)
        index |= (flbas >> 1) & 0x30;
    const uint8_t *format = identify + FORMATS + (size_t)index * 4;
    uint32_t metadata_bytes = format[0] | (uint32_t)format[1] << 8, shift = format[2];
    if (metadata_bytes > 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "the drive is formatted with %u bytes of metadata a block, which NVMe "
                          "passthrough here does not carry; format it without or set ioengine: "
                          "io_uring",
                          metadata_bytes);
    if (shift < MIN_SHIFT || shift > MAX_SHIFT)
        return rb_err_set(err, RB_ERR_INPUT,
                          "the drive says that its blocks are 2^%u bytes; 2^%d to 2^%d are "
                          "supported",
                          shift, MIN_SHIFT, MAX_SHIFT);
    *ret_shift = shift;
    return 0;
}

uint32_t rb_nvme_commands(const uint8_t *identify)
{
    return identify[ONCS] | (uint32_t)identify[ONCS + 1] << 8;
}
