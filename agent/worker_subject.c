#include "agent/worker_subject.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/buffer.h"
#include "agent/drives.h"
#include "agent/pin.h"

void rb_worker_subject_init(rb_worker_subject_t *s, const rb_subject_t *at)
{
    memset(s, 0, sizeof(*s));
    s->at = *at;
    s->claim_fd = -1;
    s->layout.service = rb_hist_new();
    pthread_mutex_init(&s->mutex, NULL);
}

void rb_worker_subject_clear(rb_worker_subject_t *s)
{
    rb_worker_subject_release(s);
    rb_hist_destroy(&s->layout.service);
    pthread_mutex_destroy(&s->mutex);
}

/* A guard that looks at the drive (ours, of another agent, udev) holds it for some milliseconds. */
enum { CLAIM_TRIES = 20, CLAIM_PAUSE_US = 10000 };

/* Who holds the drive holds its block device: /dev/nvme0n1 for /dev/ng0n1. */
static void claimed_path(const rb_worker_subject_t *s, char *ret_path, size_t size)
{
    const char *name = strrchr(s->at.path, '/');
    name = name == NULL ? s->at.path : name + 1;
    if (s->passthrough && strncmp(name, "ng", 2) == 0)
        snprintf(ret_path, size, "/dev/nvme%s", name + 2);
    else
        snprintf(ret_path, size, "%s", s->at.path);
}

/* What a path leads to may have changed since the guard looked: the descriptor does not. */
static int check_device(const rb_worker_subject_t *s, int fd, rb_err_t *err)
{
    if (s->at.pinned_ino == 0 || rb_drive_is(fd, s->at.pinned_dev, s->at.pinned_diskseq))
        return 0;
    return rb_err_set(err, RB_ERR_UNSAFE,
                      "open %s: it leads to another device now than when it was checked; nothing "
                      "was written to it: run again",
                      s->at.path);
}

/* The directory that the guard judged, and the name in it. */
static int open_directory(const rb_worker_subject_t *s, const char **ret_name, rb_err_t *err)
{
    rb_pin_t pin = {s->at.pinned_dev, s->at.pinned_ino};
    return rb_pin_open(&pin, s->at.path, ret_name, err);
}

static int claim(rb_worker_subject_t *s, rb_err_t *err)
{
    char path[sizeof(s->at.path)];
    claimed_path(s, path, sizeof(path));
    for (int i = 0; i < CLAIM_TRIES; i++) {
        s->claim_fd = open(path, O_RDWR | O_EXCL | O_CLOEXEC);
        if (s->claim_fd >= 0 || errno != EBUSY)
            break;
        if (i + 1 < CLAIM_TRIES)
            usleep(CLAIM_PAUSE_US);
    }
    if (s->claim_fd < 0 && errno == EBUSY)
        return rb_err_set(err, RB_ERR_UNSAFE,
                          "open %s for writing: another program or a mount holds it; free it or "
                          "choose another drive",
                          path);
    if (s->claim_fd < 0)
        return rb_err_errno(err, errno, "open %s for writing", path);
    return check_device(s, s->claim_fd, err);
}

static int lay_out(rb_worker_subject_t *s, rb_crew_t *crew, uint64_t seed, rb_err_t *err)
{
    rb_layout_opts_t opts = {.path = s->at.path,
                             .size_bytes = s->at.size_bytes,
                             .seed = seed,
                             .done_bytes = &crew->layout_done_bytes,
                             .give_up = &crew->give_up};
    opts.directory_fd = open_directory(s, &opts.name, err);
    if (opts.directory_fd < 0)
        return -1;
    int rc = rb_layout_write(&opts, &s->layout, err);
    close(opts.directory_fd);
    return rc;
}

static int prepare(rb_worker_subject_t *s, rb_crew_t *crew, uint64_t seed, rb_err_t *err)
{
    if (s->at.is_device)
        return s->written ? claim(s, err) : 0;
    return s->at.needs_layout ? lay_out(s, crew, seed, err) : 0;
}

int rb_worker_subject_prepare(rb_worker_subject_t *s, rb_crew_t *crew, uint64_t seed, rb_err_t *err)
{
    pthread_mutex_lock(&s->mutex);
    if (!s->tried && atomic_load(&crew->give_up))
        rb_err_set(&s->fault, RB_ERR_INTERRUPTED, "%s: given up", s->at.path);
    else if (!s->tried)
        prepare(s, crew, seed, &s->fault);
    s->tried = true;
    *err = s->fault;
    pthread_mutex_unlock(&s->mutex);
    return err->code == RB_OK ? 0 : -1;
}

