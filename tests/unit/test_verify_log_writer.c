/* test_verify_log_writer.c - what is pushed is in the file, in order, none lost, and a file that
 * cannot be written stops the workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/verify_log_writer.h"
#include "common/clock.h"
#include "tests/unit/scratch_disk.h"

static char dir[64], path[128];
static rb_crew_t crew;
static rb_pin_t pin;

static int set_up(void **state)
{
    (void)state;
    pin = (rb_pin_t){0};
    strcpy(dir, "/tmp/rb-log-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/log", dir);
    rb_crew_init(&crew);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_crew_clear(&crew);
    rb_test_remove_tree(dir);
    return 0;
}

/* Of two drives, two workers each. */
static rb_log_writer_t *writer(void)
{
    rb_log_head_t head = {.run = 5, .bs_bytes = 512, .run_id = "id", .ndrives = 2};
    head.drives = rb_calloc(2, sizeof(*head.drives));
    head.drives[0] = rb_strdup("/dev/a");
    head.drives[1] = rb_strdup("/dev/b");
    return rb_log_writer_new(path, &pin, &head, 2, &crew);
}

static rb_log_writer_t *opened(void)
{
    rb_err_t err = {0};
    rb_log_writer_t *w = writer();
    if (rb_log_writer_open(w, &err) < 0)
        fail_msg("%s", err.text);
    return w;
}

typedef struct {
    rb_log_ring_t *ring;
    uint64_t n, waits;
} pusher_t;

/* As a worker does: waits for room, with nothing in flight. */
static void *push_all(void *arg)
{
    pusher_t *p = arg;
    for (uint64_t i = 0; i < p->n; i++) {
        while (rb_log_ring_room(p->ring) == 0) {
            p->waits++;
            usleep(100);
        }
        rb_log_ring_push(p->ring, (rb_log_write_t){i * 512, i});
    }
    rb_log_ring_flush(p->ring);
    return NULL;
}

static void all_writes_are_in_the_file(void **state)
{
    (void)state;
    enum { EACH = 3 * RB_LOG_RING };
    pthread_t threads[4];
    pusher_t p[4];
    uint64_t writes, batches;
    rb_err_t err = {0};
    rb_log_writer_t *w = opened();
    for (uint32_t i = 0; i < 4; i++) {
        p[i] = (pusher_t){rb_log_writer_ring(w, i), EACH, 0};
        RB_ASSERT(pthread_create(&threads[i], NULL, push_all, &p[i]) == 0);
    }
    for (uint32_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(p[i].waits > 0); /* three times what a ring holds */
    }
    assert_int_equal(rb_log_writer_close(w, &err), 0);
    rb_log_writer_count(w, &writes, &batches);
    assert_int_equal(writes, 4 * EACH);
    assert_true(batches >= writes / RB_LOG_BATCH && batches < writes / 100);
    rb_log_writer_destroy(&w);
    RB_AUTO(rb_log_destroy) rb_log_t *log = rb_log_read(path, &(rb_pin_t){0}, &err);
    assert_non_null(log);
    assert_int_equal(log->writes, 4 * EACH);
    assert_int_equal(log->rest.torn_bytes, 0);
    for (size_t d = 0; d < 2; d++) {
        assert_int_equal(log->of_drive[d].n, EACH);
        for (size_t i = 0; i < EACH; i++)
            assert_int_equal(log->of_drive[d].blocks[i].sequence, i);
    }
}

/* A flush returns when the file has it: seen by another reader, before the end. */
static void a_flush_waits_for_the_file(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_log_writer_t *w = opened();
    rb_log_ring_t *r = rb_log_writer_ring(w, 3);
    for (uint64_t i = 1; i <= 20; i++) {
        rb_log_ring_push(r, (rb_log_write_t){i * 512, i});
        rb_log_ring_flush(r);
        RB_AUTO(rb_log_destroy) rb_log_t *log = rb_log_read(path, &(rb_pin_t){0}, &err);
        assert_non_null(log);
        assert_int_equal(log->writes, i);
        assert_int_equal(rb_log_of_drive(log, "/dev/b")->n, i);
    }
    rb_log_writer_destroy(&w);
    assert_int_equal(access(path, F_OK), 0);
}

