#include "agent/privilege.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base.h"

#define BIT(cap) (1ull << (cap))

static const uint64_t kept[] = {
    [RB_PRIVILEGE_MAIN] = BIT(CAP_DAC_OVERRIDE) | BIT(CAP_DAC_READ_SEARCH) | BIT(CAP_SYS_ADMIN) |
                          BIT(CAP_SYS_PTRACE) | BIT(CAP_IPC_LOCK) | BIT(CAP_SYS_RESOURCE) |
                          BIT(CAP_SYS_NICE) | BIT(CAP_NET_ADMIN),
    [RB_PRIVILEGE_PASSTHROUGH] = BIT(CAP_SYS_ADMIN),
    [RB_PRIVILEGE_WORKER] = 0,
};

/* glibc's wrappers would need libcap, and its own setuid tricks reach all threads: these two system
 * calls are of one thread. */
static void keep(uint64_t mask)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];
    if (syscall(SYS_capget, &header, data) != 0)
        return;
    for (int i = 0; i < 2; i++) {
        uint32_t part = (uint32_t)(mask >> (32 * i));
        data[i].permitted &= part;
        data[i].effective &= part;
        data[i].inheritable = 0;
    }
    long rc = syscall(SYS_capset, &header, data);
    RB_ASSERT(rc == 0);
}

void rb_privilege_keep(rb_privilege_t privilege)
{
    if (privilege == RB_PRIVILEGE_MAIN) {
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        for (unsigned cap = 0; cap <= CAP_LAST_CAP; cap++)
            if (!(kept[RB_PRIVILEGE_MAIN] & BIT(cap)))
                prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
    }
    keep(kept[privilege]);
}
