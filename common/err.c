#include "common/err.h"

#include <errno.h>
#include <stdarg.h>

int rb_err_set(rb_err_t *err, rb_code_t code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err->code = code;
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    return -1;
}

/* ": tail" behind the first n bytes, as far as there is room. */
static void append(rb_err_t *err, int n, const char *tail)
{
    size_t at = n < 0 ? 0 : (size_t)n, room = sizeof(err->text) - 1;
    if (at + 2 > room)
        return;
    size_t size = RB_MIN(strlen(tail), room - at - 2);
    memcpy(err->text + at, ": ", 2);
    memcpy(err->text + at + 2, tail, size);
    err->text[at + 2 + size] = '\0';
}

int rb_err_wrap(rb_err_t *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    append(err, n, old);
    return -1;
}

static rb_code_t code_of(int errnum)
{
    switch (errnum) {
    case ENOENT:
    case ENOTDIR:
    case EINVAL:
    case EACCES:
    case EPERM:
        return RB_ERR_INPUT;
    default:
        return RB_ERR_IO;
    }
}

int rb_err_errno(rb_err_t *err, int errnum, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    err->code = code_of(errnum);
    append(err, n, strerror(errnum));
    return -1;
}
