#include "coordinator/journal.h"

#include "coordinator/journal_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <zlib.h>

#define MAGIC "RBJRNL1\n"
enum { MAGIC_BYTES = 8, HEADER_BYTES = 12 };

static void put_le32(uint8_t *p, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t get_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Over length and host as they stand in the header, and the payload. */
static uint32_t record_crc(const uint8_t *header, const void *data, size_t size)
{
    uLong crc = crc32(crc32(0, NULL, 0), header, 8);
    return (uint32_t)(size == 0 ? crc : crc32(crc, data, (uInt)size));
}

/* ---------------------------------------------------------------- writing */

struct rb_journal {
    int fd;
    bool spoiled;  /* a torn record could not be taken back */
    bool dirty;    /* appended to since the last sync */
    uint64_t size; /* [bytes], up to the last whole record */
    char *path;
};

/* Every failed write is RB_ERR_IO, whatever its errno. */
static int io_failed(const char *path, int errnum, rb_err_t *err)
{
    rb_err_errno(err, errnum, "journal %s", path);
    err->code = RB_ERR_IO;
    return -1;
}

/* Returns 0 or -errno. A short write is tried again for its rest: only that tells the reason. */
static int write_all(int fd, struct iovec *iov, int n)
{
    while (n > 0) {
        ssize_t done = writev(fd, iov, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return -errno;
        for (; n > 0 && (size_t)done >= iov->iov_len; iov++, n--)
            done -= (ssize_t)iov->iov_len;
        if (n > 0) {
            iov->iov_base = (char *)iov->iov_base + done;
            iov->iov_len -= (size_t)done;
        }
    }
    return 0;
}

static int create_file(const char *path, rb_err_t *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 && errno == EEXIST)
        return rb_err_set(err, RB_ERR_INPUT, "journal %s: exists already; choose another directory",
                          path);
    if (fd < 0)
        return rb_err_errno(err, errno, "journal %s", path);
    return fd;
}

static rb_journal_t *new_journal(int fd, const char *path, uint64_t size)
{
    rb_journal_t *j = rb_calloc(1, sizeof(*j));
    *j = (rb_journal_t){.fd = fd, .size = size, .path = rb_strdup(path)};
    return j;
}

rb_journal_t *rb_journal_create(const char *path, rb_err_t *err)
{
    int fd = create_file(path, err);
    if (fd < 0)
        return NULL;
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = new_journal(fd, path, MAGIC_BYTES);
    if (rb_journal_lock(fd, path, err) != 0)
        return NULL;
    char magic[] = MAGIC;
    struct iovec iov = {magic, MAGIC_BYTES};
    int rc = write_all(fd, &iov, 1);
    if (rc < 0) {
        unlink(path);
        io_failed(path, -rc, err);
        return NULL;
    }
    return RB_MOVE(j);
}

void rb_journal_destroy(rb_journal_t **journal)
{
    if (*journal == NULL)
        return;
    close((*journal)->fd);
    free((*journal)->path);
    free(*journal);
    *journal = NULL;
}

int rb_journal_append(rb_journal_t *j, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    if (size > RB_MAX_FRAME)
        return rb_err_set(err, RB_ERR_INTERNAL, "journal %s: a record of %zu bytes, at most %d fit",
                          j->path, size, RB_MAX_FRAME);
    if (j->spoiled && ftruncate(j->fd, (off_t)j->size) != 0)
        return rb_err_set(err, RB_ERR_IO, "journal %s: ends in a torn record", j->path);
    j->spoiled = false;
    uint8_t header[HEADER_BYTES];
    put_le32(header, (uint32_t)size);
    put_le32(header + 4, host);
    put_le32(header + 8, record_crc(header, data, size));
    struct iovec iov[2] = {{header, sizeof(header)}, {(void *)(uintptr_t)data, size}};
    int rc = write_all(j->fd, iov, 2);
    if (rc < 0) {
        j->spoiled = ftruncate(j->fd, (off_t)j->size) != 0;
        return io_failed(j->path, -rc, err);
    }
    j->size += sizeof(header) + size;
    j->dirty = true;
    return 0;
}

int rb_journal_sync(rb_journal_t *j, rb_err_t *err)
{
    if (!j->dirty)
        return 0;
    if (fdatasync(j->fd) != 0)
        return io_failed(j->path, errno, err);
    j->dirty = false;
    return 0;
}

/* ---------------------------------------------------------------- reading */

bool rb_journal_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return held;
}

