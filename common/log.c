#include "common/log.h"

#include "common/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

enum { ESCAPE = 4 }; /* bytes of \xNN */

static struct {
    const char *program;
    rb_log_level_t level;
} config = {"rackbench", RB_LOG_INFO};

void rb_log_init(const char *program, rb_log_level_t level)
{
    config.program = program;
    config.level = level;
}

static const char *const level_names[] = {
    [RB_LOG_ERROR] = "error",
    [RB_LOG_WARN] = "warning",
    [RB_LOG_INFO] = "info",
    [RB_LOG_DEBUG] = "debug",
};

/* vsnprintf's result as the bytes that are in the buffer. */
static size_t written(int n, size_t room)
{
    return n < 0 ? 0 : RB_MIN((size_t)n, room - 1);
}

/* Names come from strangers: what could drive a terminal is shown as \xNN. Returns the bytes. */
static size_t escape(char out[RB_LOG_LINE], const char *text, size_t n)
{
    char hex[ESCAPE + 1];
    size_t at = 0;
    for (size_t i = 0; i < n;) {
        const char *p = text + i;
        size_t length = rb_utf8_printable(p, n - i), size = length;
        if (length == 0)
            size = (size_t)snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)*p);
        if (at + size >= RB_LOG_LINE)
            break;
        memcpy(out + at, length > 0 ? p : hex, size);
        at += size;
        i += RB_MAX(length, 1u);
    }
    return at;
}

RB_PRINTF(2, 0) static void emit(rb_log_level_t level, const char *fmt, va_list ap)
{
    char line[RB_LOG_LINE], shown[RB_LOG_LINE];
    int saved = errno;
    if (level > config.level)
        return;
    size_t n = written(snprintf(line, sizeof(line), "%s: %s: ", config.program, level_names[level]),
                       sizeof(line));
    n += written(vsnprintf(line + n, sizeof(line) - n, fmt, ap), sizeof(line) - n);
    n = escape(shown, line, n);
    shown[n++] = '\n';
    ssize_t done = write(STDERR_FILENO, shown, n);
    (void)done; /* where stderr is gone there is nobody to tell */
    errno = saved;
}

void rb_log_error(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(RB_LOG_ERROR, fmt, ap);
    va_end(ap);
}

void rb_log_warn(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(RB_LOG_WARN, fmt, ap);
    va_end(ap);
}

void rb_log_info(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(RB_LOG_INFO, fmt, ap);
    va_end(ap);
}

void rb_log_debug(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    emit(RB_LOG_DEBUG, fmt, ap);
    va_end(ap);
}
