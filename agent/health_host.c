#include "agent/health_host.h"

#include <glob.h>

#include "agent/block_graph.h"
#include "proto/sample.h"

int64_t rb_health_cpu_mhz(const char *sysfs)
{
    glob_t found = {0};
    uint64_t sum_khz = 0, n = 0;
    RB_AUTO(rb_free_str)
    char *pattern = rb_asprintf("%s/devices/system/cpu/cpu[0-9]*/cpufreq", sysfs);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            uint64_t khz = rb_sysfs_number(found.gl_pathv[i], "scaling_cur_freq");
            sum_khz += khz;
            n += khz > 0;
        }
    globfree(&found);
    return n == 0 ? RB_HEALTH_UNKNOWN : (int64_t)(sum_khz / n / 1000);
}

/* A zone of its own below a package is part of what the package counts. */
static bool is_package(const char *dir)
{
    char name[64], text[32];
    rb_sysfs_read(dir, "name", name, sizeof(name));
    return strncmp(name, "package", 7) == 0 && /* root alone may read it */
           rb_sysfs_read(dir, "energy_uj", text, sizeof(text)) > 0;
}

static void add_package(rb_energy_t *energy, const char *dir, size_t i)
{
    uint64_t now_uj = rb_sysfs_number(dir, "energy_uj");
    uint64_t range_uj = rb_sysfs_number(dir, "max_energy_range_uj");
    if (i < energy->npackages)
        energy->total_uj +=
            (int64_t)(now_uj >= energy->last_uj[i] ? now_uj - energy->last_uj[i]
                                                   : range_uj - energy->last_uj[i] + now_uj);
    energy->last_uj[i] = now_uj;
}

int64_t rb_health_energy_uj(rb_energy_t *energy, const char *sysfs)
{
    glob_t found = {0};
    size_t n = 0;
    RB_AUTO(rb_free_str) char *pattern = rb_asprintf("%s/class/powercap/*-rapl:*", sysfs);
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc && n < RB_MAX_PACKAGES; i++)
            if (is_package(found.gl_pathv[i]))
                add_package(energy, found.gl_pathv[i], n++);
    globfree(&found);
    energy->npackages = n;
    return n == 0 ? RB_HEALTH_UNKNOWN : energy->total_uj;
}
