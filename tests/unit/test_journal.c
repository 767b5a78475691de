/* The journal: what was appended comes back, whatever cut or bent its end. */
#include "coordinator/journal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, HEADER_BYTES = 12 };

static const char *const texts[] = {"first", "", "the third record", "last!"};

typedef struct {
    size_t count;
    uint32_t last_host;
    size_t last_size;
    size_t stop_at; /* the record whose callback fails; 0: none */
} seen_t;

static int see(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    seen_t *seen = ctx;
    if (seen->count + 1 == seen->stop_at)
        return rb_err_set(err, RB_ERR_NET, "this one is refused");
    if (seen->count < RB_LEN(texts)) {
        assert_int_equal(size, strlen(texts[seen->count]));
        assert_memory_equal(data, texts[seen->count], size);
        assert_int_equal(host, seen->count);
    }
    seen->count++;
    seen->last_host = host;
    seen->last_size = size;
    return 0;
}

static int count_only(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    (void)host;
    (void)data;
    (void)size;
    (void)err;
    ++*(size_t *)ctx;
    return 0;
}

typedef struct {
    char dir[64], path[80];
} place_t;

static place_t place_new(void)
{
    place_t p = {.dir = "/tmp/rackbench-journal-XXXXXX"};
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.path, sizeof(p.path), "%s/j", p.dir);
    return p;
}

static void place_clear(place_t *p)
{
    unlink(p->path);
    rmdir(p->dir);
}

static void write_texts(const char *path)
{
    rb_err_t err = {0};
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(path, &err);
    assert_non_null(j);
    for (uint32_t i = 0; i < RB_LEN(texts); i++)
        assert_int_equal(rb_journal_append(j, i, texts[i], strlen(texts[i]), &err), 0);
    assert_int_equal(rb_journal_sync(j, &err), 0);
}

