/* Any bytes as the pages of an NVMe drive (one behind the other, zeros behind them): what is
 * decoded is within bounds, and a health row of it survives. */
#include "agent/health_judge.h"
#include "agent/nvme_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *ctx, const char *kind, const char *text)
{
    (void)ctx;
    RB_ASSERT(strlen(kind) < RB_MAX_NAME && strlen(text) < RB_MAX_TEXT);
}

static void take(const uint8_t **data, size_t *size, uint8_t *page, size_t bytes)
{
    size_t n = RB_MIN(*size, bytes);
    memset(page, 0, bytes);
    memcpy(page, *data, n);
    *data += n;
    *size -= n;
}

static void check_identity(const uint8_t *controller, const uint8_t *namespace)
{
    rb_nvme_controller_t c;
    rb_nvme_namespace_t ns;
    rb_nvme_controller_decode(controller, &c);
    rb_nvme_namespace_decode(namespace, &ns);
    RB_ASSERT(strlen(c.serial) <= 20 && strlen(c.model) <= 40 && strlen(c.firmware) <= 8);
    RB_ASSERT(c.npower_states <= RB_NVME_POWER_STATES && ns.nformats <= RB_NVME_LBA_FORMATS);
    RB_ASSERT(ns.format < RB_NVME_LBA_FORMATS);
}

static void check_row(rb_health_drive_t *drive)
{
    rb_err_t err;
    rb_row_t row = {.kind = RB_ROW_HEALTH, .health = {.ndrives = 1, .drives = drive}};
    RB_AUTO(rb_bytes_clear) rb_bytes_t bytes = rb_row_pack(&row);
    RB_AUTO(rb_row_clear) rb_row_t back;
    RB_ASSERT(rb_row_unpack(bytes.data, bytes.size, &back, &err) == 0);
    RB_ASSERT(memcmp(back.health.drives[0].figure, drive->figure, sizeof(drive->figure)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t before[RB_NVME_LOG_BYTES], now[RB_NVME_LOG_BYTES], ocp[RB_NVME_LOG_BYTES];
    static uint8_t controller[RB_NVME_IDENTIFY_BYTES], namespace[RB_NVME_IDENTIFY_BYTES];
    rb_health_drive_t a = {.path = (char *)(uintptr_t) "/dev/nvme0n1"}, b = a;
    rb_health_memory_t memory = {0};
    take(&data, &size, before, sizeof(before));
    take(&data, &size, now, sizeof(now));
    take(&data, &size, ocp, sizeof(ocp));
    take(&data, &size, controller, sizeof(controller));
    take(&data, &size, namespace, sizeof(namespace));
    rb_nvme_smart_decode(before, a.figure);
    rb_nvme_smart_decode(now, b.figure);
    rb_nvme_ocp_decode(ocp, b.figure);
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        RB_ASSERT(b.figure[i] == RB_HEALTH_UNKNOWN || b.figure[i] >= -273);
    rb_health_judge(&memory, NULL, &a, ignore, NULL);
    rb_health_judge(&memory, &a, &b, ignore, NULL);
    check_row(&b);
    check_identity(controller, namespace);
    return 0;
}
