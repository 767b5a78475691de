/* share.h - shares in percent, as fio's bssplit and zoned write them, and draws by them.
 *
 * A share is kept in ppm: 0.0001 % is the finest. Any thread; no state. Hot: rb_share_draw, one
 * random number, one multiplication and one table look-up whatever the number of shares, about 7
 * ns.
 *
 * Source: M. D. Vose, "A linear algorithm for generating random numbers with a given distribution"
 * (1991), the alias method; here in whole numbers, so the table holds the shares exactly.
 */
#pragma once

#include "common/err.h"
#include "common/rng.h"

enum { RB_MAX_SHARES = 256, RB_SHARE_WHOLE_PPM = 1000000 };

/* A share that was left blank: it takes its even part of what the others leave. */
#define RB_SHARE_REST UINT32_MAX

typedef enum {
    RB_SHARE_EXACT,  /* the shares must make 100 % */
    RB_SHARE_AT_MOST /* ... or less */
} rb_share_sum_t;

typedef struct {
    uint32_t n;
    uint32_t other[RB_MAX_SHARES]; /* [n] */
    uint64_t keep[RB_MAX_SHARES];  /* [n], of 2^64: below it a draw in the slot is the slot's own */
} rb_share_table_t;

/* A plain number: digits, perhaps a point; no sign, exponent or blank. False if it is not one. */
bool rb_parse_decimal(const char *text, double *ret);

/* Percent, 0 to 100, to ppm; "" is RB_SHARE_REST. RB_ERR_INPUT. */
int rb_share_parse(const char *text, uint32_t *ret_ppm, rb_err_t *err);

/* Gives the blanks among share_ppm [n] what is left, evenly. RB_ERR_INPUT when the shares do not
 * add up as `sum` asks; then share_ppm is untouched. */
int rb_share_fill(uint32_t *share_ppm, uint32_t n, rb_share_sum_t sum, rb_err_t *err);

/* share_ppm [n], n in [1, RB_MAX_SHARES], must add up to RB_SHARE_WHOLE_PPM. */
void rb_share_table_init(rb_share_table_t *t, const uint32_t *share_ppm, uint32_t n);

/* An index in [0, n), each as often as its share says (to 2^-64). */
static inline uint32_t rb_share_draw(const rb_share_table_t *t, rb_rng_t *rng)
{
    unsigned __int128 at = (unsigned __int128)rb_rng_next(rng) * t->n;
    uint32_t slot = (uint32_t)(at >> 64);
    return (uint64_t)at < t->keep[slot] ? slot : t->other[slot];
}
