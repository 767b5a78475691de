#include "common/clock.h"

#include "common/units.h"

rb_clock_gettime_fn *rb_clock_gettime = clock_gettime;

/* Of a test: our clock against CLOCK_MONOTONIC. */
static struct {
    uint64_t base_ns; /* CLOCK_MONOTONIC when it was set apart */
    int64_t offset_ns, drift_ppb;
} apart;

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){(time_t)(ns / RB_NS_PER_S), (long)(ns % RB_NS_PER_S)};
}

static uint64_t real_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * RB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int gettime_apart(clockid_t id, struct timespec *ret)
{
    if (id != CLOCK_MONOTONIC)
        return clock_gettime(id, ret);
    uint64_t real_ns = real_now_ns();
    __int128 gained_ns = (__int128)(real_ns - apart.base_ns) * apart.drift_ppb / 1000000000;
    *ret = timespec_of(real_ns + (uint64_t)apart.offset_ns + (uint64_t)(int64_t)gained_ns);
    return 0;
}

/* When CLOCK_MONOTONIC is it as our clock shows ns? */
static uint64_t to_real_ns(uint64_t ns)
{
    int64_t since_ns = (int64_t)(ns - (uint64_t)apart.offset_ns - apart.base_ns);
    return apart.base_ns +
           (uint64_t)(int64_t)((__int128)since_ns * 1000000000 / (1000000000 + apart.drift_ppb));
}

void rb_clock_sleep_until(uint64_t until_ns)
{
    struct timespec ts = timespec_of(to_real_ns(until_ns));
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

int rb_clock_set_test(int64_t offset_ns, int64_t drift_ppb, rb_err_t *err)
{
    uint64_t now_ns = real_now_ns();
    if (offset_ns < 0 && (uint64_t)-offset_ns > now_ns) {
        char up[RB_FMT_SIZE];
        return rb_err_set(err, RB_ERR_INPUT,
                          "the clock would show a time before 0: this machine has been up for %s",
                          rb_fmt_ns(up, sizeof(up), now_ns));
    }
    apart.base_ns = now_ns;
    apart.offset_ns = offset_ns;
    apart.drift_ppb = drift_ppb;
    rb_clock_gettime = gettime_apart;
    return 0;
}

/* "-2h": a duration with a sign. */
static int parse_offset(const char *text, int64_t *ret_ns, rb_err_t *err)
{
    static const uint64_t max_ns = 366ull * 24 * 3600 * RB_NS_PER_S;
    uint64_t ns;
    bool minus = *text == '-';
    if (rb_parse_duration(text + (*text == '-' || *text == '+'), &ns, err) != 0)
        return -1;
    if (ns > max_ns)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' is more than 366d", text);
    *ret_ns = minus ? -(int64_t)ns : (int64_t)ns;
    return 0;
}

static int parse_drift(const char *text, int64_t *ret_ppb, rb_err_t *err)
{
    char *end;
    double ppm = strtod(text, &end);
    if (end == text || *end != '\0' || !(ppm >= -1000 && ppm <= 1000))
        return rb_err_set(err, RB_ERR_INPUT, "'%s' is no drift in ppm; from -1000 to 1000 is right",
                          text);
    *ret_ppb = (int64_t)(ppm * 1000);
    return 0;
}

int rb_clock_set_test_text(const char *text, rb_err_t *err)
{
    const char *comma = strchr(text, ',');
    int64_t offset_ns = 0, drift_ppb = 0;
    RB_AUTO(rb_free_str)
    char *offset = rb_strndup(text, comma != NULL ? (size_t)(comma - text) : strlen(text));
    if (parse_offset(offset, &offset_ns, err) != 0 ||
        (comma != NULL && parse_drift(comma + 1, &drift_ppb, err) != 0))
        return -1;
    return rb_clock_set_test(offset_ns, drift_ppb, err);
}
