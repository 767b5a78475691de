/* test_nvme_page.c - pages of known content, byte by byte as the specifications have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/nvme_page.h"

static uint8_t page[RB_NVME_IDENTIFY_BYTES];
static int64_t figure[RB_HEALTH_COUNT];

static int set_up(void **state)
{
    (void)state;
    memset(page, 0, sizeof(page));
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        figure[i] = RB_HEALTH_UNKNOWN;
    return 0;
}

static void put(size_t at, const char *bytes, size_t n)
{
    memcpy(page + at, bytes, n);
}
#define PUT(at, bytes) put(at, bytes, sizeof(bytes) - 1)

static void expect(rb_health_figure_t what, int64_t value)
{
    if (figure[what] != value)
        fail_msg("%s is %lld, not %lld", rb_health_names[what], (long long)figure[what],
                 (long long)value);
}

static void smart(void **state)
{
    (void)state;
    PUT(0, "\x02\x55\x01\x64\x0a\x07");          /* warning, 341 K, spare, threshold, used */
    PUT(32, "\x01\x02\x03\x00\x00\x00\x00\x00"); /* units read */
    PUT(48, "\x00\x00\x00\x00\x01");             /* units written: 2^32 */
    PUT(64, "\x10");
    PUT(80, "\x20");
    PUT(96, "\xff");  /* controller busy: not a figure of ours */
    PUT(112, "\xfe"); /* power cycles */
    PUT(128, "\x30");
    PUT(144, "\xfd"); /* unsafe shutdowns */
    PUT(160, "\x03");
    PUT(176, "\xfc");                             /* error log entries */
    PUT(192, "\x05\x00\x00\x00\x06\x00\x00\x00"); /* minutes warm, hot */
    PUT(200, "\x2d\x01\x00\x00\x5f\x01");         /* sensors: 301 K, none, 351 K */
    PUT(216, "\x07\x00\x00\x00\x08\x00\x00\x00\x09\x00\x00\x00\x00\x01\x00\x00");
    rb_nvme_smart_decode(page, figure);
    expect(RB_HEALTH_WARNING, RB_WARNING_TEMPERATURE);
    expect(RB_HEALTH_TEMPERATURE, 68);
    expect(RB_HEALTH_SPARE, 100);
    expect(RB_HEALTH_SPARE_THRESHOLD, 10);
    expect(RB_HEALTH_USED, 7);
    expect(RB_HEALTH_UNITS_READ, 0x030201);
    expect(RB_HEALTH_UNITS_WRITTEN, INT64_C(1) << 32);
    expect(RB_HEALTH_HOST_READS, 16);
    expect(RB_HEALTH_HOST_WRITES, 32);
    expect(RB_HEALTH_POWER_ON_HOURS, 48);
    expect(RB_HEALTH_MEDIA_ERRORS, 3);
    expect(RB_HEALTH_WARM_MINUTES, 5);
    expect(RB_HEALTH_HOT_MINUTES, 6);
    expect(RB_HEALTH_SENSOR_MAX, 78);
    expect(RB_HEALTH_THROTTLES_LIGHT, 7);
    expect(RB_HEALTH_THROTTLES_HEAVY, 8);
    expect(RB_HEALTH_THROTTLED_LIGHT, 9);
    expect(RB_HEALTH_THROTTLED_HEAVY, 256);
    expect(RB_HEALTH_PHYSICAL_WRITTEN, RB_HEALTH_UNKNOWN); /* in no page of NVMe's own */
}

static void what_no_drive_can_mean(void **state)
{
    (void)state;
    PUT(48, "\xff\xff\xff\xff\xff\xff\xff\xff"); /* beyond what we can say */
    PUT(64 + 15, "\x01");                        /* 2^120 */
    rb_nvme_smart_decode(page, figure);
    expect(RB_HEALTH_UNITS_WRITTEN, INT64_MAX);
    expect(RB_HEALTH_HOST_READS, INT64_MAX);
    expect(RB_HEALTH_TEMPERATURE, RB_HEALTH_UNKNOWN); /* 0 K: it measures none */
    expect(RB_HEALTH_SENSOR_MAX, RB_HEALTH_UNKNOWN);
    PUT(1, "\x01\x01"); /* 257 K */
    rb_nvme_smart_decode(page, figure);
    expect(RB_HEALTH_TEMPERATURE, -16);
}

