#include "coordinator/watts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <time.h>

enum { MAX_WATTS = 10000000, HEADER_LINES = 1, MAX_LINE_BYTES = 1024, MAX_LINES = 1 << 24 };

void rb_watts_clear(rb_watts_t *watts)
{
    free(watts->items);
    *watts = (rb_watts_t){0};
}

/* ---- one reading ---- */

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789.")] == '\0' &&
           strchr(text, '.') == strrchr(text, '.') && strcmp(text, ".") != 0;
}

/* "Z", "+01:00"; seconds that local time is ahead. */
static bool take_zone(const char *text, int64_t *ret_s)
{
    int hours, minutes, length = 0;
    *ret_s = 0;
    if (strcmp(text, "Z") == 0 || strcmp(text, "z") == 0)
        return true;
    bool signed_text = (text[0] == '+' || text[0] == '-') && text[1] >= '0' && text[1] <= '9';
    if (!signed_text || sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &length) != 2 ||
        text[1 + length] != '\0' || length != 5 || hours > 23 || minutes < 0 || minutes > 59)
        return false;
    *ret_s = (hours * 60 + minutes) * (text[0] == '-' ? -60 : 60);
    return true;
}

/* "." and digits, or nothing; those beyond nanoseconds are dropped. */
static const char *take_fraction(const char *text, uint64_t *ret_ns)
{
    uint64_t unit_ns = RB_NS_PER_S / 10;
    *ret_ns = 0;
    if (*text != '.')
        return text;
    for (text++; *text >= '0' && *text <= '9'; text++, unit_ns /= 10)
        *ret_ns += (uint64_t)(*text - '0') * unit_ns;
    return text;
}

int rb_watts_time(const char *text, uint64_t *ret_ns, rb_err_t *err)
{
    enum { LATEST_S = INT32_MAX };
    struct tm tm = {0};
    int64_t zone_s = 0, seconds = -1;
    uint64_t fraction_ns = 0;
    const char *rest = NULL;
    if (is_number(text)) {
        seconds = strtoll(text, NULL, 10);
        rest = take_fraction(text + strcspn(text, "."), &fraction_ns);
    } else if (strlen(text) < 64 && (rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm)) != NULL) {
        rest = take_fraction(rest, &fraction_ns);
        seconds = take_zone(rest, &zone_s) ? timegm(&tm) - zone_s : -1;
        rest = "";
    }
    if (rest == NULL || *rest != '\0' || seconds < 0 || seconds > LATEST_S)
        return rb_err_set(err, RB_ERR_INPUT,
                          "'%.40s' is no time; 2026-11-30T21:00:00Z or seconds since 1970 are",
                          text);
    *ret_ns = (uint64_t)seconds * RB_NS_PER_S + fraction_ns;
    return 0;
}

static int find_host(rb_watts_t *w, const char *name, uint32_t *ret, rb_err_t *err)
{
    uint32_t nhosts = (uint32_t)w->fold->nhosts;
    *ret = 0;
    if (name == NULL || strcmp(name, "*") == 0)
        return 0;
    for (uint32_t i = 0; i < nhosts; i++) { /* loggers go round: it is the one behind the last */
        uint32_t host = (w->last_host + i) % nhosts + 1;
        const char *known = rb_fold_host_name(w->fold, host);
        if (known == NULL || strcmp(known, name) != 0)
            continue;
        *ret = w->last_host = host;
        return 0;
    }
    const char *first = rb_fold_host_name(w->fold, 1);
    return rb_err_set(err, RB_ERR_INPUT,
                      "the run has no host '%.64s'; its hosts are called as in its host list "
                      "(%.64s, ...), and * is all of them together",
                      name, first != NULL ? first : "none");
}

static int find_scope(const char *word, rb_power_scope_t *ret, rb_err_t *err)
{
    for (int i = 0; i < RB_SCOPE_COUNT; i++)
        if (strcasecmp(word, rb_power_scopes[i]) == 0) {
            *ret = (rb_power_scope_t)i;
            return 0;
        }
    return rb_err_set(
        err, RB_ERR_INPUT,
        "unknown scope '%.40s'; package, drive, chassis or pdu says what was measured", word);
}

int rb_watts_add(rb_watts_t *watts, const rb_watts_told_t *told, rb_err_t *err)
{
    rb_watts_reading_t reading = {.at_wall_ns = told->wall_ns};
    if (told->time != NULL && rb_watts_time(told->time, &reading.at_wall_ns, err) != 0)
        return -1;
    if (find_host(watts, told->host, &reading.host, err) != 0 ||
        find_scope(told->scope, &reading.scope, err) != 0)
        return -1;
    if (!(told->watts >= 0 && told->watts <= MAX_WATTS))
        return rb_err_set(err, RB_ERR_INPUT, "%g W is out of range; 0 to %d is right", told->watts,
                          MAX_WATTS);
    if (watts->n == RB_MAX_WATTS)
        return rb_err_set(err, RB_ERR_INPUT, "more than %d readings; leave some out", RB_MAX_WATTS);
    reading.mw = (uint64_t)llround(told->watts * 1e3);
    *RB_PUSH(watts->items, watts->n) = reading;
    return 0;
}

/* ---- CSV ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && strchr(" \t\r\n", text[length - 1]) != NULL)
        text[--length] = '\0';
    return text;
}

static int take_line(rb_watts_t *watts, char *line, rb_err_t *err)
{
    enum { COLUMNS = 4 };
    char *column[COLUMNS], *rest = line;
    size_t n = 0;
    while (rest != NULL && n < COLUMNS)
        column[n++] = trim(strsep(&rest, ","));
    if (n < COLUMNS || rest != NULL)
        return rb_err_set(err, RB_ERR_INPUT,
                          "a line has 4 columns: time,host,scope,watts; this one has %s",
                          rest != NULL ? "more" : "fewer");
    if (!is_number(column[3]))
        return rb_err_set(err, RB_ERR_INPUT, "'%.40s' is no number of watts; 312.5 is", column[3]);
    return rb_watts_add(watts,
                        &(rb_watts_told_t){.time = column[0],
                                           .host = column[1],
                                           .scope = column[2],
                                           .watts = strtod(column[3], NULL)},
                        err);
}

int rb_watts_csv(rb_watts_t *watts, FILE *in, const char *name, rb_err_t *err)
{
    char buffer[MAX_LINE_BYTES];
    uint64_t number = 0;
    int rc = 0;
    while (rc == 0 && fgets(buffer, sizeof(buffer), in) != NULL) {
        bool whole = strchr(buffer, '\n') != NULL || feof(in);
        char *line = trim(buffer);
        number++;
        if (!whole || number > MAX_LINES)
            rc = rb_err_set(err, RB_ERR_INPUT,
                            "more than %d bytes in a line, or %d lines: this is no list of "
                            "readings",
                            MAX_LINE_BYTES, MAX_LINES);
        else if (number == HEADER_LINES && strcmp(line, "time,host,scope,watts") != 0)
            rc = rb_err_set(err, RB_ERR_INPUT,
                            "the first line must be the header time,host,scope,watts");
        else if (number > HEADER_LINES && line[0] != '\0')
            rc = take_line(watts, line, err);
    }
    if (rc != 0)
        return rb_err_wrap(err, "%s:%" PRIu64, name, number);
    if (ferror(in))
        return rb_err_errno(err, errno, "read %s", name);
    if (number == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "%s: it is empty; its first line is "
                          "time,host,scope,watts",
                          name);
    return 0;
}