static void what_is_there_is_left_alone(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_test_image(path, 100);
    rb_log_writer_t *w = writer();
    assert_int_equal(rb_log_writer_open(w, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "is there already"));
    rb_log_writer_destroy(&w);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
    RB_ASSERT(symlink("/dev/null", path) == 0);
    w = writer();
    assert_int_equal(rb_log_writer_open(w, &err), -1);
    rb_log_writer_destroy(&w);
    unlink(path);
}

static void a_log_without_writes_is_removed(void **state)
{
    (void)state;
    rb_log_writer_t *w = opened();
    assert_int_equal(access(path, F_OK), 0);
    rb_log_writer_destroy(&w);
    assert_int_equal(access(path, F_OK), -1);
}

/* No room for it: the workers are stopped, none hangs, and the fault says where. */
static void a_full_disk_stops_the_workers(void **state)
{
    (void)state;
    rb_err_t err = {0};
    char small[96];
    snprintf(small, sizeof(small), "%s/small", dir);
    RB_ASSERT(mkdir(small, 0755) == 0);
    if (rb_test_isolate() != NULL || mount("tmpfs", small, "tmpfs", 0, "size=64k") != 0)
        skip();
    snprintf(path, sizeof(path), "%s/log", small);
    rb_log_writer_t *w = opened();
    pusher_t p = {rb_log_writer_ring(w, 0), 2 * RB_LOG_RING, 0};
    push_all(&p);
    assert_true(atomic_load(&crew.stop_ns) <= rb_clock_now_ns());
    assert_int_equal(rb_log_writer_close(w, &err), -1);
    assert_int_equal(err.code, RB_ERR_IO);
    assert_non_null(strstr(err.text, "verify_log: write "));
    assert_non_null(strstr(err.text, "No space left on device"));
    rb_log_writer_destroy(&w);
    umount2(small, MNT_DETACH);
}

/* dir/judged, pinned, with the log's path in it; its path leads to dir/other once moved. */
static void pin_judged(char *other, size_t size)
{
    char judged[96];
    struct stat st;
    snprintf(judged, sizeof(judged), "%s/judged", dir);
    snprintf(other, size, "%s/other", dir);
    snprintf(path, sizeof(path), "%s/log", judged);
    RB_ASSERT(mkdir(judged, 0755) == 0 && mkdir(other, 0755) == 0 && stat(judged, &st) == 0);
    pin = (rb_pin_t){st.st_dev, st.st_ino};
}

static void move_judged(const char *other)
{
    char judged[96], moved[96];
    snprintf(judged, sizeof(judged), "%s/judged", dir);
    snprintf(moved, sizeof(moved), "%s/moved", dir);
    RB_ASSERT(rename(judged, moved) == 0 && symlink(other, judged) == 0);
}

static void a_log_is_in_the_directory_that_was_judged(void **state)
{
    (void)state;
    rb_err_t err = {0};
    char other[96];
    pin_judged(other, sizeof(other));
    rb_log_writer_t *w = opened();
    assert_null(rb_log_read(path, &(rb_pin_t){pin.dev, pin.ino + 1}, &err));
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    move_judged(other);
    rb_test_image(path, 100);
    rb_log_writer_destroy(&w); /* removes its own file, not the one that is at its path now */
    assert_int_equal(access(path, F_OK), 0);
    assert_null(rb_log_read(path, &pin, &err));
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    unlink(path);
    w = writer();
    assert_int_equal(rb_log_writer_open(w, &err), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    assert_non_null(strstr(err.text, "judged is another directory now than when it was checked"));
    assert_int_equal(access(path, F_OK), -1);
    rb_log_writer_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_writes_are_in_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_flush_waits_for_the_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_there_is_left_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_without_writes_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_is_in_the_directory_that_was_judged, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_full_disk_stops_the_workers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
