#include "coordinator/run_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static const char *const files[] = {"plan.yaml", "plan.resolved.yaml", "journal.rbj",
                                    "result.json"};

void rb_run_id(char id[RB_RUN_ID])
{
    static const char letters[] = "abcdefghjkmnpqrstuvwxyz023456789"; /* 32, none alike */
    uint8_t random[RB_RUN_ID - 1];
    ssize_t n = getrandom(random, sizeof(random), 0);
    RB_ASSERT(n == (ssize_t)sizeof(random));
    for (size_t i = 0; i < sizeof(random); i++)
        id[i] = letters[random[i] & 31];
    id[RB_RUN_ID - 1] = '\0';
}

/* A name in the kernel's abstract namespace: gone with the process, however that ends. */
int rb_run_claim(const char *id, rb_err_t *err)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int n = snprintf(name.sun_path + 1, sizeof(name.sun_path) - 1, "rackbench/%s", id);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&name, size) == 0)
        return 0; /* kept open */
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (error == EADDRINUSE)
        return rb_err_set(
            err, RB_ERR_INPUT,
            "run %s is under way in another process of this machine: this directory is "
            "a copy of that run's; rackbench status and attach take the original",
            id);
    return rb_err_errno(err, error, "claim run %s", id);
}

char *rb_run_dir_make(const char *output, const char *name, const char *id, uint64_t wall_ns,
                      rb_err_t *err)
{
    time_t s = (time_t)(wall_ns / RB_NS_PER_S);
    struct tm tm;
    char stamp[32];
    gmtime_r(&s, &tm);
    strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &tm);
    char *path = output != NULL ? rb_strdup(output) : rb_asprintf("%s-%s-%s", name, stamp, id);
    /* An empty directory may be there; one with a journal is somebody's run. */
    if (mkdir(path, 0777) != 0 && (errno != EEXIST || output == NULL)) {
        rb_err_errno(err, errno, "make the run directory %s", path);
        rb_free_str(&path);
        return NULL;
    }
    for (size_t i = 0; i < RB_LEN(files); i++) {
        RB_AUTO(rb_free_str) char *file = rb_run_dir_path(path, files[i]);
        struct stat st;
        if (lstat(file, &st) == 0) {
            rb_err_set(err, RB_ERR_INPUT,
                       "%s holds a %s already; name another directory by --output", path, files[i]);
            rb_free_str(&path);
            return NULL;
        }
    }
    return path;
}

char *rb_run_dir_path(const char *directory, const char *file)
{
    return rb_asprintf("%s/%s", directory, file);
}

static bool has_journal(const char *directory)
{
    RB_AUTO(rb_free_str) char *journal = rb_run_dir_path(directory, "journal.rbj");
    return access(journal, R_OK) == 0;
}

char *rb_run_dir_find(const char *run, rb_err_t *err)
{
    glob_t found = {0};
    char *path = NULL;
    if (has_journal(run))
        return rb_strdup(run);
    RB_AUTO(rb_free_str) char *pattern = rb_asprintf("./*-%s", run);
    if (strpbrk(run, "/*?[") == NULL && glob(pattern, 0, NULL, &found) == 0 &&
        found.gl_pathc == 1 && has_journal(found.gl_pathv[0]))
        path = rb_strdup(found.gl_pathv[0]);
    else
        rb_err_set(err, RB_ERR_INPUT,
                   "'%s' is no run: a run is a directory with a journal.rbj in it, or the id at "
                   "the end of "
                   "such a directory's name here",
                   run);
    globfree(&found);
    return path;
}

FILE *rb_run_dir_create(const char *path, rb_err_t *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL && errno == EEXIST)
        rb_err_set(err, RB_ERR_INPUT, "%s is there already; name another directory by --output",
                   path);
    else if (out == NULL)
        rb_err_errno(err, errno, "write %s", path);
    return out;
}

int rb_run_dir_write(const char *directory, const char *file, const char *text, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, file);
    FILE *out = rb_run_dir_create(path, err);
    if (out == NULL)
        return -1;
    bool bad = fputs(text, out) < 0;
    bad = fclose(out) != 0 || bad;
    return bad ? rb_err_set(err, RB_ERR_IO, "write %s: %s", path, strerror(errno)) : 0;
}

void rb_run_dir_remove(const char *directory)
{
    for (size_t i = 0; i < RB_LEN(files); i++) {
        RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}
