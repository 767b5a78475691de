#include "agent/target_logs.h"

#include <errno.h>
#include <sys/stat.h>

#include "agent/target_files.h"

static bool is_missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 && errno == ENOENT;
}

/* RB_ERR_INPUT: no absolute path to a file. */
static int directory_of(const char *path, char *ret_directory, rb_err_t *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? "" : slash + 1;
    if (*path != '/' || *name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
        strlen(path) >= PATH_MAX)
        return rb_err_set(err, RB_ERR_INPUT, "'%.200s' is no path of a file, from / on", path);
    size_t n = RB_MAX((size_t)(slash - path), (size_t)1);
    memcpy(ret_directory, path, n);
    ret_directory[n] = '\0';
    return 0;
}

static int check_file(const char *path, bool writes, rb_err_t *err)
{
    struct stat st;
    if (lstat(path, &st) != 0)
        return errno == ENOENT ? 0 : rb_err_errno(err, errno, "%s", path);
    if (writes)
        return rb_err_set(err, RB_ERR_INPUT,
                          "%s is there already, and may be the only witness of what an earlier run "
                          "wrote; remove it, or name another one",
                          path);
    if (!S_ISREG(st.st_mode))
        return rb_err_set(err, RB_ERR_INPUT, "%s is no regular file; name the log itself", path);
    return 0;
}

static int check_place(const char *path, bool writes, const rb_allowances_t *allowances,
                       rb_err_t *err)
{
    char directory[PATH_MAX];
    if (directory_of(path, directory, err) != 0)
        return -1;
    if (strcmp(directory, allowances->scratch) == 0 && is_missing(directory))
        return 0;
    if (rb_file_directory_check(directory, "verify_log", allowances, err) != 0)
        return -1;
    return check_file(path, writes, err);
}

static int check_job(const Rackbench__Job *job, const rb_allowances_t *allowances, rb_err_t *err)
{
    if (job->verify_log == NULL ||
        check_place(job->verify_log, !job->verify_only, allowances, err) == 0)
        return 0;
    return rb_err_wrap(err, "job '%s': verify_log", job->name == NULL ? "" : job->name);
}

/* By a phase before that one. */
static bool is_written_before(const Rackbench__Plan *plan, size_t phase, const char *path)
{
    for (size_t i = 0; i < phase; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++) {
            const Rackbench__Job *job = plan->phases[i]->jobs[k];
            if (job->verify_log != NULL && !job->verify_only && strcmp(job->verify_log, path) == 0)
                return true;
        }
    return false;
}

static int check_there(const Rackbench__Plan *plan, size_t phase, const Rackbench__Job *job,
                       rb_err_t *err)
{
    if (job->verify_log == NULL || !job->verify_only || !is_missing(job->verify_log) ||
        is_written_before(plan, phase, job->verify_log))
        return 0;
    return rb_err_set(err, RB_ERR_INPUT,
                      "job '%s': verify_log: %s does not exist on this host; name the log that a "
                      "job with verify: true has written here",
                      job->name == NULL ? "" : job->name, job->verify_log);
}

int rb_target_logs_check(const Rackbench__Plan *plan, const rb_allowances_t *allowances,
                         rb_err_t *err)
{
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++) {
            const Rackbench__Job *job = plan->phases[i]->jobs[k];
            if (check_job(job, allowances, err) != 0 || check_there(plan, i, job, err) != 0)
                return -1;
        }
    return 0;
}

static bool is_in(const char *path, const char *directory)
{
    size_t n = strlen(directory);
    return strncmp(path, directory, n) == 0 && strrchr(path, '/') == path + n;
}

static int prepare(const Rackbench__Job *job, const rb_allowances_t *allowances,
                   rb_log_place_t *ret_place, rb_err_t *err)
{
    char directory[PATH_MAX];
    if (!job->verify_only && is_in(job->verify_log, allowances->scratch) &&
        rb_file_make_directory(allowances->scratch, err) != 0)
        return -1;
    ret_place->path = job->verify_log;
    if (directory_of(job->verify_log, directory, err) == 0 &&
        rb_file_pin_directory(directory, allowances, &ret_place->pin, err) == 0)
        return 0;
    return rb_err_wrap(err, "job '%s': verify_log", job->name == NULL ? "" : job->name);
}

int rb_target_logs_phase(const Rackbench__Phase *phase, const rb_allowances_t *allowances,
                         rb_log_places_t *ret_places, rb_err_t *err)
{
    ret_places->n = 0;
    for (size_t k = 0; k < phase->n_jobs; k++) {
        const Rackbench__Job *job = phase->jobs[k];
        rb_log_place_t place;
        if (job->verify_log == NULL)
            continue;
        if (check_job(job, allowances, err) != 0 || prepare(job, allowances, &place, err) != 0)
            return -1;
        *RB_PUSH(ret_places->items, ret_places->n) = place;
    }
    return 0;
}
