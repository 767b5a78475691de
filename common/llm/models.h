/* models.h - language models as storage sees them: bytes of KV a token leaves, and how a block of
 * tokens is cut into I/Os.
 *
 *   GQA, MQA, MHA: bytes of a token = layers x kv_heads x head_dim x 2 (K and V) x bytes of a value
 *   MLA:           bytes of a token = layers x (lora_rank + rope_dim + index_dim) x bytes of a
 *                  value: one latent, no factor 2
 *   block          = bytes of a token x tokens_per_block
 *   tensor parallel: GQA divides the heads among the shards, down to one head each; beyond that
 *                  heads are replicated, and each shard still writes what it holds. MLA is not
 *                  divided: every shard has the whole latent, one of them writes it.
 *
 * On the drive every I/O is whole 4 KiB pages, for O_DIRECT. A layer of MLA is not (DeepSeek-V3,
 * 16 tokens: 18432 bytes): `padded` rounds each I/O up; `packed` lets the layers follow each other
 * without a gap, and an I/O moves the pages that begin in its layer.
 *
 * Pure, any thread; not for hot paths, but rb_kv_io_at.
 *
 * Source: the formulas of mlcommons/storage kv_cache/models.py and ai-dynamo/nixl
 * benchmark/kvbench/models (which divides MLA by TP as well: a real deployment does not); layers
 * and heads from there and from the models' config.json. GPT-OSS has a sliding window in every
 * other layer, so that its figures are an upper bound: about half of it for long contexts.
 */
#pragma once

#include "common/err.h"

enum {
    RB_KV_PAGE_BYTES = 4096,
    RB_MAX_KV_TOKENS = 1 << 20, /* of a block */
    RB_MAX_KV_WAYS = 16         /* drives that a block lies on */
};

typedef enum { RB_KV_BF16, RB_KV_FP16, RB_KV_FP8, RB_KV_INT8, RB_KV_FP4, RB_KV_FP32 } rb_kv_dtype_t;

typedef struct {
    const char *name;                        /* "llama3.1-8b"; "custom" */
    const char *aliases;                     /* with blanks between; "" */
    uint32_t layers;                         /* 1 to 1024 */
    uint32_t kv_heads, head_dim;             /* of GQA; 0 for MLA */
    uint32_t lora_rank, rope_dim, index_dim; /* of MLA; 0 for GQA */
} rb_kv_model_t;

/* The table: [n], sorted as it is shown. */
const rb_kv_model_t *rb_kv_models(size_t *ret_n);
/* By name or alias, whatever the case. NULL and RB_ERR_INPUT, which names the nearest or all. */
const rb_kv_model_t *rb_kv_model_find(const char *name, rb_err_t *err);
/* A name of the table, or the numbers of a model: layers=80,kv_heads=8,head_dim=128 or
 * layers=61,lora_rank=512,rope_dim=64,index_dim=0. RB_ERR_INPUT, *ret untouched. */
int rb_kv_model_parse(const char *text, rb_kv_model_t *ret, rb_err_t *err);
/* Is a model of these numbers one (GQA or MLA, not both, none too large)? RB_ERR_INPUT. */
int rb_kv_model_check(const rb_kv_model_t *model, rb_err_t *err);

/* bf16, fp16, fp8, int8, fp4, fp32; auto is bf16. RB_ERR_INPUT. */
int rb_kv_dtype_parse(const char *word, rb_kv_dtype_t *ret, rb_err_t *err);
const char *rb_kv_dtype_word(rb_kv_dtype_t dtype);

typedef enum {
    RB_KV_SHAPE_KV_APART, /* K and V of a layer: two I/Os a layer; not of MLA, whose latent is one
                           */
    RB_KV_SHAPE_LAYER,    /* K and V of a layer together */
    RB_KV_SHAPE_BLOCK,    /* a whole block of tokens: one I/O */
    RB_KV_SHAPE_CHUNK     /* the same, where tokens_per_block is large: LMCache 256, Mooncake 512 */
} rb_kv_shape_t;
/* kv_apart, layer, block, chunk. RB_ERR_INPUT. */
int rb_kv_shape_parse(const char *word, rb_kv_shape_t *ret, rb_err_t *err);
const char *rb_kv_shape_word(rb_kv_shape_t shape);
uint32_t rb_kv_shape_tokens(rb_kv_shape_t shape); /* of a block, by default: 16; chunk 256 */

typedef struct {
    rb_kv_model_t model;
    rb_kv_dtype_t dtype;
    uint32_t tokens_per_block; /* 0: by shape */
    rb_kv_shape_t shape;
    uint32_t tensor_parallel; /* 0: 1. Must divide kv_heads, or be a multiple of it */
    bool packed;
    uint32_t ways;  /* drives that share a block: k of stripe(k), else 1; 0: 1 */
    uint32_t scale; /* all bytes are this many times less; 0: 1. What is not 1 is marked SCALED */
} rb_kv_geometry_opts_t;

/* Payload is what the model has, without padding and scale. A piece is the part of a block that
 * lies on one drive: pieces of a block have the same number of I/Os (the last may carry padding).
 * Scale first makes the I/Os of a piece fewer, down to one, and then smaller, down to a page, so
 * that the I/O of a scaled run looks like the real one for as long as it can. */
typedef struct {
    uint32_t tokens_per_block;
    uint32_t shards;      /* that write: tensor_parallel; MLA 1 */
    uint64_t token_bytes; /* payload, all shards; of fp4 rounded up */
    uint64_t block_bytes; /* payload, all shards */
    uint64_t layer_bytes; /* payload of a layer (K and V) of a block, one shard */
    uint64_t io_bytes;    /* payload of an I/O as the shape says, one shard */
    uint32_t block_ios;   /* I/Os of a block, all shards, without scale */
    bool packed;

    /* on the drive: whole pages, scaled */
    uint32_t piece_ios;
    uint64_t piece_io_bytes;  /* of an I/O: largest */
    uint64_t slot_bytes;      /* of a piece: what a slot of the tier takes */
    uint64_t full_slot_bytes; /* the same without scale: capacity / this = slots, scaled or not */
    double padding;           /* bytes on the drives / payload, without scale; 1 and more */
} rb_kv_geometry_t;

/* RB_ERR_INPUT: a model that is none, kv_apart of MLA, tensor_parallel, ways or scale that do not
 * fit; *ret untouched. */
int rb_kv_geometry(const rb_kv_geometry_opts_t *opts, rb_kv_geometry_t *ret, rb_err_t *err);

/* I/O number io, [0, piece_ios), of a piece: where in the slot it begins, and how long it is
 * [bytes, whole pages]. */
uint64_t rb_kv_io_at(const rb_kv_geometry_t *g, uint32_t io, uint64_t *ret_bytes);
