#include "agent/verify_log.h"

#define XXH_INLINE_ALL
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "agent/buffer.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "logs are little endian");

#define MAGIC 0x0a31474f4c564252ull /* "RBVLOG1\n" */

typedef struct {
    uint64_t magic, hash;
    uint32_t size_bytes, ndrives;
    uint64_t run, bs_bytes;
    uint32_t phase, job;
    char run_id[RB_LOG_ID];
} head_t;
_Static_assert(sizeof(head_t) == 112, "the head has no padding");

enum { HASHED = 16 }; /* offset of what the head's hash is of [bytes] */

void rb_log_head_clear(rb_log_head_t *head)
{
    for (size_t i = 0; i < head->ndrives; i++)
        free(head->drives[i]);
    free(head->drives);
    *head = (rb_log_head_t){0};
}

int rb_log_head_pack(const rb_log_head_t *head, uint8_t **ret_data, size_t *ret_size, rb_err_t *err)
{
    head_t h = {MAGIC,       0,         0,  (uint32_t)head->ndrives, head->run, head->bs_bytes,
                head->phase, head->job, {0}};
    size_t size = sizeof(h), at = sizeof(h);
    for (size_t i = 0; i < head->ndrives; i++)
        size += strlen(head->drives[i]) + 1;
    if (size > RB_MAX_LOG_HEAD || head->ndrives > RB_MAX_DRIVES)
        return rb_err_set(
            err, RB_ERR_INPUT,
            "verify_log: too many drives, or their paths are too long; split the job");
    uint8_t *data = rb_calloc(size, 1);
    h.size_bytes = (uint32_t)size;
    memcpy(h.run_id, head->run_id, sizeof(h.run_id));
    memcpy(data, &h, sizeof(h));
    for (size_t i = 0; i < head->ndrives; i++) {
        size_t n = strlen(head->drives[i]) + 1;
        memcpy(data + at, head->drives[i], n);
        at += n;
    }
    h.hash = XXH3_64bits(data + HASHED, size - HASHED);
    memcpy(data, &h, HASHED);
    *ret_data = data;
    *ret_size = size;
    return 0;
}

/* ---- the head of a file ---- */

static int not_a_log(const char *path, const char *why, rb_err_t *err)
{
    return rb_err_set(err, RB_ERR_INPUT,
                      "verify_log: %s is no log of writes, or its head is damaged: %s", path, why);
}

static int take_drives(rb_log_head_t *head, const head_t *h, const char *text)
{
    const char *end = text + (h->size_bytes - sizeof(*h));
    head->drives = rb_calloc(h->ndrives, sizeof(*head->drives));
    for (; head->ndrives < h->ndrives; head->ndrives++) {
        const char *zero = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;
        if (zero == NULL)
            return -1;
        head->drives[head->ndrives] = rb_strdup(text);
        text = zero + 1;
    }
    return text == end ? 0 : -1;
}

static void free_bytes(uint8_t **data)
{
    free(*data);
}

static int read_head(FILE *f, const char *path, rb_log_head_t *head, rb_err_t *err)
{
    head_t h;
    if (fread(&h, sizeof(h), 1, f) != 1 || h.magic != MAGIC)
        return not_a_log(path, "it does not begin as one", err);
    if (h.size_bytes < sizeof(h) || h.size_bytes > RB_MAX_LOG_HEAD || h.ndrives == 0 ||
        h.ndrives > RB_MAX_DRIVES)
        return not_a_log(path, "sizes that none has", err);
    RB_AUTO(free_bytes) uint8_t *data = rb_calloc(h.size_bytes, 1);
    size_t rest = h.size_bytes - sizeof(h);
    memcpy(data, &h, sizeof(h));
    if ((rest > 0 && fread(data + sizeof(h), rest, 1, f) != 1) ||
        XXH3_64bits(data + HASHED, h.size_bytes - HASHED) != h.hash)
        return not_a_log(path, "its hash does not match", err);
    *head = (rb_log_head_t){.run = h.run, .bs_bytes = h.bs_bytes, .phase = h.phase, .job = h.job};
    memcpy(head->run_id, h.run_id, sizeof(h.run_id));
    head->run_id[sizeof(head->run_id) - 1] = '\0';
    if (h.bs_bytes == 0 || h.bs_bytes > INT64_MAX ||
        take_drives(head, &h, (const char *)data + sizeof(h)) < 0)
        return not_a_log(path, "its drives or bs", err);
    return 0;
}

/* ---- blocks ---- */

static int by_offset(const void *a, const void *b)
{
    const rb_log_write_t *x = a, *y = b;
    if (x->offset_bytes != y->offset_bytes)
        return x->offset_bytes < y->offset_bytes ? -1 : 1;
    return x->sequence < y->sequence ? -1 : x->sequence > y->sequence;
}

