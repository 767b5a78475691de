#include "agent/workload/permutation.h"

enum { PURPOSE = 0x7065726d }; /* sets its keys apart from other streams of the same seed */

void rb_permutation_init(rb_permutation_t *p, uint64_t n, uint64_t seed, uint64_t pass)
{
    rb_rng_t rng;
    RB_ASSERT(n > 0 && n <= RB_MAX_PERMUTATION);
    *p = (rb_permutation_t){.n = n};
    uint32_t bits = 2; /* a half needs one */
    while (1ull << bits < n)
        bits++;
    p->left_bits = bits / 2;
    p->right_bits = bits - p->left_bits;
    p->right_mask = (1ull << p->right_bits) - 1;
    rb_rng_seed(&rng, seed, pass, PURPOSE);
    for (size_t i = 0; i < RB_LEN(p->keys); i++)
        p->keys[i] = rb_rng_next(&rng);
}
