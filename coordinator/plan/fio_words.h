/* fio_words.h - words of fio that a plan has not, or spells differently: what to write instead.
 *
 * Any thread; no state.
 */
#pragma once

#include "common/base.h"

/* A sentence for a key or a value that is not known: "write bs". NULL: none. */
const char *rb_fio_word(const char *word);
