/* utf8.h - what of a text may be shown. Any thread; no state. */
#pragma once

#include "common/base.h"

/* Length of the printable UTF-8 at text [left]; 0: control characters (C0, C1, DEL), or no UTF-8.
 */
size_t rb_utf8_printable(const char *text, size_t left);