static rb_journal_info_t read_texts(const char *path, seen_t *seen)
{
    rb_err_t err = {0};
    rb_journal_info_t info = {0};
    if (rb_journal_read(path, see, seen, &info, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(info.records, seen->count);
    return info;
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void flip_bit(const char *path, uint64_t at, unsigned bit)
{
    uint8_t byte;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= (uint8_t)(1u << bit);
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
    close(fd);
}

static void assert_not_a_journal(const char *path)
{
    rb_err_t err = {0};
    seen_t seen = {0};
    rb_journal_info_t info;
    assert_int_equal(rb_journal_read(path, see, &seen, &info, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, path));
}

static void test_records_come_back(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    seen_t seen = {0};
    rb_journal_info_t info = read_texts(p.path, &seen);
    assert_int_equal(seen.count, RB_LEN(texts));
    assert_int_equal(info.torn_bytes, 0);
    assert_int_equal(info.end_bytes, size_of(p.path));
    assert_false(info.corrupt);
}

/* The CRC was computed by another implementation (Python's zlib.crc32). */
static void test_file_is_as_documented(void **state)
{
    (void)state;
    static const uint8_t expected[] = {'R',  'B',  'J', 'R', 'N', 'L', '1', '\n', 5,
                                       0,    0,    0,   2,   1,   0,   0,   0xc3, 0xc4,
                                       0x54, 0xa4, 'f', 'i', 'r', 's', 't'};
    RB_AUTO(place_clear) place_t p = place_new();
    rb_err_t err = {0};
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(p.path, &err);
    assert_int_equal(rb_journal_append(j, 258, "first", 5, &err), 0);
    uint8_t bytes[sizeof(expected) + 1];
    int fd = open(p.path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(expected));
    close(fd);
    assert_memory_equal(bytes, expected, sizeof(expected));
}

static void test_existing_file_is_not_touched(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    uint64_t size = size_of(p.path);
    rb_err_t err = {0};
    assert_null(rb_journal_create(p.path, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "exists already"));
    assert_int_equal(size_of(p.path), size);
}

static void test_missing_directory_is_bad_input(void **state)
{
    (void)state;
    rb_err_t err = {0};
    assert_null(rb_journal_create("/nonexistent/directory/j", &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
}

static void test_torn_at_every_byte(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    uint64_t last = HEADER_BYTES + strlen(texts[3]);
    uint64_t start = size_of(p.path) - last;
    for (uint64_t kept = last; kept-- > 0;) {
        assert_int_equal(truncate(p.path, (off_t)(start + kept)), 0);
        seen_t seen = {0};
        rb_journal_info_t info = read_texts(p.path, &seen);
        assert_int_equal(info.records, RB_LEN(texts) - 1);
        assert_int_equal(info.end_bytes, start);
        assert_int_equal(info.torn_bytes, kept);
        assert_false(info.corrupt);
    }
}

static void test_every_bit_of_the_last_record(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    uint64_t last = HEADER_BYTES + strlen(texts[3]);
    uint64_t start = size_of(p.path) - last;
    for (uint64_t bit = 0; bit < 8 * last; bit++) {
        flip_bit(p.path, start + bit / 8, bit % 8);
        seen_t seen = {0};
        rb_journal_info_t info = read_texts(p.path, &seen);
        assert_int_equal(info.records, RB_LEN(texts) - 1);
        assert_int_equal(info.torn_bytes, last);
        assert_false(info.corrupt);
        flip_bit(p.path, start + bit / 8, bit % 8);
    }
    seen_t seen = {0};
    assert_int_equal(read_texts(p.path, &seen).records, RB_LEN(texts));
}

static void test_damage_in_the_middle_is_told_apart(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    flip_bit(p.path, MAGIC_BYTES + HEADER_BYTES, 3); /* payload of the first record */
    seen_t seen = {0};
    rb_journal_info_t info = read_texts(p.path, &seen);
    assert_int_equal(info.records, 0);
    assert_int_equal(info.end_bytes, MAGIC_BYTES);
    assert_int_equal(info.torn_bytes, size_of(p.path) - MAGIC_BYTES);
    assert_true(info.corrupt);
}

static size_t content_of(const char *path, uint8_t *data, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, data, size);
    assert_true(n > 0);
    close(fd);
    return (size_t)n;
}

static void assert_damaged(const char *path, const uint8_t *head, size_t head_size,
                           const uint8_t *tail, size_t tail_size)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    assert_int_equal(write(fd, head, head_size), head_size);
    assert_int_equal(write(fd, tail, tail_size), tail_size);
    close(fd);
    seen_t seen = {0};
    rb_journal_info_t info = read_texts(path, &seen);
    if (!info.corrupt)
        fail_msg("%zu bytes and %zu are no damage", head_size, tail_size);
    assert_true(info.records < RB_LEN(texts));
}

/* At each place before the last record, some bytes are gone or stand there twice. */
static void test_shifted_bytes_are_damage(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    uint8_t data[512];
    size_t size = content_of(p.path, data, sizeof(data));
    size_t last = size - HEADER_BYTES - strlen(texts[3]);
    for (size_t n = 1; n < 20; n++)
        for (size_t at = MAGIC_BYTES + 1; at + n <= last; at++) {
            if (at == MAGIC_BYTES + HEADER_BYTES + strlen(texts[0]))
                continue; /* whole records may be gone between two */
            assert_damaged(p.path, data, at, data + at + n, size - at - n);
            assert_damaged(p.path, data, at + n, data + at, size - at);
        }
}

/* After a power cut some file systems leave a tail of zeros. */
static void test_tail_of_zeros(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    uint64_t size = size_of(p.path);
    assert_int_equal(truncate(p.path, (off_t)size + 5000), 0);
    seen_t seen = {0};
    rb_journal_info_t info = read_texts(p.path, &seen);
    assert_int_equal(info.records, RB_LEN(texts));
    assert_int_equal(info.torn_bytes, 5000);
    assert_false(info.corrupt);
}

static void test_other_files_are_not_journals(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    assert_not_a_journal(p.path); /* not there */
    assert_not_a_journal(p.dir);
    write_texts(p.path);
    for (unsigned i = 0; i < MAGIC_BYTES; i++) {
        flip_bit(p.path, i, 0);
        assert_not_a_journal(p.path);
        flip_bit(p.path, i, 0);
    }
    for (int size = MAGIC_BYTES - 1; size >= 0; size--) {
        assert_int_equal(truncate(p.path, size), 0);
        assert_not_a_journal(p.path);
    }
}

static void test_refused_record_is_named(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    write_texts(p.path);
    rb_err_t err = {0};
    rb_journal_info_t info;
    seen_t seen = {.stop_at = 3};
    assert_int_equal(rb_journal_read(p.path, see, &seen, &info, &err), -1);
    assert_int_equal(seen.count, 2);
    assert_int_equal(err.code, RB_ERR_NET);
    assert_non_null(strstr(err.text, "record 3 at byte 37: this one is refused"));
}

static void test_largest_record(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    rb_err_t err = {0};
    size_t records = 0;
    rb_journal_info_t info = {0};
    char *data = rb_calloc(1, (size_t)RB_MAX_FRAME + 1);
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(p.path, &err);
    assert_int_equal(rb_journal_append(j, UINT32_MAX, data, RB_MAX_FRAME, &err), 0);
    assert_int_equal(rb_journal_append(j, 1, data, (size_t)RB_MAX_FRAME + 1, &err), -1);
    assert_int_equal(err.code, RB_ERR_INTERNAL);
    assert_int_equal(rb_journal_append(j, 1, data, 1, &err), 0);
    free(data);
    assert_int_equal(rb_journal_read(p.path, count_only, &records, &info, &err), 0);
    assert_int_equal(records, 2);
    assert_int_equal(info.torn_bytes, 0);
}

/* ---------------------------------------------------------------- a full disk */

static void mount_clear(place_t *p)
{
    unlink(p->path);
    umount(p->dir);
    rmdir(p->dir);
}

/* 64 KiB do not hold a whole number of such records: the last one is cut short. */
static void append_until_full(rb_journal_t *j, size_t *count, rb_err_t *err)
{
    static const char data[5000] = {1};
    while (rb_journal_append(j, 7, data, sizeof(data), err) == 0)
        ++*count;
}

static void test_full_disk_keeps_what_was_written(void **state)
{
    (void)state;
    place_t p = place_new();
    if (mount("tmpfs", p.dir, "tmpfs", 0, "size=64k") != 0) {
        place_clear(&p);
        print_message("skipped: mounting a tmpfs: %s\n", strerror(errno));
        skip();
    }
    RB_AUTO(mount_clear) place_t mounted = p;
    rb_err_t err = {0};
    size_t written = 0, records = 0;
    rb_journal_info_t info = {0};
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(mounted.path, &err);
    assert_non_null(j);
    append_until_full(j, &written, &err);
    assert_int_equal(err.code, RB_ERR_IO);
    assert_non_null(strstr(err.text, "No space left on device"));
    assert_non_null(strstr(err.text, mounted.path));
    assert_true(written > 10);
    assert_int_equal(size_of(mounted.path), MAGIC_BYTES + written * (HEADER_BYTES + 5000));
    /* a smaller record still fits, and nothing torn lies before it */
    assert_int_equal(rb_journal_append(j, 7, "x", 1, &err), 0);
    assert_int_equal(rb_journal_read(mounted.path, count_only, &records, &info, &err), 0);
    assert_int_equal(records, written + 1);
    assert_int_equal(info.torn_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_come_back),
        cmocka_unit_test(test_file_is_as_documented),
        cmocka_unit_test(test_existing_file_is_not_touched),
        cmocka_unit_test(test_missing_directory_is_bad_input),
        cmocka_unit_test(test_torn_at_every_byte),
        cmocka_unit_test(test_every_bit_of_the_last_record),
        cmocka_unit_test(test_damage_in_the_middle_is_told_apart),
        cmocka_unit_test(test_shifted_bytes_are_damage),
        cmocka_unit_test(test_tail_of_zeros),
        cmocka_unit_test(test_other_files_are_not_journals),
        cmocka_unit_test(test_refused_record_is_named),
        cmocka_unit_test(test_largest_record),
        cmocka_unit_test(test_full_disk_keeps_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
