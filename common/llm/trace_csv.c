#include "common/llm/trace_build.h"

#include <math.h>
#include <strings.h>
#include <time.h>

enum { MAX_COLUMNS = 64 };

typedef enum { WHEN, INPUT, OUTPUT, SESSION, OPERATION, PHASE } column_t;

/* What a format calls its columns; a blank before the name: it may be missing. */
static const struct {
    const char *name;
    rb_trace_format_t format;
    column_t column;
} names[] = {
    {"TIMESTAMP", RB_TRACE_AZURE, WHEN},           {"ContextTokens", RB_TRACE_AZURE, INPUT},
    {"GeneratedTokens", RB_TRACE_AZURE, OUTPUT},   {"Timestamp", RB_TRACE_BURSTGPT, WHEN},
    {"Request tokens", RB_TRACE_BURSTGPT, INPUT},  {"Response tokens", RB_TRACE_BURSTGPT, OUTPUT},
    {" Session ID", RB_TRACE_BURSTGPT, SESSION},   {"Timestamp", RB_TRACE_MLPERF, WHEN},
    {"Object_Size_Bytes", RB_TRACE_MLPERF, INPUT}, {"Key", RB_TRACE_MLPERF, SESSION},
    {"Operation", RB_TRACE_MLPERF, OPERATION},     {"Phase", RB_TRACE_MLPERF, PHASE},
};

static uint32_t cut(char *line, char *cells[MAX_COLUMNS])
{
    uint32_t n = 0;
    for (char *cell; n < MAX_COLUMNS && (cell = strsep(&line, ",")) != NULL; n++) {
        cell += strspn(cell, " \t");
        for (size_t size = strlen(cell); size > 0 && strchr(" \t", cell[size - 1]); size--)
            cell[size - 1] = '\0';
        cells[n] = cell;
    }
    return n;
}

int rb_trace_csv_header(rb_trace_build_t *b, char *line, rb_err_t *err)
{
    char *cells[MAX_COLUMNS];
    uint32_t n = cut(line, cells);
    for (size_t i = 0; i < RB_LEN(b->columns); i++)
        b->columns[i] = -1;
    for (size_t i = 0; i < RB_LEN(names); i++) {
        const char *name = names[i].name + (names[i].name[0] == ' ');
        int at = -1;
        if (names[i].format != b->format)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (strcasecmp(cells[k], name) == 0)
                at = (int)k;
        if (at < 0 && name == names[i].name)
            return rb_err_set(err, RB_ERR_INPUT, "the first line names no column %s", name);
        b->columns[names[i].column] = at;
    }
    return 0;
}

static int parse_whole(const char *text, const char *what, uint64_t *ret, rb_err_t *err)
{
    char *end;
    size_t size = strlen(text);
    unsigned long long v = strtoull(text, &end, 10);
    if (size == 0 || size > 15 || *end != '\0' || strspn(text, "0123456789") != size)
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is no %s: it must be a whole number", text,
                          what);
    *ret = v;
    return 0;
}

static int parse_seconds(const char *text, double *ret_s, rb_err_t *err)
{
    char *end;
    *ret_s = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(*ret_s >= 0) || !isfinite(*ret_s))
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is no time: it must be seconds, 0 or more",
                          text);
    return 0;
}

/* 2023-11-16 18:17:03.9799600, perhaps with an offset behind it, which is the same in all lines. */
static int parse_date(const char *text, double *ret_s, rb_err_t *err)
{
    struct tm tm = {0};
    double fraction_s = 0;
    char *rest = strptime(text, "%Y-%m-%d %H:%M:%S", &tm), *end = rest;
    if (rest != NULL && *rest == '.')
        fraction_s = strtod(rest, &end);
    if (rest == NULL || !(*end == '\0' || *end == '+' || *end == '-' || *end == 'Z'))
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is no time: it must be like 2023-11-16 18:17:03.97", text);
    *ret_s = (double)timegm(&tm) + fraction_s;
    return 0;
}

/* Source: Fowler, Noll, Vo: FNV-1a, 64 bits. */
static uint64_t hash_of(const char *text)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * 0x100000001b3u;
    return h;
}

static int add_unique(rb_trace_build_t *b, uint64_t tokens, rb_err_t *err)
{
    for (uint64_t at = 0; at < tokens; at += b->trace->block_tokens)
        if (rb_trace_build_block(b, b->fresh++, err) != 0)
            return -1;
    return 0;
}

/* Arrivals and lengths only. A conversation's id may be missing: then each request is one. */
static int add_lengths(rb_trace_build_t *b, const char **cells, rb_err_t *err)
{
    rb_trace_record_t r = {0};
    bool azure = b->format == RB_TRACE_AZURE;
    if ((azure ? parse_date : parse_seconds)(cells[WHEN], &r.due_s, err) != 0 ||
        parse_whole(cells[INPUT], "number of tokens", &r.input_tokens, err) != 0 ||
        parse_whole(cells[OUTPUT], "number of tokens", &r.output_tokens, err) != 0)
        return -1;
    r.session = *cells[SESSION] ? hash_of(cells[SESSION]) : rb_id_mix(b->trace->nrequests);
    r.session = rb_id_map_number(&b->sessions, r.session);
    if (rb_trace_build_request(b, &r, err) != 0)
        return -1;
    return add_unique(b, r.input_tokens, err);
}

/* An object is a prompt of its own: its key tells its blocks. */
static int add_object(rb_trace_build_t *b, const char **cells, rb_err_t *err)
{
    rb_trace_record_t r = {0};
    uint64_t bytes, key = hash_of(cells[SESSION]);
    if (strcasecmp(cells[PHASE], "evict") == 0)
        return 0;
    if (strcasecmp(cells[OPERATION], "read") != 0 && strcasecmp(cells[OPERATION], "write") != 0)
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is no operation: it must be Read or Write",
                          cells[OPERATION]);
    if (parse_seconds(cells[WHEN], &r.due_s, err) != 0 ||
        parse_whole(cells[INPUT], "size", &bytes, err) != 0)
        return -1;
    r.input_tokens = (bytes + b->opts->token_bytes - 1) / b->opts->token_bytes;
    r.session = rb_id_map_number(&b->sessions, key);
    if (rb_trace_build_request(b, &r, err) != 0)
        return -1;
    for (uint64_t at = 0; at < r.input_tokens; at += b->trace->block_tokens)
        if (rb_trace_build_block(b, rb_id_mix(key + at), err) != 0)
            return -1;
    return 0;
}

/* picked: the cell of each column, "" where the file has no such column. */
int rb_trace_csv_line(rb_trace_build_t *b, char *line, rb_err_t *err)
{
    char *cells[MAX_COLUMNS];
    const char *picked[RB_LEN(b->columns)];
    int n = (int)cut(line, cells);
    for (size_t i = 0; i < RB_LEN(picked); i++) {
        if (b->columns[i] >= n)
            return rb_err_set(err, RB_ERR_INPUT, "%d columns: the first line has more", n);
        picked[i] = b->columns[i] < 0 ? "" : cells[b->columns[i]];
    }
    return b->format == RB_TRACE_MLPERF ? add_object(b, picked, err) : add_lengths(b, picked, err);
}
