/* health_host.h - what the host's processors say of themselves: frequency and energy, by sysfs.
 *
 * Health thread; asking hundreds of processors for their frequency takes milliseconds. `sysfs`:
 * where it is mounted.
 */
#pragma once

#include "common/base.h"

enum { RB_MAX_PACKAGES = 64 };

typedef struct {
    size_t npackages;
    uint64_t last_uj[RB_MAX_PACKAGES];
    int64_t total_uj;
} rb_energy_t;

/* Mean of the processors that tell; RB_HEALTH_UNKNOWN: none does. */
int64_t rb_health_cpu_mhz(const char *sysfs);

/* RAPL's counters of all packages, since the first call with this *energy (zeroed before it);
 * RB_HEALTH_UNKNOWN: none can be read. They wrap: call it more often than that (minutes).
 * Source: Linux Documentation/power/powercap/powercap.rst. */
int64_t rb_health_energy_uj(rb_energy_t *energy, const char *sysfs);
