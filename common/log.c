#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

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

RB_PRINTF(2, 0) static void emit(rb_log_level_t level, const char *fmt, va_list ap)
{
    char line[RB_LOG_LINE];
    int saved = errno;
    if (level > config.level)
        return;
    size_t n = written(snprintf(line, sizeof(line), "%s: %s: ", config.program, level_names[level]),
                       sizeof(line));
    n += written(vsnprintf(line + n, sizeof(line) - n, fmt, ap), sizeof(line) - n);
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = ' ';
    line[n++] = '\n';
    ssize_t done = write(STDERR_FILENO, line, n);
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
