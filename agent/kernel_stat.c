#include "agent/kernel_stat.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static int parse(const char *line, rb_kernel_stat_t *ret_stat)
{
    /* ios, merges, sectors, ticks of reads; of writes; in flight, two times; of discards. */
    rb_kernel_counter_t r, w, d;
    int n = sscanf(line,
                   "%" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64
                   " %*u %*u %*u %*u %" SCNu64 " %*u %" SCNu64,
                   &r.ios, &r.sectors, &w.ios, &w.sectors, &d.ios, &d.sectors);
    if (n != 6)
        return -1;
    *ret_stat = (rb_kernel_stat_t){{r, w, d}};
    return 0;
}

int rb_kernel_stat_device(const char *path, dev_t *ret_rdev, rb_err_t *err)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return rb_err_errno(err, errno, "kernel counters of %s", path);
    *ret_rdev = st.st_rdev;
    return 0;
}

int rb_kernel_stat_read(dev_t rdev, const char *path, rb_kernel_stat_t *ret_stat, rb_err_t *err)
{
    char name[64], line[512];
    snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/stat", major(rdev), minor(rdev));
    FILE *f = fopen(name, "re");
    if (f == NULL)
        return rb_err_set(err, RB_ERR_IO, "kernel counters of %s: %s: %s", path, name,
                          strerror(errno));
    bool ok = fgets(line, sizeof(line), f) != NULL && parse(line, ret_stat) == 0;
    fclose(f);
    if (!ok)
        return rb_err_set(err, RB_ERR_IO,
                          "kernel counters of %s: %s holds fewer than 15 numbers (Linux 4.18 and "
                          "newer have them)",
                          path, name);
    return 0;
}
