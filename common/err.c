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

int rb_err_wrap(rb_err_t *err, const char *fmt, ...)
{
    char old[sizeof(err->text)];
    va_list ap;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    int n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old);
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
    if (n >= 0 && (size_t)n < sizeof(err->text))
        snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", strerror(errnum));
    return -1;
}
