#include "coordinator/plan/fio_job.h"

#include <inttypes.h>

#include "coordinator/plan/resolve.h"

enum { LEAST_FILE_BYTES = 4096 };

/* ---- names ---- */

/* The next of names with `:` between them, where `\:` is a colon; freed by the caller. */
static char *next_name(const char **text)
{
    char *name = rb_calloc(1, strlen(*text) + 1);
    size_t n = 0;
    for (; **text != '\0' && **text != ':'; (*text)++) {
        if (**text == '\\' && (*text)[1] != '\0')
            (*text)++;
        name[n++] = **text;
    }
    *text += **text == ':';
    return name;
}

/* $jobname, $jobnum and $filenum of filename_format. */
static char *format_name(const char *format, const char *jobname, size_t file)
{
    char *out = rb_strdup("");
    while (*format != '\0') {
        RB_AUTO(rb_free_str) char *before = out;
        RB_AUTO(rb_free_str) char *number = rb_asprintf("%zu", file);
        const char *const words[][2] = {
            {"$jobname", jobname}, {"$jobnum", "0"}, {"$filenum", number}};
        const char *piece = NULL;
        size_t used = 1;
        for (size_t i = 0; i < RB_LEN(words) && !piece; i++) {
            size_t n = strlen(words[i][0]);
            if (strncmp(format, words[i][0], n) == 0) {
                piece = words[i][1];
                used = n;
            }
        }
        out = piece ? rb_asprintf("%s%s", before, piece) : rb_asprintf("%s%c", before, *format);
        format += used;
    }
    return out;
}

static void take_names(rb_fio_job_t *job, const rb_fio_line_t *line)
{
    for (const char *rest = line->value; *rest != '\0' && job->nnames < RB_MAX_FIO_FILES;)
        *RB_PUSH(job->names, job->nnames) = next_name(&rest);
}

static int make_names(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *format = rb_fio_get(job, "filename_format");
    const rb_fio_line_t *line = rb_fio_get(job, "nrfiles");
    const char *text = format ? format->value : "$jobname.$jobnum.$filenum";
    uint64_t n = 1;
    if (rb_fio_get_number(f, job, "nrfiles", &n) != 0)
        return -1;
    if (n < 1 || n > RB_MAX_FIO_FILES)
        return rb_fio_fail(f, line, "1 to 4096 files are right");
    job->is_private = strstr(text, "$jobnum") != NULL;
    for (size_t i = 0; i < n; i++)
        *RB_PUSH(job->names, job->nnames) = format_name(text, job->job->name, i);
    return 0;
}

static bool is_device(const char *name)
{
    return strncmp(name, "/dev/", 5) == 0 && strncmp(name, "/dev/shm/", 9) != 0;
}

/* Directory and file name of a path, in place: names become file names. */
static int split_paths(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line,
                       const char *directory)
{
    for (size_t i = 0; i < job->nnames; i++) {
        RB_AUTO(rb_free_str)
        char *path = rb_asprintf("%s%s%s", directory, *directory ? "/" : "", job->names[i]);
        char *slash = strrchr(path, '/');
        char *base = slash ? slash + 1 : path;
        RB_AUTO(rb_free_str)
        char *parent = rb_strndup(path, slash ? (size_t)(slash - path) : 0);
        if (*base == '\0')
            return rb_fio_fail(f, line, "a file without a name");
        if (i > 0 && strcmp(parent, job->directory) != 0)
            return rb_fio_fail(f, line, "files in several directories; a job for each directory");
        free(job->names[i]);
        job->names[i] = rb_strdup(base);
        free(job->directory);
        job->directory = RB_MOVE(parent);
    }
    return 0;
}