/* Sorted, and of each block only the newest write. */
static void compact(rb_log_blocks_t *b)
{
    size_t kept = 0;
    if (b->n > 0)
        qsort(b->blocks, b->n, sizeof(*b->blocks), by_offset);
    for (size_t i = 0; i < b->n; i++)
        if (i + 1 == b->n || b->blocks[i].offset_bytes != b->blocks[i + 1].offset_bytes)
            b->blocks[kept++] = b->blocks[i];
    b->n = kept;
}

enum { FIRST_CAPACITY = 4096 };

static int grow(rb_log_t *log, rb_log_blocks_t *b)
{
    size_t capacity = RB_MAX((size_t)FIRST_CAPACITY, 2 * b->capacity);
    uint64_t available_bytes = rb_memory_available_bytes();
    log->places += capacity - b->capacity;
    if (log->places > RB_MAX_LOG_PLACES ||
        (available_bytes > 0 && capacity * sizeof(*b->blocks) > available_bytes / 2))
        return -1;
    b->capacity = capacity;
    b->blocks = rb_realloc(b->blocks, capacity * sizeof(*b->blocks));
    return 0;
}

static int add(rb_log_t *log, rb_log_blocks_t *b, const rb_log_write_t *write)
{
    if (b->n == b->capacity) {
        compact(b);
        if (b->n >= b->capacity / 4 * 3 && grow(log, b) < 0)
            return -1;
    }
    b->blocks[b->n++] = *write;
    return 0;
}

static int too_many(const char *path, rb_err_t *err)
{
    return rb_err_set(err, RB_ERR_INPUT,
                      "verify_log: %s names more blocks than fit in memory (%d places at most); "
                      "take a larger bs, or a log for each part of the drive",
                      path, RB_MAX_LOG_PLACES);
}

/* ---- the whole ---- */

static int read_batches(FILE *f, rb_log_t *log, const char *path, uint64_t size_bytes,
                        rb_err_t *err)
{
    const rb_log_scan_opts_t opts = {log->head.run, log->head.bs_bytes, log->head.ndrives,
                                     size_bytes};
    RB_AUTO(rb_log_scan_destroy) rb_log_scan_t *scan = rb_log_scan_new(f, &opts);
    rb_log_record_t record;
    for (uint32_t n; (n = rb_log_scan_next(scan)) > 0; log->writes += n)
        for (uint32_t i = 0; i < n; i++) {
            record = rb_log_scan_record(scan, i);
            if (add(log, &log->of_drive[record.drive], &record.write) < 0)
                return too_many(path, err);
        }
    log->rest = rb_log_scan_rest(scan);
    return 0;
}

static void close_file(FILE **f)
{
    if (*f != NULL)
        fclose(*f);
}

static int open_log(const char *path, const rb_pin_t *pin, rb_err_t *err)
{
    const char *name;
    int directory = rb_pin_open(pin, path, &name, err);
    if (directory < 0)
        return rb_err_wrap(err, "verify_log");
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int why = errno;
    close(directory);
    errno = why;
    if (fd < 0 && errno == ENOENT)
        return rb_err_set(err, RB_ERR_INPUT,
                          "verify_log: %s does not exist on this host: name the log that a job "
                          "with verify: true has written here",
                          path);
    if (fd < 0 && errno == ELOOP)
        return rb_err_set(err, RB_ERR_INPUT, "verify_log: %s is a link; name the file itself",
                          path);
    return fd < 0 ? rb_err_errno(err, errno, "verify_log: open %s", path) : fd;
}

rb_log_t *rb_log_read_fd(int fd, const char *path, rb_err_t *err)
{
    struct stat st;
    RB_AUTO(close_file) FILE *f = fdopen(fd, "rb");
    RB_AUTO(rb_log_destroy) rb_log_t *log = rb_calloc(1, sizeof(*log));
    if (f == NULL)
        close(fd);
    if (f == NULL || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        not_a_log(path, "it is no regular file", err);
        return NULL;
    }
    if (read_head(f, path, &log->head, err) < 0)
        return NULL;
    log->of_drive = rb_calloc(log->head.ndrives, sizeof(*log->of_drive));
    if (read_batches(f, log, path, (uint64_t)st.st_size, err) < 0)
        return NULL;
    for (size_t i = 0; i < log->head.ndrives; i++)
        compact(&log->of_drive[i]);
    return RB_MOVE(log);
}

rb_log_t *rb_log_read(const char *path, const rb_pin_t *pin, rb_err_t *err)
{
    int fd = open_log(path, pin, err);
    return fd < 0 ? NULL : rb_log_read_fd(fd, path, err);
}

void rb_log_destroy(rb_log_t **log)
{
    if (*log == NULL)
        return;
    for (size_t i = 0; (*log)->of_drive != NULL && i < (*log)->head.ndrives; i++)
        free((*log)->of_drive[i].blocks);
    free((*log)->of_drive);
    rb_log_head_clear(&(*log)->head);
    free(*log);
    *log = NULL;
}

const rb_log_blocks_t *rb_log_of_drive(const rb_log_t *log, const char *path)
{
    for (size_t i = 0; i < log->head.ndrives; i++)
        if (strcmp(log->head.drives[i], path) == 0)
            return &log->of_drive[i];
    return NULL;
}
