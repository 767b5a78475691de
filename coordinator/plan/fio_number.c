#include "coordinator/plan/fio_number.h"

#include <ctype.h>

enum { MAX_PARENTHESES = 16 };

static int no_number(const char *text, const char *right, rb_err_t *err)
{
    return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is no number here; %s", text, right);
}

/* Digits at *text, which is moved behind them. */
static bool digits(const char **text, uint64_t *ret)
{
    unsigned base = strncasecmp(*text, "0x", 2) == 0 ? 16 : 10;
    const char *p = *text + (base == 16 ? 2 : 0), *first = p;
    uint64_t n = 0;
    for (; base == 16 ? isxdigit((unsigned char)*p) : isdigit((unsigned char)*p); p++) {
        unsigned digit =
            isdigit((unsigned char)*p) ? (unsigned)(*p - '0') : (unsigned)(tolower(*p) - 'a' + 10);
        if (__builtin_mul_overflow(n, base, &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *text = p;
    *ret = n;
    return p > first;
}

/* k, kb, ki, kib and so on: what to multiply by; 0: no unit. The last one alone is of the other
 * base. */
static uint64_t unit_of(const char *text, uint32_t kb_base)
{
    static const char letters[] = "kmgtp";
    if (strcasecmp(text, "") == 0 || strcasecmp(text, "b") == 0)
        return 1;
    const char *at = strchr(letters, tolower((unsigned char)*text));
    if (*text == '\0' || at == NULL)
        return 0;
    const char *rest = text + 1;
    bool other = strcasecmp(rest, "ib") == 0;
    if (!other && strcasecmp(rest, "") != 0 && strcasecmp(rest, "b") != 0 &&
        strcasecmp(rest, "i") != 0)
        return 0;
    uint64_t base = (kb_base == 1000) != other ? 1000 : 1024, unit = base;
    for (const char *p = letters; p < at; p++)
        unit *= base;
    return unit;
}

/* ---- arithmetic, which fio knows beside its keywords only ---- */

typedef struct {
    const char *at;
    const rb_fio_opts_t *opts;
    uint32_t depth;
    bool bad;
} sum_t;

static uint64_t add(sum_t *s);

static uint64_t keyword(sum_t *s)
{
    const struct {
        const char *word;
        uint64_t value;
    } words[] = {{"$pagesize", s->opts->page_bytes},
                 {"$ncpus", s->opts->ncpus},
                 {"$mb_memory", s->opts->memory_mb}};
    for (size_t i = 0; i < RB_LEN(words); i++) {
        size_t n = strlen(words[i].word);
        if (strncmp(s->at, words[i].word, n) != 0)
            continue;
        s->at += n;
        return words[i].value;
    }
    s->bad = true;
    return 0;
}

static uint64_t atom(sum_t *s)
{
    uint64_t n = 0;
    s->at += strspn(s->at, " ");
    if (*s->at == '(' && s->depth < MAX_PARENTHESES) {
        s->at++;
        s->depth++;
        n = add(s);
        s->depth--;
        s->bad |= *s->at != ')';
        s->at += *s->at == ')';
    } else if (*s->at == '$') {
        n = keyword(s);
    } else if (!digits(&s->at, &n)) {
        s->bad = true;
    }
    s->at += strspn(s->at, " ");
    return n;
}

static uint64_t multiply(sum_t *s)
{
    uint64_t n = atom(s);
    while (!s->bad && (*s->at == '*' || *s->at == '/')) {
        bool times = *s->at++ == '*';
        uint64_t by = atom(s);
        if (times)
            s->bad |= __builtin_mul_overflow(n, by, &n);
        else if (by == 0)
            s->bad = true;
        else
            n /= by;
    }
    return n;
}

static uint64_t add(sum_t *s)
{
    uint64_t n = multiply(s);
    while (!s->bad && (*s->at == '+' || *s->at == '-')) {
        bool plus = *s->at++ == '+';
        uint64_t by = multiply(s);
        s->bad |= plus ? __builtin_add_overflow(n, by, &n) : __builtin_sub_overflow(n, by, &n);
    }
    return n;
}

static int arithmetic(const char *text, const rb_fio_units_t *units, uint64_t *ret, rb_err_t *err)
{
    sum_t s = {.at = text, .opts = units->opts};
    uint64_t n = add(&s);
    if (s.bad || *s.at != '\0')
        return no_number(
            text, "$pagesize, $ncpus, $mb_memory and numbers with + - * / ( ) are right", err);
    *ret = n;
    return 0;
}

int rb_fio_number(const char *text, const rb_fio_units_t *units, uint64_t *ret, rb_err_t *err)
{
    const char *rest = text;
    uint64_t n = 0;
    if (strchr(text, '$') != NULL)
        return arithmetic(text, units, ret, err);
    if (!digits(&rest, &n))
        return no_number(text, "digits, with k, m, g, t or p behind them, are right", err);
    uint64_t unit = unit_of(rest, units->kb_base);
    if (unit == 0)
        return no_number(text, "digits, with k, m, g, t or p behind them, are right", err);
    if (__builtin_mul_overflow(n, unit, &n))
        return no_number(text, "it is too large", err);
    *ret = n;
    return 0;
}

int rb_fio_time(const char *text, uint64_t unit_ns, uint64_t *ret_ns, rb_err_t *err)
{
    static const struct {
        const char *unit;
        uint64_t ns;
    } units[] = {{"d", 86400 * RB_NS_PER_S}, {"h", 3600 * RB_NS_PER_S}, {"m", 60 * RB_NS_PER_S},
                 {"s", RB_NS_PER_S},         {"ms", RB_NS_PER_MS},      {"msec", RB_NS_PER_MS},
                 {"us", RB_NS_PER_US},       {"usec", RB_NS_PER_US}};
    const char *rest = text, *right = "a number with d, h, m, s, ms or us is right";
    uint64_t n = 0, ns = unit_ns;
    if (!digits(&rest, &n))
        return no_number(text, right, err);
    if (*rest != '\0') {
        ns = 0;
        for (size_t i = 0; i < RB_LEN(units); i++)
            if (strcasecmp(rest, units[i].unit) == 0)
                ns = units[i].ns;
    }
    if (ns == 0 || __builtin_mul_overflow(n, ns, &n))
        return no_number(text, right, err);
    *ret_ns = n;
    return 0;
}

int rb_fio_flag(const char *text, bool *ret, rb_err_t *err)
{
    if (strcmp(text, "") != 0 && strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
        return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is neither 0 nor 1", text);
    *ret = strcmp(text, "0") != 0;
    return 0;
}

bool rb_fio_percent(const char *text, uint32_t *ret_percent)
{
    uint64_t n;
    if (!digits(&text, &n) || strcmp(text, "%") != 0 || n > 100)
        return false;
    *ret_percent = (uint32_t)n;
    return true;
}
