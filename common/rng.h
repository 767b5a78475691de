/* rng.h - pseudo-random numbers: xoshiro256++, seeded by splitmix64.
 *
 * One owner at a time: no lock. Hot: about 1 ns a number. Not for keys.
 *
 * Source: D. Blackman, S. Vigna, xoshiro256++ 1.0 (2019) and splitmix64 (2015), public domain;
 * D. Lemire, "Fast random integer generation in an interval" (2019), for rb_rng_below.
 */
#pragma once

#include "common/base.h"

typedef struct {
    uint64_t state[4];
} rb_rng_t;

/* Gives each (a, b, c), such as (run, worker, purpose), a stream of its own. Order matters. */
void rb_rng_seed(rb_rng_t *rng, uint64_t a, uint64_t b, uint64_t c);

static inline uint64_t rb_rng_rotl(uint64_t x, unsigned bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* Uniform in all 64 bits. */
static inline uint64_t rb_rng_next(rb_rng_t *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rb_rng_rotl(s[0] + s[3], 23) + s[0];
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rb_rng_rotl(s[3], 45);
    return result;
}

/* Uniform in [0, n), without bias; n > 0. Divides only in the rare case near a rejection. */
static inline uint64_t rb_rng_below(rb_rng_t *rng, uint64_t n)
{
    unsigned __int128 product = (unsigned __int128)rb_rng_next(rng) * n;
    if ((uint64_t)product < n) {
        uint64_t threshold = -n % n;
        while ((uint64_t)product < threshold)
            product = (unsigned __int128)rb_rng_next(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double rb_rng_double(rb_rng_t *rng)
{
    return (double)(rb_rng_next(rng) >> 11) * 0x1.0p-53;
}
