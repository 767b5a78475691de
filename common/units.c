#include "common/units.h"

#include <ctype.h>
#include <inttypes.h>
#include <time.h>

typedef struct {
    const char *name; /* NULL ends a table */
    uint64_t factor;
} unit_t;

#define TIB  (RB_GIB * 1024)
#define PIB  (TIB * 1024)
#define GIGA 1000000000ull
#define TERA (GIGA * 1000)
#define PETA (TERA * 1000)

static const unit_t byte_units[] = {
    {"", 1},       {"B", 1},        {"k", RB_KIB}, {"K", RB_KIB}, {"KiB", RB_KIB}, {"M", RB_MIB},
    {"m", RB_MIB}, {"MiB", RB_MIB}, {"G", RB_GIB}, {"g", RB_GIB}, {"GiB", RB_GIB}, {"T", TIB},
    {"t", TIB},    {"TiB", TIB},    {"P", PIB},    {"p", PIB},    {"PiB", PIB},    {"kB", 1000},
    {"KB", 1000},  {"MB", 1000000}, {"GB", GIGA},  {"TB", TERA},  {"PB", PETA},    {NULL, 0},
};
static const unit_t count_units[] = {
    {"", 1},     {"k", 1000}, {"K", 1000}, {"M", 1000000},
    {"G", GIGA}, {"T", TERA}, {"P", PETA}, {NULL, 0},
};
static const unit_t ppm_units[] = {{"", 1}, {"ppm", 1}, {"%", 10000}, {NULL, 0}};
static const unit_t time_units[] = {
    {"ns", 1},
    {"us", RB_NS_PER_US},
    {"ms", RB_NS_PER_MS},
    {"s", RB_NS_PER_S},
    {"m", 60 * RB_NS_PER_S},
    {"h", 3600 * RB_NS_PER_S},
    {"d", 86400 * RB_NS_PER_S},
    {NULL, 0},
};

/* What a text should be, for the message when it is not. */
typedef struct {
    const char *what;
    const char *right;
    const unit_t *units;
} kind_t;

static const kind_t bytes_kind = {
    "a size", "write bytes, or a number with KiB MiB GiB TiB PiB (or k M G T P), kB MB GB TB PB",
    byte_units};
static const kind_t count_kind = {
    "a count", "write a whole number, or one with k M G T P (thousand, million, ...)", count_units};
static const kind_t ppm_kind = {"a fraction", "write 0% to 100%, or 0 to 1000000 (ppm)", ppm_units};
static const kind_t time_kind = {
    "a duration", "write 30s, 250us or 1m30s, with the units ns us ms s m h d", time_units};

static int fail(const kind_t *kind, const char *text, const char *why, rb_err_t *err)
{
    return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is not %s: %s; %s", text, kind->what, why,
                      kind->right);
}

typedef struct {
    uint64_t whole;
    uint64_t fraction, of; /* fraction / of, of being a power of ten */
} number_t;