struct rb_journal_reader {
    FILE *file;
    char *path;
    uint64_t left; /* bytes of the file that were not read yet, when its size was last asked for */
    uint8_t header[HEADER_BYTES];
    uint8_t *data;
    size_t size, room;
    rb_journal_info_t info;
};

rb_journal_reader_t *rb_journal_open(const char *path, rb_err_t *err)
{
    RB_AUTO(rb_journal_close) rb_journal_reader_t *r = rb_calloc(1, sizeof(*r));
    struct stat st;
    char magic[MAGIC_BYTES];
    r->path = rb_strdup(path);
    r->info.end_bytes = MAGIC_BYTES;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait for a writer */
    r->file = fd < 0 ? NULL : fdopen(fd, "rb");
    if (r->file == NULL || fstat(fileno(r->file), &st) != 0) {
        rb_err_errno(err, errno, "journal %s", path);
        return NULL;
    }
    if (!S_ISREG(st.st_mode) || fread(magic, MAGIC_BYTES, 1, r->file) != 1 ||
        memcmp(magic, MAGIC, MAGIC_BYTES) != 0) {
        rb_err_set(err, RB_ERR_INPUT,
                   "journal %s: expected the journal.rbj of a run, this is another file", path);
        return NULL;
    }
    return RB_MOVE(r);
}

void rb_journal_close(rb_journal_reader_t **reader)
{
    rb_journal_reader_t *r = *reader;
    if (r == NULL)
        return;
    if (r->file != NULL)
        fclose(r->file);
    free(r->path);
    free(r->data);
    free(r);
    *reader = NULL;
}

/* Behind the last whole record, with what was written since: one that was torn may be whole now. */
static int look_again(rb_journal_reader_t *r, rb_err_t *err)
{
    struct stat st;
    clearerr(r->file);
    fflush(r->file); /* a seek alone would keep what was read ahead, and may have changed since */
    if (fstat(fileno(r->file), &st) != 0 ||
        fseeko(r->file, (off_t)r->info.end_bytes, SEEK_SET) != 0)
        return io_failed(r->path, errno, err);
    uint64_t size = (uint64_t)st.st_size;
    r->left = size < r->info.end_bytes ? 0 : size - r->info.end_bytes;
    return 0;
}

typedef enum { WHOLE, BAD_CRC, CUT_OFF } record_state_t;

static bool read_bytes(rb_journal_reader_t *r, void *into, size_t size)
{
    if (size > r->left || (size > 0 && fread(into, size, 1, r->file) != 1))
        return false;
    r->left -= size;
    return true;
}

/* The length is believed only as far as the file has bytes. */
static record_state_t read_record(rb_journal_reader_t *r)
{
    if (!read_bytes(r, r->header, sizeof(r->header)))
        return CUT_OFF;
    r->size = get_le32(r->header);
    if (r->size > RB_MAX_FRAME || r->size > r->left)
        return CUT_OFF;
    if (r->size > r->room) {
        r->room = RB_MAX(r->size, 2 * r->room);
        r->data = rb_realloc(r->data, r->room);
    }
    if (!read_bytes(r, r->data, r->size))
        return CUT_OFF;
    return record_crc(r->header, r->data, r->size) == get_le32(r->header + 8) ? WHOLE : BAD_CRC;
}

/* ---- behind a bad record ---- */

/* A torn record may have any length in its header, and bytes that came or went shift all that
 * follows: so each place may begin a record. Long ones are left out, as any three bytes and a zero
 * announce one; a journal with nothing but long ones behind its damage is told by read_record. */
