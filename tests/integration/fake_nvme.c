/* fake_nvme.c - a library to preload into an agent: the block device $FAKE_NVME_DEVICE answers to
 * the admin commands about its power state as an NVMe drive with three states does, of which the
 * file $FAKE_NVME_STATE holds the number in force. While $FAKE_NVME_STATE.stuck exists, it refuses
 * to change it. For test_power.sh: qemu's drive has one state only.
 */
#include <dlfcn.h>
#include <linux/nvme_ioctl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { IDENTIFY = 0x06, SET_FEATURES = 0x09, GET_FEATURES = 0x0a, NOT_CHANGEABLE = 0x10e };

typedef int ioctl_fn(int fd, unsigned long request, ...);

static int is_fake(int fd)
{
    const char *device = getenv("FAKE_NVME_DEVICE");
    char link[64], name[256];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof(name) - 1);
    if (n <= 0 || device == NULL)
        return 0;
    name[n] = '\0';
    return strcmp(name, device) == 0;
}

static int get_state(uint32_t *ret)
{
    FILE *in = fopen(getenv("FAKE_NVME_STATE"), "r");
    int got = in != NULL && fscanf(in, "%u", ret) == 1;
    if (in != NULL)
        fclose(in);
    return got ? 0 : NOT_CHANGEABLE;
}

static int set_state(uint32_t state)
{
    char stuck[4096];
    snprintf(stuck, sizeof(stuck), "%s.stuck", getenv("FAKE_NVME_STATE"));
    FILE *out = access(stuck, F_OK) == 0 ? NULL : fopen(getenv("FAKE_NVME_STATE"), "w");
    if (out == NULL)
        return NOT_CHANGEABLE;
    fprintf(out, "%u\n", state);
    fclose(out);
    return 0;
}

static int answer(struct nvme_admin_cmd *cmd)
{
    enum { NPSS = 263, PAGE_BYTES = 4096 };
    uint8_t *page = (uint8_t *)(uintptr_t)cmd->addr;
    uint32_t state;
    switch (cmd->opcode) {
    case IDENTIFY:
        memset(page, 0, PAGE_BYTES);
        page[NPSS] = 2;
        return 0;
    case GET_FEATURES: {
        int rc = get_state(&state);
        cmd->result = state;
        return rc;
    }
    case SET_FEATURES:
        return set_state(cmd->cdw11);
    default:
        return NOT_CHANGEABLE;
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (request == NVME_IOCTL_ADMIN_CMD && is_fake(fd))
        return answer(arg);
    ioctl_fn *real;
    *(void **)&real = dlsym(RTLD_NEXT, "ioctl");
    return real(fd, request, arg);
}
