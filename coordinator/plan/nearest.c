#include "coordinator/plan/nearest.h"

enum { LONGEST = 64, FAR = 3 };

static unsigned edit_distance(const char *a, const char *b)
{
    size_t na = strnlen(a, LONGEST), nb = strnlen(b, LONGEST);
    unsigned row[LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            unsigned changed = RB_MIN(row[j], row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = RB_MIN(replaced, changed);
        }
    }
    return row[nb];
}

void rb_nearest_try(rb_nearest_t *n, const char *candidate)
{
    unsigned limit = n->best ? n->distance : FAR;
    unsigned distance = edit_distance(n->word, candidate);
    if (distance >= limit || 2 * distance >= strlen(n->word) + 1)
        return;
    n->best = candidate;
    n->distance = distance;
}
