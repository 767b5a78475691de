#include "common/hostlist.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>

enum { RB_MAX_HOST_LINE = 4096 }; /* bytes of one line of a host file */

rb_hostlist_t *rb_hostlist_new(void)
{
    return rb_calloc(1, sizeof(rb_hostlist_t));
}

void rb_hostlist_destroy(rb_hostlist_t **list)
{
    if (!*list)
        return;
    for (size_t i = 0; i < (*list)->nitems; i++) {
        rb_hostlist_item_t *item = &(*list)->items[i];
        for (size_t k = 0; k < item->nlabels; k++) {
            free(item->labels[k].key);
            free(item->labels[k].value);
        }
        free(item->labels);
        free(item->key);
        free(item->name);
        free(item->address);
    }
    free((*list)->items);
    free(*list);
    *list = NULL;
}

/* What is wrong with a name or an address, or NULL. */
static const char *fault_of(const char *text)
{
    size_t n = strlen(text);
    if (n == 0)
        return "is empty";
    if (n > RB_MAX_NAME)
        return "is longer than 255 bytes";
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '/')
            return "holds a '/': give a host name or address alone";
        if (c <= ' ' || c == 0x7f)
            return "holds a blank or control character: separate hosts by commas";
    }
    return NULL;
}

/* FNV-1a: most hosts of a rack differ in the last letters alone. */
static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3;
    return hash;
}

static int check_unique(const rb_hostlist_t *list, const char *name, const char *address,
                        uint16_t port, rb_err_t *err)
{
    uint64_t name_hash = hash_of(name), address_hash = hash_of(address);
    for (size_t i = 0; i < list->nitems; i++) {
        const rb_hostlist_item_t *item = &list->items[i];
        if (item->name_hash == name_hash && strcmp(item->name, name) == 0)
            return rb_err_set(err, RB_ERR_INPUT, "host %s is in the list twice: name it once",
                              name);
        if (item->port == port && item->address_hash == address_hash &&
            strcmp(item->address, address) == 0)
            return rb_err_set(err, RB_ERR_INPUT,
                              "host %s is the same agent as %s (address %s, port %u): name it once",
                              name, item->name, address, (unsigned)port);
    }
    return 0;
}

int rb_hostlist_add(rb_hostlist_t *list, const char *name, const char *address, uint16_t port,
                    rb_err_t *err)
{
    const char *fault = fault_of(name);
    if (fault)
        return rb_err_set(err, RB_ERR_INPUT, "host name \"%.300s\" %s", name, fault);
    fault = fault_of(address);
    if (fault)
        return rb_err_set(err, RB_ERR_INPUT, "host address \"%.300s\" %s", address, fault);
    if (port == 0)
        return rb_err_set(err, RB_ERR_INPUT, "host %s: port 0 is not one: use 1 to 65535", name);
    if (list->nitems >= RB_MAX_HOSTS)
        return rb_err_set(err, RB_ERR_INPUT, "host %s is one too many: at most %d hosts", name,
                          RB_MAX_HOSTS);
    if (check_unique(list, name, address, port, err) < 0)
        return -1;
    rb_hostlist_item_t *item = RB_PUSH(list->items, list->nitems);
    item->name = rb_strdup(name);
    item->address = rb_strdup(address);
    item->port = port;
    item->name_hash = hash_of(name);
    item->address_hash = hash_of(address);
    return 0;
}

int rb_hostlist_label(rb_hostlist_t *list, size_t index, const char *key, const char *value,
                      rb_err_t *err)
{
    RB_ASSERT(index < list->nitems);
    rb_hostlist_item_t *item = &list->items[index];
    if (key[0] == '\0' || strchr(key, '='))
        return rb_err_set(err, RB_ERR_INPUT,
                          "host %s: label key \"%.100s\" is empty or has a '=': use a plain word",
                          item->name, key);
    for (size_t i = 0; i < item->nlabels; i++)
        if (strcmp(item->labels[i].key, key) == 0)
            return rb_err_set(err, RB_ERR_INPUT, "host %s has label %.100s twice: give it once",
                              item->name, key);
    rb_label_t *label = RB_PUSH(item->labels, item->nlabels);
    label->key = rb_strdup(key);
    label->value = rb_strdup(value);
    return 0;
}

/* An expression while it is read, and where it stands. */
typedef struct {
    rb_hostlist_t *list;
    const char *expr;
    const char *file; /* NULL: the argument itself */
    unsigned line;
    rb_err_t *err;
} reader_t;

/* One entry of it while its ranges are being expanded. */
typedef struct {
    const reader_t *reader;
    const char *start;
    const char *end;
    char name[RB_MAX_NAME + 1]; /* what is expanded so far */
    size_t len;
} entry_t;

