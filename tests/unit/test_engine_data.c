/* What the engine writes: as random as the job asks for, and never the same again. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

static uint8_t disk[DISK], before[DISK];

/* One pass over the loop device. */
static void plan(rig_t *r)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = RACKBENCH__RW__MODE__write;
    r->jobs[0].runtime_ns = 0;
}

/* The disk as the job leaves it. */
static void written(rig_t *r)
{
    tally_t t;
    r->jobs[0].iodepth = 1;
    rig_run(r, &t);
    disk_io(pread, disk, DISK, 0);
}

static size_t zeros(const uint8_t *at, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        n += at[i] == 0;
    return n;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Of the 4 KiB of the disk, by 8 bytes of their data. */
static size_t distinct_chunks(void)
{
    uint64_t words[DISK / 4096];
    size_t n = 1;
    for (size_t i = 0; i < RB_LEN(words); i++)
        memcpy(&words[i], disk + i * 4096 + 512, sizeof(words[i]));
    qsort(words, RB_LEN(words), sizeof(words[0]), compare_words);
    for (size_t i = 1; i < RB_LEN(words); i++)
        n += words[i] != words[i - 1];
    return n;
}

static size_t chunks_as_before(void)
{
    size_t n = 0;
    for (size_t at = 0; at < DISK; at += 4096)
        n += memcmp(disk + at + 512, before + at + 512, 3584) == 0;
    return n;
}

static void data_is_as_random_as_asked_for(void **state)
{
    (void)state;
    rig_t r;
    plan(&r);
    r.jobs[0].bs_bytes = 4096;
    written(&r);
    assert_in_range(zeros(disk, DISK), DISK / 256 - 4096, DISK / 256 + 4096);
    assert_int_equal(distinct_chunks(), DISK / 4096);
    r.jobs[0].bs_bytes = 128 * 1024; /* made in PREPARE, and not anew each time */
    written(&r);
    assert_in_range(zeros(disk, DISK), DISK / 256 - 4096, DISK / 256 + 4096);
    r.jobs[0].bs_bytes = 4096;
    r.jobs[0].buffer_compress_percentage = 50;
    written(&r);
    for (size_t at = 0; at < DISK; at += 4096)
        assert_int_equal(zeros(disk + at + 2048, 2048), 2048);
    assert_true(zeros(disk, DISK) < DISK / 2 + DISK / 256);
    r.jobs[0].buffer_compress_percentage = 0;
    r.jobs[0].dedupe_percentage = 100;
    written(&r);
    assert_int_equal(distinct_chunks(), 32);
    r.jobs[0].dedupe_percentage = 0;
    r.jobs[0].zero_buffers = true;
    written(&r);
    assert_int_equal(zeros(disk, DISK), DISK);
}

static void data_never_comes_again(void **state)
{
    (void)state;
    rig_t r;
    plan(&r);
    written(&r);
    memcpy(before, disk, DISK);
    written(&r); /* all depends on what follows, and on nothing else */
    assert_int_equal(chunks_as_before(), DISK / 4096);
    r.run_id = "run2";
    written(&r);
    assert_int_equal(chunks_as_before(), 0);
    r.run_id = "run1";
    r.plan.randseed = 5;
    written(&r);
    assert_int_equal(chunks_as_before(), 0);
    r.plan.randseed = 0;
    /* The upper half by a second worker, as number and place of its writes go like those that a
     * first one does there. */
    r.jobs[0].offset_bytes = DISK / 2;
    written(&r);
    memcpy(before, disk, DISK);
    r.jobs[0].offset_bytes = 0;
    r.jobs[0].numjobs = 2;
    written(&r);
    assert_int_equal(chunks_as_before(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_as_random_as_asked_for),
        cmocka_unit_test(data_never_comes_again),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