/* Options that are not looked at beside another. */
static void note_idle(rb_fio_t *f, const rb_fio_job_t *job)
{
    static const struct {
        const char *name, *why;
        bool of_device;
    } rows[] = {{"nrfiles", "filename names the files", false},
                {"filename_format", "filename names the files", false},
                {"filesize", "a drive has the size that it has", true},
                {"directory", "a drive is named by its path", true}};
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        const rb_fio_line_t *line = rb_fio_get(job, rows[i].name);
        if (line && rb_fio_get(job, "filename") && (job->is_device || !rows[i].of_device))
            rb_fio_note(f, line, "left out: %s", rows[i].why);
    }
}

static int map_names(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "filename");
    const rb_fio_line_t *directory = rb_fio_get(job, "directory");
    size_t ndevices = 0;
    if (line)
        take_names(job, line);
    else if (make_names(f, job) != 0)
        return -1;
    for (size_t i = 0; i < job->nnames; i++)
        ndevices += is_device(job->names[i]);
    if (job->nnames == 0 || strcmp(job->names[0], "-") == 0)
        return rb_fio_fail(f, line, "the name of a file or a device is right");
    if (ndevices > 0 && ndevices < job->nnames)
        return rb_fio_fail(f, line, "files and devices in one job; use two");
    job->is_device = ndevices > 0;
    note_idle(f, job);
    if (job->is_device)
        return 0;
    if (directory && strchr(directory->value, ':'))
        return rb_fio_fail(f, directory, "several directories; a job for each is right");
    if (split_paths(f, job, line ? line : job->head, directory ? directory->value : "") != 0)
        return -1;
    if (*job->directory != '/' && (*job->directory || directory || line))
        rb_fio_note(f, line ? line : directory,
                    "a path that is not from / on: the file lies in the agent's scratch directory");
    return 0;
}

/* ---- sizes ---- */

/* A number of bytes, or percent of whole; 0 where the option is not given. */
static int bytes_of(rb_fio_t *f, rb_fio_job_t *job, const char *name, uint64_t whole, uint64_t *ret)
{
    const rb_fio_line_t *line = rb_fio_get(job, name);
    uint32_t percent = 0;
    *ret = 0;
    if (!line || !rb_fio_percent(line->value, &percent))
        return rb_fio_get_number(f, job, name, ret);
    if (whole == 0)
        return rb_fio_fail(f, line, "percent of a file whose filesize is not given; write a size");
    *ret = (uint64_t)((unsigned __int128)whole * percent / 100);
    return 0;
}

static int map_device(rb_fio_t *f, rb_fio_job_t *job)
{
    static const char *const keys[] = {"size", "offset"};
    static const char *const percents[] = {"size_percent", "offset_percent"};
    for (size_t i = 0; i < RB_LEN(keys); i++) {
        const rb_fio_line_t *line = rb_fio_get(job, keys[i]);
        uint64_t bytes = 0;
        uint32_t percent = 0;
        if (line && rb_fio_percent(line->value, &percent)) {
            if (percent > 0 && percent < 100)
                rb_fio_set(job, percents[i], percent, line);
            continue;
        }
        if (bytes_of(f, job, keys[i], 0, &bytes) != 0)
            return -1;
        if (i == 0)
            bytes = job->region_bytes = bytes / job->nnames;
        if (bytes > 0)
            rb_fio_set(job, keys[i], bytes, line);
    }
    return 0;
}

static int no_size(rb_fio_t *f, const rb_fio_job_t *job)
{
    return rb_fio_fail(f, job->head, "a file needs a size; write size= or filesize=");
}