static const char *skip_blanks(const char *p)
{
    return p + strspn(p, " \t");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *const too_large = "it does not fit in 64 bits";

/* The take_X functions move *p over what they read and return NULL, or what is wrong. */
static const char *take_number(const char **p, number_t *n)
{
    *n = (number_t){.of = 1};
    if (!is_digit(**p))
        return **p == '\0' ? "a number is missing" : "it does not begin with a digit";
    for (; is_digit(**p); (*p)++) {
        if (__builtin_mul_overflow(n->whole, 10, &n->whole) ||
            __builtin_add_overflow(n->whole, (uint64_t)(**p - '0'), &n->whole))
            return too_large;
    }
    if (**p != '.')
        return NULL;
    (*p)++;
    if (!is_digit(**p))
        return "a digit is missing after the point";
    for (; is_digit(**p); (*p)++) {
        if (n->of >= GIGA * GIGA)
            return "it has more than 18 digits after the point";
        n->fraction = n->fraction * 10 + (uint64_t)(**p - '0');
        n->of *= 10;
    }
    return NULL;
}

static const char *take_unit(const char **p, const unit_t *units, uint64_t *ret_factor)
{
    const char *start = *p = skip_blanks(*p);
    while (isalpha((unsigned char)**p) || **p == '%')
        (*p)++;
    size_t n = (size_t)(*p - start);
    for (; units->name; units++) {
        if (strlen(units->name) == n && memcmp(units->name, start, n) == 0) {
            *ret_factor = units->factor;
            return NULL;
        }
    }
    return n == 0 ? "add a unit: 30s" : "its unit is unknown";
}

static const char *take_term(const char **p, const unit_t *units, uint64_t *ret_value,
                             uint64_t *ret_factor)
{
    number_t n;
    const char *why = take_number(p, &n);
    if (!why)
        why = take_unit(p, units, ret_factor);
    if (why)
        return why;
    unsigned __int128 parts = (unsigned __int128)n.fraction * *ret_factor;
    unsigned __int128 value = (unsigned __int128)n.whole * *ret_factor + parts / n.of;
    if (parts % n.of != 0)
        return "it is not a whole number of the smallest unit";
    if (value > UINT64_MAX)
        return too_large;
    *ret_value = (uint64_t)value;
    *p = skip_blanks(*p);
    return NULL;
}

static int parse_single(const kind_t *kind, const char *text, uint64_t *ret, rb_err_t *err)
{
    const char *p = skip_blanks(text);
    uint64_t value, factor;
    const char *why = take_term(&p, kind->units, &value, &factor);
    if (!why && *p != '\0')
        why = "something stands after it";
    if (why)
        return fail(kind, text, why, err);
    *ret = value;
    return 0;
}

int rb_parse_bytes(const char *text, uint64_t *ret_bytes, rb_err_t *err)
{
    return parse_single(&bytes_kind, text, ret_bytes, err);
}

int rb_parse_count(const char *text, uint64_t *ret_count, rb_err_t *err)
{
    return parse_single(&count_kind, text, ret_count, err);
}

int rb_parse_ppm(const char *text, uint64_t *ret_ppm, rb_err_t *err)
{
    uint64_t ppm;
    if (parse_single(&ppm_kind, text, &ppm, err) < 0)
        return -1;
    if (ppm > 1000000)
        return fail(&ppm_kind, text, "it is more than the whole", err);
    *ret_ppm = ppm;
    return 0;
}

int rb_parse_duration(const char *text, uint64_t *ret_ns, rb_err_t *err)
{
    const char *p = skip_blanks(text), *why = NULL;
    uint64_t total = 0, last = UINT64_MAX;
    if (strcmp(p, "0") == 0)
        p++;
    else if (*p == '\0')
        why = "it is empty";
    while (!why && *p != '\0') {
        uint64_t value, factor;
        why = take_term(&p, time_units, &value, &factor);
        if (!why && factor >= last)
            why = "the units of a sum must fall from left to right";
        if (!why && __builtin_add_overflow(total, value, &total))
            why = too_large;
        last = factor;
    }
    if (why)
        return fail(&time_kind, text, why, err);
    *ret_ns = total;
    return 0;
}

/* Ascending; the names hold the blank that stands before them. */
static const unit_t binary_scale[] = {{" B", 1},        {" KiB", RB_KIB}, {" MiB", RB_MIB},
                                      {" GiB", RB_GIB}, {" TiB", TIB},    {" PiB", PIB},
                                      {NULL, 0}};
static const unit_t count_scale[] = {{"", 1},     {"k", 1000}, {"M", 1000000}, {"G", GIGA},
                                     {"T", TERA}, {"P", PETA}, {NULL, 0}};
static const unit_t latency_scale[] = {
    {" ns", 1}, {" us", RB_NS_PER_US}, {" ms", RB_NS_PER_MS}, {" s", RB_NS_PER_S}, {NULL, 0}};

static const char *fmt_scaled(char *buf, size_t size, double value, const unit_t *unit)
{
    const unit_t *base = unit;
    /* Half a unit early: 999.7 us is 1.00 ms, not 1000 us. */
    while (unit[1].name && value + (double)unit->factor / 2 >= (double)unit[1].factor)
        unit++;
    double shown = value / (double)unit->factor;
    int decimals = unit == base || shown >= 999.95 ? 0 : shown < 9.995 ? 2 : 1;
    snprintf(buf, size, "%.*f%s", decimals, shown, unit->name);
    return buf;
}

static const unit_t *largest_whole_unit(uint64_t bytes)
{
    const unit_t *best = binary_scale;
    for (const unit_t *unit = binary_scale; unit->name && bytes >= unit->factor; unit++)
        if (bytes % unit->factor == 0)
            best = unit;
    return best;
}

double rb_units_mega_bytes(rb_units_t units)
{
    return units == RB_UNITS_BINARY ? (double)RB_MIB : 1e6;
}

const char *rb_units_mega_per_s(rb_units_t units)
{
    return units == RB_UNITS_BINARY ? "MiB/s" : "MB/s";
}

const char *rb_fmt_bytes(char *buf, size_t size, uint64_t bytes)
{
    const unit_t *unit = largest_whole_unit(bytes);
    if (bytes / unit->factor >= 10000)
        return fmt_scaled(buf, size, (double)bytes, binary_scale);
    snprintf(buf, size, "%" PRIu64 "%s", bytes / unit->factor, unit->name);
    return buf;
}

const char *rb_fmt_bytes_exact(char *buf, size_t size, uint64_t bytes)
{
    const unit_t *unit = largest_whole_unit(bytes);
    snprintf(buf, size, "%" PRIu64 "%s", bytes / unit->factor, unit->name + 1);
    return buf;
}

const char *rb_fmt_count(char *buf, size_t size, uint64_t count)
{
    return fmt_scaled(buf, size, (double)count, count_scale);
}

const char *rb_fmt_rate_count(char *buf, size_t size, double per_s)
{
    uint64_t whole = (uint64_t)(per_s + 0.5);
    if (per_s >= 99.95 || per_s == (double)whole)
        return rb_fmt_count(buf, size, whole);
    int decimals = per_s < 9.995 ? 2 : 1;
    if (per_s < 0.0995)
        snprintf(buf, size, "%.2g", per_s);
    else
        snprintf(buf, size, "%.*f", decimals, per_s);
    return buf;
}

const char *rb_fmt_ns(char *buf, size_t size, uint64_t ns)
{
    return fmt_scaled(buf, size, (double)ns, latency_scale);
}

const char *rb_fmt_duration(char *buf, size_t size, uint64_t ns)
{
    size_t at = 0;
    snprintf(buf, size, "0s");
    if (ns > RB_NS_PER_S && ns < 60 * RB_NS_PER_S && ns % RB_NS_PER_MS == 0) {
        snprintf(buf, size, "%gs", (double)(ns / RB_NS_PER_MS) / 1000);
        return buf;
    }
    for (size_t i = RB_LEN(time_units) - 1; i-- > 0;) {
        uint64_t n = ns / time_units[i].factor;
        if (n == 0 || at >= size)
            continue;
        at += (size_t)snprintf(buf + at, size - at, "%" PRIu64 "%s", n, time_units[i].name);
        ns %= time_units[i].factor;
    }
    return buf;
}

const char *rb_fmt_since(char *buf, size_t size, uint64_t then_wall_ns, uint64_t now_wall_ns)
{
    char stamp[32], ago[RB_FMT_SIZE];
    time_t s = (time_t)(then_wall_ns / RB_NS_PER_S);
    struct tm tm;
    gmtime_r(&s, &tm);
    strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S", &tm);
    uint64_t ns = now_wall_ns > then_wall_ns ? now_wall_ns - then_wall_ns : 0;
    uint64_t grain_ns = (ns < 60 * RB_NS_PER_S ? 1 : 60) * RB_NS_PER_S;
    rb_fmt_duration(ago, sizeof(ago), ns / grain_ns * grain_ns);
    snprintf(buf, size, "%s UTC (%s)", stamp, ago);
    return buf;
}
