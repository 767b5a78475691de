#include "common/utf8.h"

size_t rb_utf8_printable(const char *text, size_t left)
{
    const unsigned char *p = (const unsigned char *)text;
    if (*p < 0x80)
        return *p >= ' ' && *p != 0x7f;
    size_t n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
    if (*p < 0xc2 || *p > 0xf4 || n > left)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool control = *p == 0xc2 && p[1] < 0xa0, surrogate = *p == 0xed && p[1] >= 0xa0;
    bool overlong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
    bool beyond = *p == 0xf4 && p[1] >= 0x90;
    return control || surrogate || overlong || beyond ? 0 : n;
}
