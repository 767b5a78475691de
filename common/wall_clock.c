#include "common/wall_clock.h"

#include "common/clock.h"
#include "common/units.h"

#include <sys/timex.h>

enum { TRIES = 5 }; /* the quickest reading of both clocks counts */

static struct {
    bool set;
    int64_t ahead_ns;
    uint64_t maxerror_ns;
} test;

/* The clock is read before and after CLOCK_REALTIME, which lies in between. */
static uint64_t read_once(int64_t *ret_ahead_ns)
{
    uint64_t before_ns = rb_clock_now_ns(), wall_ns = rb_clock_wall_ns();
    uint64_t took_ns = rb_clock_now_ns() - before_ns;
    *ret_ahead_ns = (int64_t)(wall_ns - before_ns - took_ns / 2);
    return took_ns;
}

void rb_wall_clock_read(rb_wall_clock_t *ret)
{
    struct timex kernel = {0};
    uint64_t best_ns = UINT64_MAX;
    *ret = (rb_wall_clock_t){0};
    for (int i = 0; i < TRIES; i++) {
        int64_t ahead_ns;
        uint64_t took_ns = read_once(&ahead_ns);
        if (took_ns < best_ns)
            ret->ahead_ns = ahead_ns;
        best_ns = RB_MIN(best_ns, took_ns);
    }
    ret->synchronised = adjtimex(&kernel) >= 0 && (kernel.status & STA_UNSYNC) == 0;
    ret->maxerror_ns = (uint64_t)RB_MAX(kernel.maxerror, 0l) * RB_NS_PER_US + best_ns;
    ret->tai_s = kernel.tai;
    if (!test.set)
        return;
    ret->ahead_ns += test.ahead_ns;
    ret->synchronised = true;
    ret->maxerror_ns = test.maxerror_ns + best_ns;
}

static int parse(const char *ahead, const char *maxerror, rb_err_t *err)
{
    uint64_t ns = 0;
    bool minus = *ahead == '-';
    if (rb_parse_duration(ahead + minus, &ns, err) != 0 ||
        rb_parse_duration(maxerror, &test.maxerror_ns, err) != 0)
        return -1;
    if (ns > (uint64_t)INT64_MAX / 4)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' is too long", ahead);
    test.ahead_ns = minus ? -(int64_t)ns : (int64_t)ns;
    test.set = true;
    return 0;
}

int rb_wall_clock_set_test(const char *text, rb_err_t *err)
{
    if (text == NULL)
        return 0;
    const char *comma = strchr(text, ',');
    if (comma == NULL)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' is not AHEAD,MAXERROR, as in 5ms,10us", text);
    RB_AUTO(rb_free_str) char *ahead = rb_strndup(text, (size_t)(comma - text));
    return parse(ahead, comma + 1, err);
}
