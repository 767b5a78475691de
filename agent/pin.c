#include "agent/pin.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int rb_pin_open(const rb_pin_t *pin, const char *path, const char **ret_name, rb_err_t *err)
{
    const char *slash = strrchr(path, '/');
    RB_AUTO(rb_free_str)
    char *directory =
        slash == NULL ? rb_strdup(".") : rb_strndup(path, (size_t)RB_MAX(slash - path, 1));
    struct stat st;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return rb_err_errno(err, errno, "open directory %s", directory);
    *ret_name = slash == NULL ? path : slash + 1;
    if (pin->ino == 0 || (fstat(fd, &st) == 0 && st.st_dev == pin->dev && st.st_ino == pin->ino))
        return fd;
    close(fd);
    return rb_err_set(err, RB_ERR_UNSAFE,
                      "open %s: %s is another directory now than when it was checked; nothing was "
                      "written to it: run again",
                      path, directory);
}
