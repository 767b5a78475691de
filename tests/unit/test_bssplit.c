/* test_bssplit.c - mixes of block sizes: parsed, refused, drawn by their shares, aligned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/bssplit.h"
#include "common/clock.h"
#include "tests/unit/chi_square.h"

static rb_bssplit_t parsed(const char *text)
{
    rb_bssplit_t b;
    rb_err_t err = {0};
    if (rb_bssplit_parse(text, &b, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return b;
}

/* "size/ppm" of each item, with blanks between. */
static void assert_side(const rb_bssplit_side_t *s, const char *want)
{
    char got[500] = "";
    for (uint32_t i = 0; i < s->nsizes; i++) {
        size_t at = strlen(got);
        snprintf(got + at, sizeof(got) - at, "%s%llu/%u", i ? " " : "",
                 (unsigned long long)s->size_bytes[i], s->share_ppm[i]);
    }
    assert_string_equal(got, want);
}

static void test_parse(void **state)
{
    (void)state;
    const struct {
        const char *text, *read, *write;
    } rows[] = {
        {"4k/60:64k/40", "4096/600000 65536/400000", NULL},
        {"4k/50:1k/:32k/", "4096/500000 1024/250000 32768/250000", NULL},
        {"4KiB/50:8k", "4096/500000 8192/500000", NULL},
        {"4k", "4096/1000000", NULL},
        {"1k/:2k/:3k/", "1024/333333 2048/333333 3072/333334", NULL},
        {"4k/100:8k/", "4096/1000000 8192/0", NULL},
        {"4k/33.3333:8k/66.6667", "4096/333333 8192/666667", NULL},
        {"4k/0.0003:8k/99.9997", "4096/3 8192/999997", NULL},
        {"2k,4k/90:8k/10", "2048/1000000", "4096/900000 8192/100000"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_bssplit_t b = parsed(rows[i].text);
        assert_side(&b.side[RB_BSSPLIT_READ], rows[i].read);
        assert_side(&b.side[RB_BSSPLIT_WRITE], rows[i].write ? rows[i].write : rows[i].read);
    }
}

static void assert_refused(const char *text, const char *want)
{
    rb_bssplit_t b;
    rb_err_t err = {0};
    if (rb_bssplit_parse(text, &b, &err) == 0)
        fail_msg("\"%s\" was accepted", text);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, want);
}

#define SIZE "; write bytes, or a number with KiB MiB GiB TiB PiB (or k M G T P), kB MB GB TB PB"

static void test_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"", "size 1: \"\" is not a size: a number is missing" SIZE},
        {"4k/60:", "size 2: \"\" is not a size: a number is missing" SIZE},
        {"4q/60:8k/40", "size 1: \"4q\" is not a size: its unit is unknown" SIZE},
        {"4k/100:0/", "size 2: a size of 0 moves nothing: write 1 byte or more"},
        {"4k/x", "size 1: \"x\" is not a percentage: write 0 to 100, such as 12.5"},
        {"4k/-5:8k", "size 1: \"-5\" is not a percentage: write 0 to 100, such as 12.5"},
        {"4k/60", "the percentages add up to 60: they must make 100"},
        {"4k/60:8k/50", "the percentages add up to 110: lower them to 100"},
        {"4k,4k/60:8k/50", "write sizes: the percentages add up to 110: lower them to 100"},
        {",4k", "read sizes: size 1: \"\" is not a size: a number is missing" SIZE},
        {"4k,8k,16k", "a second comma: write one list for both, or read,write"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++)
        assert_refused(rows[i].text, rows[i].want);
}

static void test_number_of_sizes(void **state)
{
    (void)state;
    char text[5 * (RB_MAX_BSSPLIT + 1)] = "4k";
    for (int i = 1; i < RB_MAX_BSSPLIT; i++)
        strcat(text, ":4k");
    assert_int_equal(parsed(text).side[0].nsizes, RB_MAX_BSSPLIT);
    strcat(text, ":4k");
    assert_refused(text, "size 65: it is one too many: at most 64 sizes");
}

static size_t index_of(const rb_bssplit_side_t *s, uint64_t bytes)
{
    for (size_t i = 0; i < s->nsizes; i++)
        if (s->size_bytes[i] == bytes)
            return i;
    fail_msg("%llu is none of the sizes", (unsigned long long)bytes);
    return 0;
}

