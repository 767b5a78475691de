#include "common/rng.h"

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

void rb_rng_seed(rb_rng_t *rng, uint64_t a, uint64_t b, uint64_t c)
{
    /* Each word passes through the mixer before the next comes in, so that neighbours such as
     * (1, 2) and (2, 1) share nothing. */
    uint64_t x = a;
    x = splitmix64(&x) ^ b;
    x = splitmix64(&x) ^ c;
    for (size_t i = 0; i < RB_LEN(rng->state); i++)
        rng->state[i] = splitmix64(&x);
}
