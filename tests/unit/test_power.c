/* test_power.c - power states set and given back, on drives that this file plays: the ioctl below
 * is the one that the agent calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/nvme_page.h"
#include "agent/power.h"

enum { DRIVES = 3, STATES = 4, HINT = 0x40, NOT_CHANGEABLE = 0x10e };

/* Drive 1 is another namespace of drive 0; state 3 is idle. */
static struct {
    uint32_t value[DRIVES];
    bool refuses, no_nvme;
    int nsets;
} fake;
static char path[DRIVES][64];

static size_t drive_of(int fd)
{
    char link[64], name[256];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, name, sizeof(name) - 1);
    assert_true(n > 0);
    name[n] = '\0';
    for (size_t i = 0; i < DRIVES; i++)
        if (strcmp(name, path[i]) == 0)
            return i == 1 ? 0 : i;
    fail_msg("%s is none of the drives", name);
    return 0;
}

static int answer(int fd, struct nvme_admin_cmd *cmd)
{
    uint32_t *value = &fake.value[drive_of(fd)];
    uint8_t *page = (uint8_t *)(uintptr_t)cmd->addr;
    switch (cmd->opcode) {
    case 0x06:
        memset(page, 0, RB_NVME_IDENTIFY_BYTES);
        page[263] = STATES - 1;
        page[2048 + 32 * 3 + 3] = 2;
        return 0;
    case 0x0a:
        cmd->result = *value;
        return 0;
    case 0x09:
        assert_int_equal(cmd->cdw10, 2);
        fake.nsets++;
        if (fake.refuses)
            return NOT_CHANGEABLE;
        *value = cmd->cdw11;
        return 0;
    default:
        fail_msg("admin command %#x", cmd->opcode);
        return -1;
    }
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;
    va_start(args, request);
    void *cmd = va_arg(args, void *);
    va_end(args);
    assert_int_equal(request, NVME_IOCTL_ADMIN_CMD);
    if (!fake.no_nvme)
        return answer(fd, cmd);
    errno = ENOTTY;
    return -1;
}

/* ---- a phase ---- */

static Rackbench__Plan plan;
static Rackbench__Phase phase;
static Rackbench__Target target[2], *targets[2];
static Rackbench__Job job[2], *jobs[2];
static rb_subject_t subjects[DRIVES]; /* two of target 0, one of target 1 */
static char told[512];

static int set_up(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof(fake));
    told[0] = '\0';
    rackbench__plan__init(&plan);
    rackbench__phase__init(&phase);
    for (size_t i = 0; i < 2; i++) {
        rackbench__target__init(&target[i]);
        rackbench__job__init(&job[i]);
        job[i].target = target[i].name = (char *)(i == 0 ? "a" : "b");
        targets[i] = &target[i];
        jobs[i] = &job[i];
    }
    plan.targets = targets;
    plan.n_targets = 2;
    phase.jobs = jobs;
    phase.n_jobs = 2;
    for (uint32_t i = 0; i < DRIVES; i++) {
        snprintf(path[i], sizeof(path[i]), "/tmp/test_power.%d.%u", getpid(), i);
        close(open(path[i], O_CREAT | O_RDWR, 0600));
        subjects[i] = (rb_subject_t){.target = i == DRIVES - 1, .drive = i};
        memcpy(subjects[i].path, path[i], sizeof(path[i]));
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < DRIVES; i++)
        unlink(path[i]);
    return 0;
}

static void want(size_t i, uint32_t power_state)
{
    job[i].has_power_state = true;
    job[i].power_state = power_state;
}

static void hear(void *ctx, const char *text)
{
    assert_ptr_equal(ctx, told);
    snprintf(told, sizeof(told), "%s", text);
}

static int set(rb_power_t *power, size_t n, rb_err_t *err)
{
    return rb_power_set(power, &(rb_power_wish_t){&plan, &phase, subjects, n}, err);
}

static void set_and_given_back(void **state)
{
    (void)state;
    rb_power_t power = {0};
    rb_err_t err;
    fake.value[0] = HINT | 1;
    want(0, 2);
    assert_int_equal(set(&power, DRIVES, &err), 0);
    assert_int_equal(fake.value[0], HINT | 2); /* the hint stays as it was */
    assert_int_equal(fake.value[2], 0);        /* its job says nothing */
    assert_int_equal(fake.nsets, 1);           /* the other namespace has it by then */
    rb_power_restore(&power, hear, told);
    assert_int_equal(fake.value[0], HINT | 1);
    rb_power_restore(&power, hear, told);
    assert_int_equal(fake.nsets, 2);
    assert_string_equal(told, "");
}

static void nothing_is_asked_nothing_is_done(void **state)
{
    (void)state;
    rb_power_t power = {0};
    rb_err_t err;
    fake.no_nvme = true;
    assert_int_equal(set(&power, DRIVES, &err), 0);
    assert_int_equal(power.n, 0);
}

static void a_drive_that_keeps_its_state_is_named(void **state)
{
    (void)state;
    rb_power_t power = {0};
    rb_err_t err;
    fake.value[2] = 1;
    want(1, 0);
    assert_int_equal(set(&power, DRIVES, &err), 0);
    fake.refuses = true;
    rb_power_restore(&power, hear, told);
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf("%s: its power state could not be given back (Input/output error): "
                             "set it to 1 by hand (nvme set-feature -f 2)",
                             path[2]);
    assert_string_equal(told, text);
    assert_int_equal(power.n, 0);
}

static void expect_refusal(size_t n, rb_code_t code, const char *text)
{
    rb_power_t power = {0};
    rb_err_t err;
    uint32_t before = fake.value[0];
    assert_int_equal(set(&power, n, &err), -1);
    assert_int_equal(err.code, code);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' is not in: %s", text, err.text);
    rb_power_restore(&power, hear, told);
    assert_int_equal(fake.value[0], before);
}

static void what_cannot_be(void **state)
{
    (void)state;
    want(0, 4);
    expect_refusal(2, RB_ERR_INPUT, "has no state 4; the drive has states 0-3");
    want(0, 3);
    expect_refusal(2, RB_ERR_INPUT, "does no I/O in its state 3");
    want(0, 1);
    fake.refuses = true;
    expect_refusal(2, RB_ERR_IO, ": set its power state: Input/output error");
    fake.no_nvme = true;
    expect_refusal(2, RB_ERR_INPUT, ": no NVMe drive");
    unlink(path[0]);
    expect_refusal(2, RB_ERR_IO, "power_state: open ");
}

/* Two targets, each with a namespace of one controller. */
static void one_drive_has_one_state(void **state)
{
    (void)state;
    want(0, 1);
    want(1, 2);
    subjects[1].target = 1;
    expect_refusal(2, RB_ERR_INPUT, "is in state 2 after it was set to 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(set_and_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_asked_nothing_is_done, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_drive_that_keeps_its_state_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_drive_has_one_state, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