enum {
    LOOK_AHEAD = RB_MAX_FRAME + (1 << 20), /* [bytes] behind the last whole record */
    LOOK_RECORD = 1 << 16,                 /* [bytes] of payload */
    LOOK_CRC = 1 << 28                     /* [bytes] that CRCs are taken of */
};

static bool holds_record(const uint8_t *data, size_t size)
{
    size_t left = LOOK_CRC;
    for (size_t at = 0; at + HEADER_BYTES <= size && left > LOOK_RECORD + HEADER_BYTES; at++) {
        const uint8_t *header = data + at;
        uint32_t n = get_le32(header);
        if (n > LOOK_RECORD || n > size - at - HEADER_BYTES)
            continue;
        left -= n + HEADER_BYTES;
        if (record_crc(header, header + HEADER_BYTES, n) == get_le32(header + 8))
            return true;
    }
    return false;
}

static bool record_follows(rb_journal_reader_t *r)
{
    uint64_t bad = r->info.end_bytes;
    if (fseeko(r->file, (off_t)bad + 1, SEEK_SET) != 0)
        return false;
    size_t size = RB_MIN(r->info.torn_bytes - 1, (uint64_t)LOOK_AHEAD);
    if (size > r->room) {
        r->room = size;
        r->data = rb_realloc(r->data, r->room);
    }
    return holds_record(r->data, fread(r->data, 1, size, r->file));
}

static int read_records(rb_journal_reader_t *r, rb_journal_record_fn *record, void *ctx,
                        rb_err_t *err)
{
    rb_journal_info_t *info = &r->info;
    uint64_t total = info->end_bytes + r->left;
    record_state_t state = WHOLE;
    while (r->left > 0 && (state = read_record(r)) == WHOLE) {
        if (record(ctx, get_le32(r->header + 4), r->data, r->size, err) != 0)
            return rb_err_wrap(err, "record %" PRIu64 " at byte %" PRIu64, info->records + 1,
                               info->end_bytes);
        info->records++;
        info->end_bytes = total - r->left;
    }
    info->torn_bytes = total - info->end_bytes;
    info->corrupt = info->torn_bytes > 0 &&
                    ((state == BAD_CRC && read_record(r) == WHOLE) || record_follows(r));
    return 0;
}

int rb_journal_next(rb_journal_reader_t *r, rb_journal_record_fn *record, void *ctx,
                    rb_journal_info_t *ret_info, rb_err_t *err)
{
    if (look_again(r, err) != 0)
        return -1;
    if (read_records(r, record, ctx, err) != 0)
        return rb_err_wrap(err, "journal %s", r->path);
    if (ferror(r->file))
        return io_failed(r->path, errno, err);
    *ret_info = r->info;
    return 0;
}

int rb_journal_read(const char *path, rb_journal_record_fn *record, void *ctx,
                    rb_journal_info_t *ret_info, rb_err_t *err)
{
    RB_AUTO(rb_journal_close) rb_journal_reader_t *r = rb_journal_open(path, err);
    return r != NULL ? rb_journal_next(r, record, ctx, ret_info, err) : -1;
}

/* ---------------------------------------------------------------- going on */

rb_journal_t *rb_journal_resume(const char *path, rb_journal_record_fn *record, void *ctx,
                                rb_journal_info_t *ret_info, rb_err_t *err)
{
    int fd = open(path, O_WRONLY | O_APPEND | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        rb_err_errno(err, errno, "journal %s", path);
        return NULL;
    }
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = new_journal(fd, path, 0);
    if (rb_journal_lock(fd, path, err) != 0 ||
        rb_journal_read(path, record, ctx, ret_info, err) != 0)
        return NULL;
    if (ret_info->corrupt) {
        rb_err_set(err, RB_ERR_INPUT,
                   "journal %s: the record at byte %" PRIu64
                   " is damaged, and whole ones follow it; it cannot be gone on with",
                   path, ret_info->end_bytes);
        return NULL;
    }
    j->size = ret_info->end_bytes;
    j->spoiled = ret_info->torn_bytes > 0;
    return RB_MOVE(j);
}
