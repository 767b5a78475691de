/* nvme_id.h - asks an NVMe drive what it is and how it is, by the kernel's admin passthrough.
 *
 * Identify, Get Log Page, Get Features; and Set Features for one, the power state. Each command may
 * block for as long as the drive takes (the kernel's admin timeout is a minute; a shorter one of
 * ours would have the kernel reset the controller): never in a worker, nor in the main thread while
 * a run goes on. Needs CAP_SYS_ADMIN. Any thread; no state.
 */
#pragma once

#include "agent/nvme_page.h"

/* `fd`: the block or character device of a namespace. All return 0, or -errno: -ENOTTY where it is
 * no NVMe drive, -EPERM without the right, -EIO where the drive refuses. */
int rb_nvme_ask_smart(int fd, int64_t figure[RB_HEALTH_COUNT]);
int rb_nvme_ask_power_state(int fd, int64_t figure[RB_HEALTH_COUNT]);
/* -EIO also where the page is not OCP's. */
int rb_nvme_ask_ocp(int fd, int64_t figure[RB_HEALTH_COUNT]);

/* As the drive has it (power state, workload hint); set changes the drive until it is reset. */
int rb_nvme_get_power(int fd, uint32_t *ret);
int rb_nvme_set_power(int fd, uint32_t value);
int rb_nvme_ask_controller(int fd, rb_nvme_controller_t *ret);

/* Completes what the drive itself says: formats, power state, cache, firmware. Where it cannot be
 * asked, nothing is changed. */
void rb_nvme_identify(Rackbench__Drive *drive);
