/* Work that may block for good: done and taken, or left to itself; and the errands and the survey
 * that are done so. */
#include "agent/probe.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/survey.h"

typedef struct {
    atomic_bool *let_go; /* it hangs until then */
    atomic_int *dropped;
    int found; /* by the thread, unlocked: whoever takes it sees it */
} work_t;

static atomic_bool let_go;
static atomic_int dropped;

static void work(void *ctx)
{
    work_t *w = ctx;
    rb_probe_note("/dev/one");
    rb_probe_note("/dev/two");
    while (!atomic_load(w->let_go))
        usleep(1000);
    w->found = 42;
}

static void drop(void *ctx)
{
    work_t *w = ctx;
    atomic_fetch_add(w->dropped, 1);
    free(w);
}

static rb_probe_t *start(int fd, rb_err_t *err)
{
    work_t *w = rb_calloc(1, sizeof(*w));
    *w = (work_t){.let_go = &let_go, .dropped = &dropped};
    rb_probe_t *probe = rb_probe_start(&(rb_probe_opts_t){work, drop, w, fd}, err);
    if (probe == NULL)
        free(w);
    return probe;
}

static void wait_until_over(void)
{
    for (int i = 0; rb_probes_under_way() > 0 && i < 5000; i++)
        usleep(1000);
    assert_int_equal(rb_probes_under_way(), 0);
}

static int set_up(void **state)
{
    static int fd;
    fd = eventfd(0, EFD_CLOEXEC);
    *state = &fd;
    atomic_store(&let_go, false);
    atomic_store(&dropped, 0);
    return fd < 0;
}

static int tear_down(void **state)
{
    close(*(int *)*state);
    return 0;
}

static void wait_for_note(rb_probe_t *probe, const char *what)
{
    char at[64];
    for (int i = 0; i < 5000; i++) {
        rb_probe_at(probe, at, sizeof(at));
        if (strcmp(at, what) == 0)
            return;
        usleep(1000);
    }
    fail_msg("it is at '%s', not '%s'", at, what);
}

static void says_what_it_is_at_and_is_taken(void **state)
{
    int fd = *(int *)*state;
    rb_err_t err;
    eventfd_t count;
    char at[64];
    rb_probe_t *probe = start(fd, &err);
    assert_non_null(probe);
    wait_for_note(probe, "/dev/two");
    usleep(2000);
    assert_true(rb_probe_at(probe, at, sizeof(at)) >= 2 * RB_NS_PER_MS);
    assert_false(rb_probe_done(probe));
    atomic_store(&let_go, true);
    assert_int_equal(eventfd_read(fd, &count), 0); /* blocks until it is done */
    assert_true(rb_probe_done(probe));
    work_t *w = rb_probe_take(&probe);
    assert_null(probe);
    assert_int_equal(w->found, 42);
    free(w);
    wait_until_over();
    assert_int_equal(atomic_load(&dropped), 0);
}

static void is_left_to_itself(void **state)
{
    int fd = *(int *)*state;
    rb_err_t err;
    rb_probe_t *hangs = start(fd, &err), *other = start(fd, &err);
    rb_probe_abandon(&hangs);
    assert_null(hangs);
    assert_int_equal(atomic_load(&dropped), 0); /* the thread works with it */
    rb_probe_abandon(&hangs);
    atomic_store(&let_go, true);
    while (!rb_probe_done(other))
        usleep(1000);
    rb_probe_abandon(&other); /* done, and not taken */
    wait_until_over();
    assert_int_equal(atomic_load(&dropped), 2);
}

static void so_many_and_no_more(void **state)
{
    int fd = *(int *)*state;
    rb_err_t err;
    rb_probe_t *probes[RB_MAX_PROBES];
    for (size_t i = 0; i < RB_MAX_PROBES; i++) {
        probes[i] = start(fd, &err);
        assert_non_null(probes[i]);
        rb_probe_abandon(&probes[i]);
    }
    assert_null(start(fd, &err));
    assert_int_equal(err.code, RB_ERR_IO);
    assert_non_null(strstr(err.text, "64 threads hang in drives that do not answer"));
    atomic_store(&let_go, true);
    wait_until_over();
    rb_probe_t *probe = start(fd, &err);
    assert_non_null(probe);
    rb_probe_abandon(&probe);
    wait_until_over();
}

static void survey_finds_every_drive(void **state)
{
    int fd = *(int *)*state;
    eventfd_t count;
    RB_AUTO(rb_survey_destroy) rb_survey_t *survey = rb_survey_new(fd);
    Rackbench__Inventory *inventory;
    while ((inventory = rb_survey_poll(survey)) == NULL)
        eventfd_read(fd, &count);
    assert_true(inventory->n_drives >= 1);
    for (size_t i = 0; i < inventory->n_drives; i++)
        assert_int_equal(strncmp(inventory->drives[i]->path, "/dev/", 5), 0);
    size_t n = inventory->n_drives;
    assert_ptr_equal(rb_survey_poll(survey), inventory); /* complete is complete */
    assert_int_equal(inventory->n_drives, n);
    assert_non_null(inventory->wall_clock);
    char hostname[256];
    gethostname(hostname, sizeof(hostname));
    assert_string_equal(inventory->hostname, hostname);
    assert_string_equal(inventory->agent_version, RB_VERSION);
    assert_true(inventory->cpus >= 1 && inventory->memory_bytes > RB_MIB);
    assert_true(inventory->kernel[0] != '\0');
}

#define HERE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HERE(says_what_it_is_at_and_is_taken),
        HERE(is_left_to_itself),
        HERE(so_many_and_no_more),
        HERE(survey_finds_every_drive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
