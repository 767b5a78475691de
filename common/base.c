#include "common/base.h"

#include <stdarg.h>

void rb_assert_failed(const char *cond, const char *file, int line)
{
    fprintf(stderr, "rackbench: internal error: %s:%d: %s\n", file, line, cond);
    abort();
}

static void *checked(void *p)
{
    if (p == NULL) {
        fputs("rackbench: out of memory\n", stderr);
        abort();
    }
    return p;
}

void *rb_calloc(size_t count, size_t size)
{
    return checked(calloc(count ? count : 1, size ? size : 1));
}

void *rb_realloc(void *p, size_t size)
{
    return checked(realloc(p, size ? size : 1));
}

char *rb_strdup(const char *s)
{
    return checked(strdup(s));
}

char *rb_strndup(const char *s, size_t n)
{
    return checked(strndup(s, n));
}

char *rb_asprintf(const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    va_start(ap, fmt);
    int n = vasprintf(&text, fmt, ap);
    va_end(ap);
    return checked(n < 0 ? NULL : text);
}

void rb_free_str(char **s)
{
    free(*s);
    *s = NULL;
}

void *rb_grow(void *items, size_t count, size_t size)
{
    bool full = count == 0 || (count & (count - 1)) == 0;
    if (full)
        items = rb_realloc(items, (count ? 2 * count : 1) * size);
    memset((char *)items + count * size, 0, size);
    return items;
}
