#include "common/llm/kv_words.h"

int rb_kv_word(const char *const *words, size_t n, const char *what, const char *word,
               rb_err_t *err)
{
    char list[400] = "";
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words[i], word) == 0)
            return (int)i;
        const char *before = i == 0 ? "" : i + 1 == n ? " and " : ", ";
        at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%s", before, words[i]);
        at = RB_MIN(at, sizeof(list) - 1);
    }
    return rb_err_set(err, RB_ERR_INPUT, "unknown %s '%.60s'; %s are there", what, word, list);
}