/* Puts the place of `at` before the error's text. */
static int locate(const reader_t *r, const char *at)
{
    size_t column = (size_t)(at - r->expr) + 1;
    if (r->file)
        return rb_err_wrap(r->err, "%.200s:%u:%zu", r->file, r->line, column);
    return rb_err_wrap(r->err, "host list, column %zu", column);
}

/* -1 stands in the macro so that the compiler knows it too. */
#define FAIL(r, at, ...) (rb_err_set((r)->err, RB_ERR_INPUT, __VA_ARGS__), locate(r, at), -1)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* text [len] as a number of at most 9 digits; -1 if it is none. */
static long number_of(const char *text, size_t len)
{
    long n = 0;
    if (len == 0 || len > 9)
        return -1;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(text[i]))
            return -1;
        n = n * 10 + (text[i] - '0');
    }
    return n;
}

static int check_ipv6(const reader_t *r, const char *at, const char *address)
{
    char plain[RB_MAX_NAME + 1];
    struct in6_addr ignored;
    snprintf(plain, sizeof(plain), "%s", address);
    plain[strcspn(plain, "%")] = '\0'; /* a zone, fe80::1%eth0, is for the resolver */
    if (inet_pton(AF_INET6, plain, &ignored) == 1)
        return 0;
    return FAIL(r, at, "\"%s\" is not an IPv6 address: write it like [fd00::7]", address);
}

/* A name without ranges: splits off the port and adds it. */
static int add_name(const reader_t *r, const char *at, const char *name)
{
    char address[RB_MAX_NAME + 1];
    long port = RB_DEFAULT_PORT;
    bool is_ipv6 = name[0] == '[';
    const char *host = is_ipv6 ? name + 1 : name;
    size_t len = strcspn(host, is_ipv6 ? "]" : ":");
    const char *rest = host + len + is_ipv6;
    snprintf(address, sizeof(address), "%.*s", (int)len, host);
    if (is_ipv6 && check_ipv6(r, at, address) < 0)
        return -1;
    if (!is_ipv6 && rest[0] == ':' && strchr(rest + 1, ':'))
        return FAIL(r, at, "\"%s\" has several colons: write an IPv6 address as [address]:port",
                    name);
    if (rest[0] == ':')
        port = number_of(rest + 1, strlen(rest + 1));
    else if (rest[0] != '\0')
        return FAIL(r, at, "\"%s\" goes on after its ']': only :port may follow", name);
    if (port < 1 || port > UINT16_MAX)
        return FAIL(r, at, "\"%s\" has the port \"%s\": use 1 to 65535", name, rest + 1);
    if (rb_hostlist_add(r->list, name, address, (uint16_t)port, r->err) < 0)
        return locate(r, at);
    return 0;
}

static int expand(entry_t *e, const char *p);

typedef struct {
    long low, high;
    int width; /* digits to pad to */
} range_t;

static int parse_range(const reader_t *r, const char *from, const char *to, range_t *ret)
{
    const char *dash = memchr(from, '-', (size_t)(to - from));
    size_t low_len = (size_t)((dash ? dash : to) - from);
    size_t high_len = dash ? (size_t)(to - dash - 1) : low_len;
    long low = number_of(from, low_len), high = dash ? number_of(dash + 1, high_len) : low;
    int shown = (int)RB_MIN(to - from, 100);
    if (low < 0 || high < 0)
        return FAIL(r, from,
                    "\"%.*s\" is not a range of numbers: write it like [1-4] or [01-16,20]", shown,
                    from);
    if (high < low)
        return FAIL(r, from, "range %.*s is reversed: put the smaller number first", shown, from);
    if (high - low >= RB_MAX_HOSTS)
        return FAIL(r, from, "range %.*s has %ld numbers: at most %d hosts", shown, from,
                    high - low + 1, RB_MAX_HOSTS);
    if (dash && dash[1] == '0' && high_len != low_len)
        return FAIL(r, from, "range %.*s pads its ends differently: write both with as many digits",
                    shown, from);
    *ret = (range_t){.low = low, .high = high, .width = from[0] == '0' ? (int)low_len : 1};
    return 0;
}

/* Expands the rest of the entry behind each number of the range. */
static int expand_range(entry_t *e, const char *from, const range_t *range, const char *rest)
{
    size_t len = e->len;
    for (long n = range->low; n <= range->high; n++) {
        int digits = snprintf(e->name + len, sizeof(e->name) - len, "%0*ld", range->width, n);
        e->len = len + (size_t)digits;
        if (e->len > RB_MAX_NAME)
            return FAIL(e->reader, from, "host name is longer than %d bytes", RB_MAX_NAME);
        if (expand(e, rest) < 0)
            return -1;
    }
    e->len = len;
    return 0;
}

