/* test_health_judge.c - two readings of a drive held against each other: what is told, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/health_judge.h"

static char told[2048]; /* "kind: text" a line */
static rb_health_drive_t before, now;
static rb_health_memory_t memory;

static void hear(void *ctx, const char *kind, const char *text)
{
    size_t used = strlen(told);
    assert_ptr_equal(ctx, told);
    snprintf(told + used, sizeof(told) - used, "%s: %s\n", kind, text);
}

static int set_up(void **state)
{
    (void)state;
    before = (rb_health_drive_t){.path = (char *)"/dev/nvme3n1",
                                 .serial = (char *)"S1",
                                 .firmware = (char *)"F1",
                                 .link_mts = 16000,
                                 .link_width = 4,
                                 .link_max_mts = 16000,
                                 .link_max_width = 4};
    before.figure[RB_HEALTH_TEMPERATURE] = 40;
    now = before;
    memory = (rb_health_memory_t){0};
    return 0;
}

/* All that is told must be this. */
static void expect(const rb_health_drive_t *earlier, const char *text)
{
    told[0] = '\0';
    rb_health_judge(&memory, earlier, &now, hear, told);
    assert_string_equal(told, text);
}

#define DRIVE "/dev/nvme3n1 (S/N S1): "

static void a_drive_that_is_well(void **state)
{
    (void)state;
    expect(NULL, "");
    now.figure[RB_HEALTH_UNITS_WRITTEN] = 100;
    now.figure[RB_HEALTH_TEMPERATURE] = 69;
    expect(&before, "");
}

static void heat(void **state)
{
    (void)state;
    now.figure[RB_HEALTH_WARNING] = RB_WARNING_TEMPERATURE;
    now.figure[RB_HEALTH_TEMPERATURE] = 77;
    expect(NULL, "hot: " DRIVE "above its warning temperature; now 77 C\n");
    expect(&before, "hot: " DRIVE "above its warning temperature; now 77 C\n");
    before.figure[RB_HEALTH_WARNING] = RB_WARNING_TEMPERATURE;
    now.figure[RB_HEALTH_WARM_MINUTES] = 1;
    expect(&before, ""); /* it still is */
    before.figure[RB_HEALTH_WARNING] = now.figure[RB_HEALTH_WARNING] = 0;
    expect(&before, "hot: " DRIVE "above its warning temperature; now 77 C\n"); /* it was */
}

static void throttling_is_told_when_it_begins(void **state)
{
    (void)state;
    const char *text = "throttled: " DRIVE "it slows itself down to cool (12 s since the reading "
                       "before, 2 s of them heavily): what follows measures that\n";
    now.figure[RB_HEALTH_THROTTLED_LIGHT] = 10;
    now.figure[RB_HEALTH_THROTTLED_HEAVY] = 2;
    expect(NULL, ""); /* in an earlier life */
    expect(&before, text);
    before = now;
    now.figure[RB_HEALTH_THROTTLED_LIGHT] = 20;
    expect(&before, "");
    before = now;
    expect(&before, "");
    now.figure[RB_HEALTH_THROTTLED_LIGHT] += 10;
    now.figure[RB_HEALTH_THROTTLED_HEAVY] += 2;
    expect(&before, text);
}

static void the_medium(void **state)
{
    (void)state;
    before.figure[RB_HEALTH_MEDIA_ERRORS] = 3;
    now.figure[RB_HEALTH_MEDIA_ERRORS] = 5;
    before.figure[RB_HEALTH_USED] = 7;
    now.figure[RB_HEALTH_USED] = 8;
    now.figure[RB_HEALTH_SPARE] = 9;
    now.figure[RB_HEALTH_SPARE_THRESHOLD] = 10;
    now.figure[RB_HEALTH_WARNING] =
        RB_WARNING_SPARE | RB_WARNING_RELIABILITY | RB_WARNING_READ_ONLY | RB_WARNING_BACKUP;
    expect(&before, "media_errors: " DRIVE "2 more media errors, 5 in its life\n"
                    "wear: " DRIVE "its spare blocks are down to 9 %, below its threshold of 10 %\n"
                    "wear: " DRIVE "8 % of its rated life are used, 7 % before\n"
                    "failing: " DRIVE "it says that it is no longer reliable; replace it\n"
                    "failing: " DRIVE "it has become read-only; replace it\n"
                    "failing: " DRIVE "its protection against power loss has failed; replace it\n");
    before = now;
    expect(&before, "");
}

static void what_is_not_known_is_no_change(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        before.figure[i] = RB_HEALTH_UNKNOWN;
    now.figure[RB_HEALTH_MEDIA_ERRORS] = 5;
    now.figure[RB_HEALTH_USED] = 8;
    now.figure[RB_HEALTH_THROTTLED_LIGHT] = 3;
    expect(&before, "");
    rb_health_drive_t swapped = before;
    before = now;
    now = swapped;
    expect(&before, "");
}

static void a_lost_lane(void **state)
{
    (void)state;
    now.link_width = 2;
    expect(&before,
           "link: " DRIVE "its PCIe link is x2 at 16.0 GT/s now, x4 at 16.0 GT/s before\n");
    expect(NULL, "link: " DRIVE "its PCIe link runs at x2 of x4, 16.0 of 16.0 GT/s\n");
    before.link_width = 2;
    expect(&before, ""); /* told before */
    now.link_width = 4;
    now.link_mts = 8000;
    expect(NULL, "link: " DRIVE "its PCIe link runs at x4 of x4, 8.0 of 16.0 GT/s\n");
    now.link_width = 0; /* not known */
    expect(&before, "");
    expect(NULL, "");
}

static void other_firmware(void **state)
{
    (void)state;
    now.firmware = (char *)"F2";
    expect(&before, "firmware: " DRIVE "its firmware is F2 now, F1 before\n");
    now.firmware = (char *)"";
    expect(&before, "");
}

/* Its counters have nothing to do with the other drive's. */
static void another_drive(void **state)
{
    (void)state;
    now.serial = (char *)"S2";
    now.firmware = (char *)"F2";
    now.figure[RB_HEALTH_MEDIA_ERRORS] = 100;
    expect(&before,
           "drive: /dev/nvme3n1 (S/N S2): it is another drive than before, which was S/N S1\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_drive_that_is_well, set_up),
        cmocka_unit_test_setup(heat, set_up),
        cmocka_unit_test_setup(throttling_is_told_when_it_begins, set_up),
        cmocka_unit_test_setup(the_medium, set_up),
        cmocka_unit_test_setup(what_is_not_known_is_no_change, set_up),
        cmocka_unit_test_setup(a_lost_lane, set_up),
        cmocka_unit_test_setup(other_firmware, set_up),
        cmocka_unit_test_setup(another_drive, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