bool rb_worker_subject_counted(const rb_worker_subject_t *s)
{
    return s->at.is_device && s->used && !s->passthrough;
}

static void probe_nowait(rb_worker_subject_t *s, int fd)
{
    struct iovec iov = {rb_buffer_new(RB_BUFFER_ALIGN), RB_BUFFER_ALIGN};
    if (preadv2(fd, &iov, 1, 0, RWF_NOWAIT) < 0 && errno == EOPNOTSUPP)
        atomic_store(&s->iowq, true);
    rb_buffer_free(iov.iov_base, RB_BUFFER_ALIGN);
}

/* A read that updates the time of access of its file costs up to a tenth more. Only the owner of
 * the file may leave that out; else it stays. */
static void leave_access_time(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0)
        (void)!fcntl(fd, F_SETFL, flags | O_NOATIME);
}

static int open_device(const rb_worker_subject_t *s, int flags, rb_err_t *err)
{
    int fd = open(s->at.path, flags);
    if (fd < 0 || check_device(s, fd, err) == 0)
        return fd;
    close(fd);
    return -1;
}

/* A second name, or a link, might be somebody's file. */
static int open_file(const rb_worker_subject_t *s, int flags, rb_err_t *err)
{
    const char *name;
    struct stat st;
    int directory = open_directory(s, &name, err);
    if (directory < 0)
        return -1;
    int fd = openat(directory, name, flags | (s->at.pinned_ino != 0 ? O_NOFOLLOW : 0));
    int why = errno;
    close(directory);
    errno = why;
    if (fd < 0 || s->at.pinned_ino == 0 ||
        (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1))
        return fd;
    close(fd);
    return rb_err_set(err, RB_ERR_UNSAFE, "open %s: it is no longer the file that was checked",
                      s->at.path);
}

int rb_worker_subject_open(rb_worker_subject_t *s, const rb_open_opts_t *opts, rb_err_t *err)
{
    struct stat st;
    bool direct = opts->cache == RB_OPEN_DIRECT;
    int flags = O_CLOEXEC | opts->sync_flags | (opts->mode == RB_OPEN_WRITE ? O_RDWR : O_RDONLY);
    if (!s->passthrough && stat(s->at.path, &st) == 0 && S_ISCHR(st.st_mode))
        return rb_err_set(err, RB_ERR_INPUT,
                          "open %s: it is no block device; set ioengine: io_uring_cmd (NVMe "
                          "passthrough) or choose another drive",
                          s->at.path);
    /* A character device has no cache, and refuses O_DIRECT. */
    flags |= direct && !s->passthrough ? O_DIRECT : 0;
    *err = (rb_err_t){0};
    int fd = s->at.is_device ? open_device(s, flags, err) : open_file(s, flags, err);
    if (fd < 0 && err->code != RB_OK)
        return -1;
    if (fd < 0 && errno == EINVAL && direct)
        return rb_err_set(err, RB_ERR_INPUT,
                          "open %s: its file system knows no O_DIRECT; set direct: false or choose "
                          "another directory",
                          s->at.path);
    if (fd < 0)
        return rb_err_errno(err, errno, "open %s", s->at.path);
    leave_access_time(fd);
    probe_nowait(s, fd);
    return fd;
}

int rb_worker_subject_hint(rb_worker_subject_t *s, int fd, uint64_t hint)
{
    int rc = fcntl(fd, F_SET_RW_HINT, &hint);
    if (rc < 0)
        return -errno;
    pthread_mutex_lock(&s->mutex);
    s->hinted = true;
    pthread_mutex_unlock(&s->mutex);
    return 0;
}

/* Else it would stay for as long as the kernel knows the file. */
static void take_hint_away(rb_worker_subject_t *s)
{
    uint64_t hint = RWH_WRITE_LIFE_NOT_SET;
    int fd = s->hinted ? open(s->at.path, O_RDONLY | O_CLOEXEC) : -1;
    s->hinted = false;
    if (fd < 0)
        return;
    fcntl(fd, F_SET_RW_HINT, &hint);
    close(fd);
}

void rb_worker_subject_release(rb_worker_subject_t *s)
{
    take_hint_away(s);
    if (s->claim_fd >= 0)
        close(s->claim_fd);
    s->claim_fd = -1;
}
