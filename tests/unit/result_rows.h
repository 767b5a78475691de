/* result_rows.h - what the tests of the result share. */
#pragma once

#include "tests/unit/fold_rows.h"

#include <math.h>

#include "coordinator/result.h"

static inline rb_result_t *result_of(const feed_t *feed)
{
    rb_err_t err = {0};
    rb_result_t *result = rb_result_new(feed->fold, &err);
    if (result == NULL)
        fail_msg("%s", err.text);
    return result;
}

static inline void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-9 * (1 + fabs(expected)))
        fail_msg("%.12g is not %.12g", value, expected);
}

static inline bool has_mark(const rb_result_phase_t *phase, const char *word)
{
    for (size_t i = 0; i < phase->nmarks; i++)
        if (strcmp(phase->marks[i], word) == 0)
            return true;
    return false;
}

static inline const rb_result_event_t *find_event(const rb_result_t *result, const char *kind)
{
    for (size_t i = 0; i < result->nevents; i++)
        if (strcmp(result->events[i].kind, kind) == 0)
            return &result->events[i];
    return NULL;
}
