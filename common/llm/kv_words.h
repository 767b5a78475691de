/* kv_words.h - words of plans and command lines for the enums of this folder. Pure, any thread. */
#pragma once

#include "common/err.h"

/* The index of word among words [n]; -1 and RB_ERR_INPUT: "unknown WHAT 'word'; a, b and c are
 * there". */
int rb_kv_word(const char *const *words, size_t n, const char *what, const char *word,
               rb_err_t *err);

/* Sets *ret (an enum) by the array `words`, or returns -1. */
#define RB_KV_WORD(words, what, word, ret, err)                                                    \
    __extension__({                                                                                \
        int rb_found_ = rb_kv_word(words, RB_LEN(words), what, word, err);                         \
        if (rb_found_ >= 0)                                                                        \
            *(ret) = (__typeof__(*(ret)))rb_found_;                                                \
        rb_found_ < 0 ? -1 : 0;                                                                    \
    })
