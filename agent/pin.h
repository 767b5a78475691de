/* pin.h - the directory that was judged, told by number: its path may lead elsewhere by now.
 *
 * Any thread; no state.
 */
#pragma once

#include <sys/types.h>

#include "common/err.h"

typedef struct {
    dev_t dev;
    ino_t ino; /* 0: not pinned, any directory will do */
} rb_pin_t;

/* Opens the directory of the file `path` and finds the file's name in it (borrowed from path).
 * Returns its descriptor. RB_ERR_UNSAFE: it is another directory than the pinned one. */
int rb_pin_open(const rb_pin_t *pin, const char *path, const char **ret_name, rb_err_t *err);
