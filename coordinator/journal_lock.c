#include "coordinator/journal_lock.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

enum { LOCK_TRIES = 4 };

/* Process that holds a lock on the file; 0: it is not told. A line of the kernel's list:
 * "1: FLOCK  ADVISORY  WRITE 4711 08:02:1234 0 EOF" */
static int lock_owner(int fd)
{
    struct stat st;
    char line[256];
    int owner = 0;
    FILE *locks = fopen("/proc/locks", "re");
    if (locks == NULL || fstat(fd, &st) != 0) {
        if (locks != NULL)
            fclose(locks);
        return 0;
    }
    while (owner == 0 && fgets(line, sizeof(line), locks) != NULL) {
        int pid;
        unsigned dev_major, dev_minor;
        unsigned long long inode;
        if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%llu", &pid, &dev_major, &dev_minor,
                   &inode) == 4 &&
            inode == st.st_ino && dev_major == major(st.st_dev) && dev_minor == minor(st.st_dev))
            owner = pid;
    }
    fclose(locks);
    return owner;
}

/* Who asks whether the run lives (rb_journal_held) has the lock for a moment. */
static int try_lock(int fd)
{
    const struct timespec pause = {.tv_nsec = 10 * 1000000};
    int rc = -1;
    for (int i = 0; i < LOCK_TRIES && rc != 0; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        rc = flock(fd, LOCK_EX | LOCK_NB);
    }
    return rc;
}

int rb_journal_lock(int fd, const char *path, rb_err_t *err)
{
    if (try_lock(fd) == 0)
        return 0;
    if (errno != EWOULDBLOCK)
        return rb_err_errno(err, errno, "lock the journal %s", path);
    int owner = lock_owner(fd);
    RB_AUTO(rb_free_str)
    char *who = owner > 0 ? rb_asprintf("process %d", owner) : rb_strdup("another process");
    return rb_err_set(err, RB_ERR_INPUT, "journal %s: the run is under way in %s", path, who);
}
