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

bool rb_words_link(char *buf, size_t size, const rb_fold_link_t *link)
{
    bool known = link->mts > 0 && link->width > 0;
    snprintf(buf, size, "x%u of x%u, %.1f of %.1f GT/s", link->width,
             RB_MAX(link->max_width, link->width), link->mts / 1e3,
             RB_MAX(link->max_mts, link->mts) / 1e3);
    return known && (link->width < link->max_width || link->mts < link->max_mts);
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
