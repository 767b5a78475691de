#include "coordinator/report/words.h"

#include <time.h>

const char *rb_words_clean(char *buf, size_t size, const char *text)
{
    snprintf(buf, size, "%s", text);
    for (unsigned char *c = (unsigned char *)buf; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f)
            *c = '?';
        else if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
            c[0] = c[1] = '?';
    }
    return buf;
}

const char *rb_words_stamp(char *buf, uint64_t wall_ns)
{
    time_t at = (time_t)(wall_ns / RB_NS_PER_S);
    struct tm tm;
    gmtime_r(&at, &tm);
    size_t length = strftime(buf, RB_STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(buf + length, RB_STAMP_SIZE - length, ".%03uZ",
             (unsigned)(wall_ns % RB_NS_PER_S / RB_NS_PER_MS));
    return buf;
}
