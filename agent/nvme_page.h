/* nvme_page.h - the pages in which an NVMe drive tells what it is and how it is, to numbers. Pure.
 *
 * Any thread; no state. Any bytes are valid input: a drive may say what it likes. Counters of 128
 * bits that are beyond INT64_MAX are capped there.
 * Source: NVM Express Base Specification 2.0 (Identify, SMART / Health Information), NVM Command
 * Set Specification 1.0 (Identify Namespace), OCP Datacenter NVMe SSD Specification 2.0 (log 0xC0).
 */
#pragma once

#include "proto/sample.h"

enum {
    RB_NVME_IDENTIFY_BYTES = 4096,
    RB_NVME_LOG_BYTES = 512,
    RB_NVME_POWER_STATES = 32,
    RB_NVME_LBA_FORMATS = 64
};

typedef struct {
    char serial[21], model[41], firmware[9]; /* without blanks around them */
    bool has_volatile_cache;
    int64_t warning_c, critical_c; /* composite temperatures; RB_HEALTH_UNKNOWN: the drive names
                                      none */
    uint32_t npower_states;
    struct {
        uint32_t max_mw;            /* 0: not told */
        uint32_t entry_us, exit_us; /* at most; 0: not told */
        bool idle;                  /* no I/O is done in it */
    } power[RB_NVME_POWER_STATES];
} rb_nvme_controller_t;
void rb_nvme_controller_decode(const uint8_t page[RB_NVME_IDENTIFY_BYTES],
                               rb_nvme_controller_t *ret);

typedef struct {
    uint32_t format; /* in use */
    uint32_t nformats;
    struct {
        uint32_t data_bytes; /* 0: not available */
        uint32_t metadata_bytes;
    } formats[RB_NVME_LBA_FORMATS];
} rb_nvme_namespace_t;
void rb_nvme_namespace_decode(const uint8_t page[RB_NVME_IDENTIFY_BYTES], rb_nvme_namespace_t *ret);

/* Sets all figures that a SMART page has; leaves the others. */
void rb_nvme_smart_decode(const uint8_t page[RB_NVME_LOG_BYTES], int64_t figure[RB_HEALTH_COUNT]);
/* Sets RB_HEALTH_PHYSICAL_WRITTEN if the page is OCP's, by its GUID: other makers use the number of
 * the log for something else. Returns whether it is. */
bool rb_nvme_ocp_decode(const uint8_t page[RB_NVME_LOG_BYTES], int64_t figure[RB_HEALTH_COUNT]);