static int map_file(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *fill = rb_fio_get(job, "fill_device");
    uint64_t file = 0, size = 0, offset = 0;
    bool fills = false;
    if (rb_fio_get_flag(f, job, "fill_device", &fills) != 0)
        return -1;
    if (fills)
        return rb_fio_fail(f, fill, "file systems are not filled up; write a size");
    if (rb_fio_get(job, "filesize") && strpbrk(rb_fio_get(job, "filesize")->value, "-,"))
        return rb_fio_fail(f, rb_fio_get(job, "filesize"), "files have one size; leave the range");
    if (bytes_of(f, job, "filesize", 0, &file) != 0 ||
        bytes_of(f, job, "size", file * job->nnames, &size) != 0 ||
        bytes_of(f, job, "offset", file, &offset) != 0)
        return -1;
    if ((file | size | offset) >> 60)
        return rb_fio_fail(f, job->head, "a size of more than 1 EiB; lower it");
    if (file == 0 && size / job->nnames == 0)
        return no_size(f, job);
    if (file > 0 && offset >= file)
        return rb_fio_fail(f, rb_fio_get(job, "offset"), "it is beyond filesize; lower it");
    job->region_bytes = file > 0 ? file - offset : size / job->nnames;
    if (file > 0 && size > 0 && size / job->nnames < job->region_bytes)
        job->amount_bytes = size / job->nnames;
    job->file_bytes = offset + job->region_bytes;
    if (offset > 0)
        rb_fio_set(job, "offset", offset, rb_fio_get(job, "offset"));
    return 0;
}

/* ---- workers ---- */

static int map_increment(rb_fio_t *f, rb_fio_job_t *job, uint64_t numjobs)
{
    const rb_fio_line_t *line = rb_fio_get(job, "offset_increment");
    uint64_t bytes = 0, last = 0;
    if (!line || numjobs < 2)
        return 0;
    if (job->is_private)
        return rb_fio_fail(f, line, "each of the numjobs has files of its own; name a filename");
    if (bytes_of(f, job, "offset_increment", 0, &bytes) != 0)
        return -1;
    if (__builtin_mul_overflow(bytes, numjobs - 1, &last) || last >> 60)
        return rb_fio_fail(f, line, "the last of the numjobs starts beyond 1 EiB; lower it");
    if (bytes == 0)
        return 0;
    rb_fio_set(job, "offset_increment", bytes, line);
    job->file_bytes += job->is_device || rb_fio_get(job, "filesize") ? 0 : last;
    return 0;
}

/* Each file has a worker of its own, which has its part of what fio does in turns. */
static int map_depth(rb_fio_t *f, rb_fio_job_t *job)
{
    uint64_t depth = RB_MAX(job->job->iodepth, 1u), n = job->nnames;
    const rb_fio_line_t *line = rb_fio_get(job, "iodepth");
    if (n == 1)
        return 0;
    if (depth % n != 0 &&
        rb_fio_lacks(f, line ? line : job->head,
                     "each of the %zu files has a worker of its own, which keeps its part of "
                     "iodepth in flight; a multiple of %zu is right",
                     job->nnames, job->nnames) != 0)
        return -1;
    rb_fio_set(job, "iodepth", RB_MAX(depth / n, 1u), line);
    return 0;
}

static int map_workers(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "numjobs");
    uint64_t numjobs = 1;
    if (rb_fio_get_number(f, job, "numjobs", &numjobs) != 0)
        return -1;
    if (numjobs < 1 || numjobs * job->nnames > RB_MAX_FIO_FILES)
        return rb_fio_fail(f, line ? line : job->head,
                           "1 to 4096 jobs, and no more than 4096 files in all, are right");
    if (job->is_private && numjobs > 1)
        rb_fio_note(f, line, "each has a file of its own: %" PRIu64 " files with a worker each",
                    numjobs * job->nnames);
    job->nfiles = job->is_private ? numjobs * job->nnames : job->nnames;
    if (!job->is_private && numjobs > 1) {
        rb_fio_set(job, "numjobs", numjobs, line);
        if (rb_rw_is_sequential(job->job->rw) &&
            rb_fio_set_word(f, job, "seq_layout", "same", line) != 0)
            return -1;
    }
    return map_increment(f, job, numjobs);
}

int rb_fio_map_files(rb_fio_t *f, rb_fio_job_t *job)
{
    if (map_names(f, job) != 0)
        return -1;
    if ((job->is_device ? map_device : map_file)(f, job) != 0 || map_depth(f, job) != 0)
        return -1;
    return map_workers(f, job);
}