static double excess(const rb_bssplit_side_t *drawn, const rb_bssplit_side_t *wanted)
{
    enum { DRAWS = 1000000 };
    uint64_t counts[RB_MAX_BSSPLIT] = {0};
    double share[RB_MAX_BSSPLIT];
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 3);
    for (int i = 0; i < DRAWS; i++)
        counts[index_of(drawn, rb_bssplit_draw(drawn, &rng))]++;
    for (uint32_t i = 0; i < wanted->nsizes; i++)
        share[i] = wanted->share_ppm[i] / 1e6;
    return chi_square_excess(counts, share, wanted->nsizes);
}

static void test_shares(void **state)
{
    (void)state;
    const char *texts[] = {"4k/60:64k/40", "4k/0.5:8k/1.5:16k/3:32k/5:64k/10:128k/30:256k/",
                           "1k:2k:3k:4k:5k:6k:7k", "1k/50:2k/25:3k/12.5:4k/6.25:5k/6.25"};
    for (size_t i = 0; i < RB_LEN(texts); i++) {
        rb_bssplit_t b = parsed(texts[i]);
        double sigma = excess(&b.side[0], &b.side[0]);
        if (sigma >= CHI_SQUARE_LIMIT)
            fail_msg("%s: %g sigma", texts[i], sigma);
    }
    rb_bssplit_t off = parsed("4k/60.5:64k/39.5"), right = parsed("4k/60:64k/40");
    assert_true(excess(&off.side[0], &right.side[0]) > CHI_SQUARE_LIMIT);
}

static void test_share_of_nothing_is_never_drawn(void **state)
{
    (void)state;
    rb_bssplit_t b = parsed("4k/0:8k/100:16k/0");
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 4);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(rb_bssplit_draw(&b.side[0], &rng), 8192);
}

static void test_align(void **state)
{
    (void)state;
    rb_bssplit_t b = parsed("16k/10:4k/60:64k/30,8k");
    rb_bssplit_side_t *read = &b.side[RB_BSSPLIT_READ], *write = &b.side[RB_BSSPLIT_WRITE];
    assert_int_equal(read->min_bytes, 4096);
    assert_int_equal(read->max_bytes, 65536);
    assert_int_equal(read->align_bytes, 4096); /* the smallest, as in fio */
    assert_int_equal(write->align_bytes, 8192);

    /* The last start is the last multiple from which the largest still ends inside. */
    assert_int_equal(rb_bssplit_starts(read, 65535), 0);
    assert_int_equal(rb_bssplit_starts(read, 65536), 1);
    assert_int_equal(rb_bssplit_starts(read, 65536 + 4095), 1);
    assert_int_equal(rb_bssplit_starts(read, 65536 + 4096), 2);
    assert_int_equal(rb_bssplit_starts(write, 1 << 20), (1 << 20) / 8192);

    rb_bssplit_align(&b, 3000);
    assert_int_equal(read->align_bytes, 3000);
    assert_int_equal(write->align_bytes, 3000);
}

static void test_one_size(void **state)
{
    (void)state;
    rb_bssplit_t one, b = parsed("12k");
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 6);
    rb_bssplit_one(&one, 12288);
    for (int i = 0; i < RB_BSSPLIT_COUNT; i++) {
        assert_memory_equal(&one.side[i].table, &b.side[i].table, sizeof(b.side[i].table));
        assert_side(&one.side[i], "12288/1000000");
        assert_int_equal(rb_bssplit_draw(&one.side[i], &rng), 12288);
        assert_int_equal(one.side[i].min_bytes, 12288);
        assert_int_equal(rb_bssplit_starts(&one.side[i], 1 << 20), (1 << 20) / 12288);
    }
}

static void test_cost(void **state)
{
    (void)state;
    enum { DRAWS = 2000000 };
    rb_bssplit_t b = parsed("4k/50:8k/20:16k/10:64k/");
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 5);
    uint64_t sum = 0, start_ns = rb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int i = 0; i < DRAWS; i++)
        sum += rb_bssplit_draw(&b.side[0], &rng);
    double each_ns = (double)(rb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / DRAWS;
    print_message("bssplit: %.1f ns a draw, mean size %.0f bytes\n", each_ns, (double)sum / DRAWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_number_of_sizes),
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_share_of_nothing_is_never_drawn),
        cmocka_unit_test(test_align),
        cmocka_unit_test(test_one_size),
        cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
