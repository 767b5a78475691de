/* What a worker of iodepth 128 takes beside its I/O buffers, and how long many take to be ready. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/scratch_disk.h"

enum { MANY = 64, DEPTH = 128, BS = 4096, FILE_BYTES = 8 * 1024 * 1024 };

/* The sanitizers have a map of all memory, and space around each piece of it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MOST_BYTES (UINT64_C(64) * 1024 * 1024)
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MOST_BYTES (UINT64_C(64) * 1024 * 1024)
#endif
#endif
#ifndef MOST_BYTES
#define MOST_BYTES (UINT64_C(1024) * 1024)
#endif

static char dir[64], file[96];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/dev/shm/rb-size-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(file, sizeof(file), "%s/file", dir);
    rb_test_image(file, FILE_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_test_remove_tree(dir);
    return 0;
}

/* Of this process [bytes]. */
static uint64_t resident(void)
{
    unsigned long long size, pages;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu %llu", &size, &pages), 2);
    fclose(f);
    return pages * 4096;
}

/* Reads and writes; or those, trims and syncs. */
static void job_of(rig_t *r, uint32_t numjobs, uint32_t rwmixtrim)
{
    rig_init(r, file, false, FILE_BYTES);
    Rackbench__Job *job = &r->jobs[0];
    job->rw = RACKBENCH__RW__MODE__randrw;
    job->has_direct = true; /* false: a tmpfs would leave direct I/O to other threads */
    job->iodepth = DEPTH;
    job->numjobs = numjobs;
    job->rwmixtrim = rwmixtrim;
    job->fsync = rwmixtrim > 0 ? 100 : 0;
}

/* Runs one engine to its end; returns how much one more worker took. */
static uint64_t each_takes(uint32_t numjobs, uint32_t rwmixtrim)
{
    rig_t r;
    rb_err_t err;
    tally_t t = {0};
    job_of(&r, numjobs, rwmixtrim);
    uint64_t before = resident();
    rb_engine_t *e = rig_engine(&r, &err);
    assert_non_null(e);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, &t), RB_ENGINE_READY);
    rb_engine_arm(e, rb_clock_now_ns() + 5 * RIG_MS, 0);
    uint64_t running = resident();
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_int_equal(t.errors, 0);
    assert_true(t.ops[RB_PART_MAIN][RB_OP_WRITE] > 0);
    rb_engine_destroy(&e);
    uint64_t buffers = (uint64_t)numjobs * 2 * DEPTH * BS;
    return (running - before - buffers) / numjobs;
}

static void a_worker_takes_less_than_a_mebibyte(void **state)
{
    (void)state;
    each_takes(8, 0); /* what is there once for all */
    uint64_t two = each_takes(8, 0), four = each_takes(8, 10);
    print_message("beside I/O buffers: %lu KiB with reads and writes, %lu KiB with all kinds\n",
                  two / 1024, four / 1024);
    assert_in_range(two, 100 * 1024, MOST_BYTES - 1);
    assert_in_range(four, two, MOST_BYTES - 1);
}

/* 100 ms on a quiet machine; this one has other work. */
static void many_workers_are_ready_soon(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    tally_t t = {0};
    job_of(&r, MANY, 0);
    uint64_t start_ns = rb_clock_now_ns();
    rb_engine_t *e = rig_engine(&r, &err);
    assert_non_null(e);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, &t), RB_ENGINE_READY);
    uint64_t took_ns = rb_clock_now_ns() - start_ns;
    print_message("%d workers are ready after %.1f ms\n", MANY, (double)took_ns / 1e6);
    assert_in_range(took_ns, 0, 2 * RB_NS_PER_S);
    rb_engine_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_worker_takes_less_than_a_mebibyte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_workers_are_ready_soon, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
