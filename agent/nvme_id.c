#include "agent/nvme_id.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    GET_LOG_PAGE = 0x02,
    IDENTIFY = 0x06,
    SET_FEATURES = 0x09,
    GET_FEATURES = 0x0a,
    LOG_SMART = 0x02,
    LOG_OCP = 0xc0,
    CNS_NAMESPACE = 0,
    CNS_CONTROLLER = 1,
    FEATURE_POWER = 0x02,
    FEATURE_CACHE = 0x06
};
static const uint32_t ALL_NAMESPACES = UINT32_MAX;

static int admin(int fd, struct nvme_admin_cmd *cmd)
{
    int rc = ioctl(fd, NVME_IOCTL_ADMIN_CMD, cmd);
    return rc < 0 ? -errno : rc > 0 ? -EIO : 0; /* above 0: the drive's own status */
}

static int get_log(int fd, uint32_t log, uint8_t page[RB_NVME_LOG_BYTES])
{
    struct nvme_admin_cmd cmd = {.opcode = GET_LOG_PAGE,
                                 .nsid = ALL_NAMESPACES,
                                 .addr = (uintptr_t)page,
                                 .data_len = RB_NVME_LOG_BYTES,
                                 .cdw10 = log | (uint32_t)(RB_NVME_LOG_BYTES / 4 - 1) << 16};
    return admin(fd, &cmd);
}

static int get_feature(int fd, uint32_t feature, uint32_t *ret)
{
    struct nvme_admin_cmd cmd = {.opcode = GET_FEATURES, .cdw10 = feature};
    int rc = admin(fd, &cmd);
    if (rc == 0)
        *ret = cmd.result;
    return rc;
}

static int identify(int fd, uint32_t what, uint32_t nsid, uint8_t page[RB_NVME_IDENTIFY_BYTES])
{
    struct nvme_admin_cmd cmd = {.opcode = IDENTIFY,
                                 .nsid = nsid,
                                 .addr = (uintptr_t)page,
                                 .data_len = RB_NVME_IDENTIFY_BYTES,
                                 .cdw10 = what};
    return admin(fd, &cmd);
}

int rb_nvme_ask_smart(int fd, int64_t figure[RB_HEALTH_COUNT])
{
    uint8_t page[RB_NVME_LOG_BYTES];
    int rc = get_log(fd, LOG_SMART, page);
    if (rc == 0)
        rb_nvme_smart_decode(page, figure);
    return rc;
}

int rb_nvme_ask_ocp(int fd, int64_t figure[RB_HEALTH_COUNT])
{
    uint8_t page[RB_NVME_LOG_BYTES];
    int rc = get_log(fd, LOG_OCP, page);
    return rc != 0 ? rc : rb_nvme_ocp_decode(page, figure) ? 0 : -EIO;
}

int rb_nvme_get_power(int fd, uint32_t *ret)
{
    return get_feature(fd, FEATURE_POWER, ret);
}

int rb_nvme_set_power(int fd, uint32_t value)
{
    struct nvme_admin_cmd cmd = {.opcode = SET_FEATURES, .cdw10 = FEATURE_POWER, .cdw11 = value};
    return admin(fd, &cmd);
}

int rb_nvme_ask_controller(int fd, rb_nvme_controller_t *ret)
{
    uint8_t page[RB_NVME_IDENTIFY_BYTES];
    int rc = identify(fd, CNS_CONTROLLER, 0, page);
    if (rc == 0)
        rb_nvme_controller_decode(page, ret);
    return rc;
}

int rb_nvme_ask_power_state(int fd, int64_t figure[RB_HEALTH_COUNT])
{
    uint32_t result;
    int rc = get_feature(fd, FEATURE_POWER, &result);
    if (rc == 0)
        figure[RB_HEALTH_POWER_STATE] = result & 0x1f;
    return rc;
}

/* ---- identity ---- */

static void set_text(char **field, const char *text)
{
    if (text[0] == '\0')
        return;
    free(*field);
    *field = rb_strdup(text);
}

static void add_power_states(const rb_nvme_controller_t *controller, Rackbench__Drive *drive)
{
    for (uint32_t i = 0; i < controller->npower_states; i++) {
        Rackbench__PowerState *state = rb_calloc(1, sizeof(*state));
        rackbench__power_state__init(state);
        state->has_max_mw = controller->power[i].max_mw != 0;
        state->max_mw = controller->power[i].max_mw;
        state->has_entry_us = controller->power[i].entry_us != 0;
        state->entry_us = controller->power[i].entry_us;
        state->has_exit_us = controller->power[i].exit_us != 0;
        state->exit_us = controller->power[i].exit_us;
        state->has_idle = state->idle = controller->power[i].idle;
        *RB_PUSH(drive->power_states, drive->n_power_states) = state;
    }
}

static void ask_controller(int fd, Rackbench__Drive *drive)
{
    rb_nvme_controller_t controller;
    uint32_t result;
    if (rb_nvme_ask_controller(fd, &controller) != 0)
        return;
    add_power_states(&controller, drive);
    set_text(&drive->model, controller.model);
    set_text(&drive->serial, controller.serial);
    set_text(&drive->firmware, controller.firmware);
    drive->has_volatile_write_cache = !controller.has_volatile_cache;
    if (controller.has_volatile_cache && get_feature(fd, FEATURE_CACHE, &result) == 0) {
        drive->has_volatile_write_cache = true;
        drive->volatile_write_cache = (result & 1) != 0;
    }
    if (get_feature(fd, FEATURE_POWER, &result) != 0)
        return;
    drive->has_power_state = true;
    drive->power_state = result & 0x1f;
    drive->has_power_max_mw = drive->power_state < controller.npower_states &&
                              controller.power[drive->power_state].max_mw != 0;
    if (drive->has_power_max_mw)
        drive->power_max_mw = controller.power[drive->power_state].max_mw;
}

static void ask_namespace(int fd, Rackbench__Drive *drive)
{
    uint8_t page[RB_NVME_IDENTIFY_BYTES];
    rb_nvme_namespace_t ns;
    if (!drive->has_nsid || identify(fd, CNS_NAMESPACE, drive->nsid, page) != 0)
        return;
    rb_nvme_namespace_decode(page, &ns);
    drive->has_lba_format = ns.format < ns.nformats;
    drive->lba_format = ns.format;
    for (uint32_t i = 0; i < ns.nformats; i++) {
        Rackbench__LbaFormat *f = rb_calloc(1, sizeof(*f));
        rackbench__lba_format__init(f);
        f->has_data_bytes = f->has_metadata_bytes = true;
        f->data_bytes = ns.formats[i].data_bytes;
        f->metadata_bytes = ns.formats[i].metadata_bytes;
        *RB_PUSH(drive->lba_formats, drive->n_lba_formats) = f;
    }
}

void rb_nvme_identify(Rackbench__Drive *drive)
{
    int fd = open(drive->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    int nsid = ioctl(fd, NVME_IOCTL_ID);
    if (nsid > 0) {
        drive->has_nsid = true;
        drive->nsid = (uint32_t)nsid;
        ask_controller(fd, drive);
        ask_namespace(fd, drive);
    }
    close(fd);
}