static void ocp_by_its_guid(void **state)
{
    (void)state;
    PUT(0, "\x00\x00\x10\x00\x00\x00\x00\x00");
    assert_false(rb_nvme_ocp_decode(page, figure));
    expect(RB_HEALTH_PHYSICAL_WRITTEN, RB_HEALTH_UNKNOWN);
    /* AFD514C9-7C6F-4F9C-A4F2-BFEA2810AFC5 */
    PUT(496, "\xc5\xaf\x10\x28\xea\xbf\xf2\xa4\x9c\x4f\x6f\x7c\xc9\x14\xd5\xaf");
    assert_true(rb_nvme_ocp_decode(page, figure));
    expect(RB_HEALTH_PHYSICAL_WRITTEN, 1 << 20);
    page[511] ^= 1;
    assert_false(rb_nvme_ocp_decode(page, figure));
}

static void controller(void **state)
{
    (void)state;
    rb_nvme_controller_t c;
    PUT(4, "S64HNE0R506514      ");
    PUT(24, "  SAMSUNG MZQL23T8HCLS\x1b"
            "00A07                 ");
    PUT(64, "GDC5602Q");
    page[263] = 1;                /* two power states */
    PUT(266, "\x57\x01\x5b\x01"); /* 343 K, 347 K */
    page[525] = 7;
    PUT(2048, "\xc4\x09"); /* 2500 hundredths of a watt */
    /* 20000 ten-thousandths; no I/O; 4096 us in, 65536 us out */
    PUT(2048 + 32, "\x20\x4e\x00\x03\x00\x10\x00\x00\x00\x00\x01\x00");
    PUT(2048 + 64, "\xff\xff"); /* beyond the last */
    rb_nvme_controller_decode(page, &c);
    assert_string_equal(c.serial, "S64HNE0R506514");
    assert_string_equal(c.model, "SAMSUNG MZQL23T8HCLS?00A07");
    assert_string_equal(c.firmware, "GDC5602Q");
    assert_true(c.has_volatile_cache);
    assert_true(c.warning_c == 70 && c.critical_c == 74);
    assert_int_equal(c.npower_states, 2);
    assert_int_equal(c.power[0].max_mw, 25000);
    assert_int_equal(c.power[1].max_mw, 2000);
    assert_int_equal(c.power[2].max_mw, 0);
    assert_false(c.power[0].idle);
    assert_int_equal(c.power[0].entry_us, 0);
    assert_true(c.power[1].idle);
    assert_true(c.power[1].entry_us == 4096 && c.power[1].exit_us == 65536);
    page[263] = 255;
    rb_nvme_controller_decode(page, &c);
    assert_int_equal(c.npower_states, RB_NVME_POWER_STATES);
}

static void formats(void **state)
{
    (void)state;
    rb_nvme_namespace_t ns;
    page[25] = 2; /* three */
    page[26] = 1;
    PUT(128, "\x00\x00\x09\x02\x08\x00\x0c\x00\x40\x00\x00\x00");
    rb_nvme_namespace_decode(page, &ns);
    assert_int_equal(ns.nformats, 3);
    assert_int_equal(ns.format, 1);
    assert_true(ns.formats[0].data_bytes == 512 && ns.formats[0].metadata_bytes == 0);
    assert_true(ns.formats[1].data_bytes == 4096 && ns.formats[1].metadata_bytes == 8);
    assert_true(ns.formats[2].data_bytes == 0); /* not available */
    page[25] = 255;
    page[26] = 0x6f; /* bits 6:5 are the index's bits 5:4 */
    rb_nvme_namespace_decode(page, &ns);
    assert_int_equal(ns.nformats, RB_NVME_LBA_FORMATS);
    assert_int_equal(ns.format, 63);
    page[25] = 15; /* sixteen: those bits mean nothing */
    rb_nvme_namespace_decode(page, &ns);
    assert_int_equal(ns.format, 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(smart, set_up),
        cmocka_unit_test_setup(what_no_drive_can_mean, set_up),
        cmocka_unit_test_setup(ocp_by_its_guid, set_up),
        cmocka_unit_test_setup(controller, set_up),
        cmocka_unit_test_setup(formats, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