static int expand_bracket(entry_t *e, const char *open)
{
    const char *close = memchr(open, ']', (size_t)(e->end - open));
    if (!close)
        return FAIL(e->reader, open, "'[' is not closed: add a ']'");
    for (const char *from = open + 1, *to; from <= close; from = to + 1) {
        range_t range;
        to = memchr(from, ',', (size_t)(close - from));
        to = to ? to : close;
        if (parse_range(e->reader, from, to, &range) < 0)
            return -1;
        if (expand_range(e, from, &range, close + 1) < 0)
            return -1;
    }
    return 0;
}

/* Copies p.. to the name; the first bracket multiplies what follows it. */
static int expand(entry_t *e, const char *p)
{
    for (; p < e->end; p++) {
        if (*p == '[')
            return expand_bracket(e, p);
        if (*p == ']')
            return FAIL(e->reader, p, "']' has no '[' before it");
        if (e->len >= RB_MAX_NAME)
            return FAIL(e->reader, e->start, "host name is longer than %d bytes", RB_MAX_NAME);
        e->name[e->len++] = *p;
    }
    e->name[e->len] = '\0';
    return add_name(e->reader, e->start, e->name);
}

static int parse_hosts(const reader_t *r, const char *start, const char *end)
{
    entry_t e = {.reader = r, .start = start, .end = end};
    const char *close = start[0] == '[' ? memchr(start, ']', (size_t)(end - start)) : NULL;
    if (!close || !memchr(start, ':', (size_t)(close - start)))
        return expand(&e, start);
    e.len = (size_t)(close + 1 - start);
    if (e.len > RB_MAX_NAME)
        return FAIL(r, start, "host name is longer than %d bytes", RB_MAX_NAME);
    memcpy(e.name, start, e.len);
    return expand(&e, close + 1);
}

static int parse_text(const reader_t *r);

static void close_file(FILE **file)
{
    if (*file)
        fclose(*file);
}

static int parse_lines(const reader_t *outer, const char *path, FILE *file)
{
    char line[RB_MAX_HOST_LINE];
    reader_t r = {.list = outer->list, .expr = line, .file = path, .err = outer->err};
    while (fgets(line, sizeof(line), file)) {
        r.line++;
        if (!strchr(line, '\n') && !feof(file))
            return FAIL(&r, line, "line holds a NUL byte or more than %d bytes: split it",
                        RB_MAX_HOST_LINE - 2);
        line[strcspn(line, "#\r\n")] = '\0';
        if (line[strspn(line, " \t")] != '\0' && parse_text(&r) < 0)
            return -1;
    }
    return 0;
}

static int parse_file(const reader_t *r, const char *start, const char *end)
{
    RB_AUTO(rb_free_str) char *path = rb_strndup(start + 1, (size_t)(end - start - 1));
    size_t before = r->list->nitems;
    if (r->file)
        return FAIL(r, start, "a host file cannot name another: write its hosts here");
    RB_AUTO(close_file) FILE *file = fopen(path, "re");
    if (!file)
        return FAIL(r, start, "host file \"%.300s\": %s", path, strerror(errno));
    if (parse_lines(r, path, file) < 0)
        return -1;
    if (ferror(file))
        return FAIL(r, start, "host file \"%.300s\": %s", path, strerror(errno));
    if (r->list->nitems == before)
        return FAIL(r, start, "host file \"%.300s\" names no host: write one a line", path);
    return 0;
}

/* The comma that ends the entry at p, or the end of the text. */
static const char *entry_end(const char *p)
{
    for (size_t depth = 0; *p != '\0' && (*p != ',' || depth > 0); p++) {
        if (*p == '[')
            depth++;
        else if (*p == ']' && depth > 0)
            depth--;
    }
    return p;
}

static int parse_text(const reader_t *r)
{
    const char *p = r->expr;
    while (true) {
        const char *comma = entry_end(p), *end = comma;
        while (p < end && isspace((unsigned char)*p))
            p++;
        while (end > p && isspace((unsigned char)end[-1]))
            end--;
        if (p == end)
            return FAIL(r, p, "a host is missing: write hosts with one comma between them");
        if ((*p == '@' ? parse_file : parse_hosts)(r, p, end) < 0)
            return -1;
        if (*comma == '\0')
            return 0;
        p = comma + 1;
    }
}

int rb_hostlist_parse(rb_hostlist_t *list, const char *expr, rb_err_t *err)
{
    reader_t r = {.list = list, .expr = expr, .err = err};
    return parse_text(&r);
}
