#include "agent/nvme_page.h"

enum { KELVIN = 273 };

static uint64_t little(const uint8_t *at, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = bytes; i-- > 0;)
        n = n << 8 | at[i];
    return n;
}

static int64_t counter128(const uint8_t *at)
{
    uint64_t low = little(at, 8);
    return little(at + 8, 8) != 0 || low > INT64_MAX ? INT64_MAX : (int64_t)low;
}

static int64_t counter32(const uint8_t *at)
{
    return (int64_t)little(at, 4);
}

/* 0: there is none. */
static int64_t celsius(const uint8_t *at)
{
    int64_t kelvin = (int64_t)little(at, 2);
    return kelvin == 0 ? RB_HEALTH_UNKNOWN : kelvin - KELVIN;
}

static void text(const uint8_t *at, size_t bytes, char *ret)
{
    while (bytes > 0 && (at[bytes - 1] == ' ' || at[bytes - 1] == '\0'))
        bytes--;
    while (bytes > 0 && at[0] == ' ') {
        at++;
        bytes--;
    }
    for (size_t i = 0; i < bytes; i++)
        ret[i] = at[i] >= 0x20 && at[i] < 0x7f ? (char)at[i] : '?';
    ret[bytes] = '\0';
}

/* A descriptor's maximum power: in hundredths of a watt, or with MXPS in ten-thousandths. */
static uint32_t power_mw(const uint8_t *descriptor)
{
    uint32_t power = (uint32_t)little(descriptor, 2);
    return (descriptor[3] & 1) != 0 ? power / 10 : power * 10;
}

void rb_nvme_controller_decode(const uint8_t page[RB_NVME_IDENTIFY_BYTES],
                               rb_nvme_controller_t *ret)
{
    enum { NPSS = 263, WCTEMP = 266, CCTEMP = 268, VWC = 525, PSD = 2048, PSD_BYTES = 32 };
    *ret = (rb_nvme_controller_t){0};
    text(page + 4, 20, ret->serial);
    text(page + 24, 40, ret->model);
    text(page + 64, 8, ret->firmware);
    ret->has_volatile_cache = (page[VWC] & 1) != 0;
    ret->warning_c = celsius(page + WCTEMP);
    ret->critical_c = celsius(page + CCTEMP);
    ret->npower_states = RB_MIN(page[NPSS] + 1u, (unsigned)RB_NVME_POWER_STATES);
    for (uint32_t i = 0; i < ret->npower_states; i++) {
        const uint8_t *at = page + PSD + (size_t)i * PSD_BYTES;
        ret->power[i].max_mw = power_mw(at);
        ret->power[i].idle = (at[3] & 2) != 0;
        ret->power[i].entry_us = (uint32_t)little(at + 4, 4);
        ret->power[i].exit_us = (uint32_t)little(at + 8, 4);
    }
}

void rb_nvme_namespace_decode(const uint8_t page[RB_NVME_IDENTIFY_BYTES], rb_nvme_namespace_t *ret)
{
    enum { NLBAF = 25, FLBAS = 26, LBAF = 128, LBAF_BYTES = 4, SMALLEST = 9, LARGEST = 31 };
    *ret = (rb_nvme_namespace_t){0};
    ret->nformats = RB_MIN(page[NLBAF] + 1u, (unsigned)RB_NVME_LBA_FORMATS);
    /* Bits 6:5 extend the index, where there are more than 16. */
    ret->format = (page[FLBAS] & 0xfu) | (ret->nformats > 16 ? (page[FLBAS] & 0x60u) >> 1 : 0);
    for (uint32_t i = 0; i < ret->nformats; i++) {
        const uint8_t *at = page + LBAF + (size_t)i * LBAF_BYTES;
        bool available = at[2] >= SMALLEST && at[2] <= LARGEST;
        ret->formats[i].metadata_bytes = (uint32_t)little(at, 2);
        ret->formats[i].data_bytes = available ? UINT32_C(1) << at[2] : 0;
    }
}

void rb_nvme_smart_decode(const uint8_t page[RB_NVME_LOG_BYTES], int64_t figure[RB_HEALTH_COUNT])
{
    enum { SENSORS = 8, SENSOR = 200 };
    figure[RB_HEALTH_WARNING] = page[0];
    figure[RB_HEALTH_TEMPERATURE] = celsius(page + 1);
    figure[RB_HEALTH_SPARE] = page[3];
    figure[RB_HEALTH_SPARE_THRESHOLD] = page[4];
    figure[RB_HEALTH_USED] = page[5];
    figure[RB_HEALTH_UNITS_READ] = counter128(page + 32);
    figure[RB_HEALTH_UNITS_WRITTEN] = counter128(page + 48);
    figure[RB_HEALTH_HOST_READS] = counter128(page + 64);
    figure[RB_HEALTH_HOST_WRITES] = counter128(page + 80);
    figure[RB_HEALTH_POWER_ON_HOURS] = counter128(page + 128);
    figure[RB_HEALTH_MEDIA_ERRORS] = counter128(page + 160);
    figure[RB_HEALTH_WARM_MINUTES] = counter32(page + 192);
    figure[RB_HEALTH_HOT_MINUTES] = counter32(page + 196);
    figure[RB_HEALTH_SENSOR_MAX] = RB_HEALTH_UNKNOWN;
    for (size_t i = 0; i < SENSORS; i++)
        figure[RB_HEALTH_SENSOR_MAX] =
            RB_MAX(figure[RB_HEALTH_SENSOR_MAX], celsius(page + SENSOR + 2 * i));
    figure[RB_HEALTH_THROTTLES_LIGHT] = counter32(page + 216);
    figure[RB_HEALTH_THROTTLES_HEAVY] = counter32(page + 220);
    figure[RB_HEALTH_THROTTLED_LIGHT] = counter32(page + 224);
    figure[RB_HEALTH_THROTTLED_HEAVY] = counter32(page + 228);
}

bool rb_nvme_ocp_decode(const uint8_t page[RB_NVME_LOG_BYTES], int64_t figure[RB_HEALTH_COUNT])
{
    /* AFD514C97C6F4F9CA4F2BFEA2810AFC5, the last byte first. */
    static const uint8_t guid[16] = {0xc5, 0xaf, 0x10, 0x28, 0xea, 0xbf, 0xf2, 0xa4,
                                     0x9c, 0x4f, 0x6f, 0x7c, 0xc9, 0x14, 0xd5, 0xaf};
    if (memcmp(page + 496, guid, sizeof(guid)) != 0)
        return false;
    figure[RB_HEALTH_PHYSICAL_WRITTEN] = counter128(page);
    return true;
}
