/* permutation.h - every block of [0, n) once before any comes twice, in a shuffled order, without a
 * bitmap: fio's norandommap=0 at no memory and at a constant cost.
 *
 * A keyed bijection: a Feistel network of 4 rounds over the next power of two (with an odd number
 * of bits its halves differ by one), walked until it lands below n: at most 2 steps on average.
 * Seed and pass number make the key, so each pass over the drive has an order of its own. Element i
 * is had without its predecessors: workers that share a drive take i from disjoint ranges, or from
 * one shared cursor.
 *
 * Read-only after init: any number of threads. Hot: rb_permutation_at, 5 ns where n is a power
 * of two, up to 40 just above one.
 * Not for keys: four rounds of a multiplicative hash look random, they hide nothing.
 *
 * Source: M. Luby, C. Rackoff, "How to construct pseudorandom permutations from pseudorandom
 * functions" (1988), for the rounds; J. Black, P. Rogaway, "Ciphers with arbitrary finite domains"
 * (2002), for the walk; D. Stafford's variant 13 of the MurmurHash3 finalizer for its constants.
 */
#pragma once

#include "common/rng.h"

#define RB_MAX_PERMUTATION (1ull << 48)

typedef struct {
    uint64_t n;
    uint32_t left_bits, right_bits; /* 1 or more each; the network covers 2^(their sum) >= n */
    uint64_t right_mask;            /* 2^right_bits - 1 */
    uint64_t keys[4];               /* one a round */
} rb_permutation_t;

/* n in [1, RB_MAX_PERMUTATION]; all users of one pass give the same seed and pass. */
void rb_permutation_init(rb_permutation_t *p, uint64_t n, uint64_t seed, uint64_t pass);

/* The round function: `bits` of a hash of a half. */
static inline uint64_t rb_permutation_round(uint64_t half, uint64_t key, uint32_t bits)
{
    uint64_t hash = (half ^ key) * 0xbf58476d1ce4e5b9ull;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebull;
    return hash >> (64 - bits);
}

/* The block that comes i-th in this pass; i in [0, n). */
static inline uint64_t rb_permutation_at(const rb_permutation_t *p, uint64_t i)
{
    do {
        uint64_t left = i >> p->right_bits, right = i & p->right_mask;
        left ^= rb_permutation_round(right, p->keys[0], p->left_bits);
        right ^= rb_permutation_round(left, p->keys[1], p->right_bits);
        left ^= rb_permutation_round(right, p->keys[2], p->left_bits);
        right ^= rb_permutation_round(left, p->keys[3], p->right_bits);
        i = left << p->right_bits | right;
    } while (i >= p->n);
    return i;
}

/* When the block comes in this pass: the inverse of rb_permutation_at. */
static inline uint64_t rb_permutation_index(const rb_permutation_t *p, uint64_t block)
{
    do {
        uint64_t left = block >> p->right_bits, right = block & p->right_mask;
        right ^= rb_permutation_round(left, p->keys[3], p->right_bits);
        left ^= rb_permutation_round(right, p->keys[2], p->left_bits);
        right ^= rb_permutation_round(left, p->keys[1], p->right_bits);
        left ^= rb_permutation_round(right, p->keys[0], p->left_bits);
        block = left << p->right_bits | right;
    } while (block >= p->n);
    return block;
}
