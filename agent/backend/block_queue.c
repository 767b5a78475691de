#include "agent/backend/block_queue.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

uint64_t rb_block_queue(int fd, const char *attribute)
{
    const char *const where[] = {"queue", "../queue"}; /* of a drive, of a partition */
    struct stat st;
    uint64_t value = 0;
    if (fstat(fd, &st) < 0)
        return 0;
    dev_t dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
    for (size_t i = 0; i < RB_LEN(where); i++) {
        char name[128];
        snprintf(name, sizeof(name), "/sys/dev/block/%u:%u/%s/%s", major(dev), minor(dev), where[i],
                 attribute);
        FILE *f = fopen(name, "re");
        if (f == NULL)
            continue;
        if (fscanf(f, "%" SCNu64, &value) != 1)
            value = 0;
        fclose(f);
        break;
    }
    return value;
}
