#include "common/llm/models.h"

#include "common/llm/kv_words.h"
#include "common/units.h"

#include <strings.h>

#define GQA(name, aliases, layers, heads, dim)                                                     \
    {                                                                                              \
        name, aliases, layers, heads, dim, 0, 0, 0                                                 \
    }
#define MLA(name, aliases, layers, lora, rope, index)                                              \
    {                                                                                              \
        name, aliases, layers, 0, 0, lora, rope, index                                             \
    }

static const rb_kv_model_t models[] = {
    GQA("llama3.1-8b", "llama-3.1-8b llama3-8b llama3.1-8b-instruct", 32, 8, 128),
    GQA("llama3.1-70b", "llama-3.1-70b llama3-70b llama3.1-70b-instruct", 80, 8, 128),
    GQA("llama3.1-405b", "llama-3.1-405b llama3-405b llama3.1-405b-instruct", 126, 8, 128),
    GQA("llama2-7b", "llama-2-7b", 32, 32, 128),
    GQA("mistral-7b", "", 32, 8, 128),
    GQA("mixtral-8x7b", "", 32, 8, 128),
    GQA("mixtral-8x22b", "", 56, 8, 128),
    GQA("qwen2.5-7b", "qwen-2.5-7b", 28, 4, 128),
    GQA("qwen2.5-14b", "qwen-2.5-14b", 48, 8, 128),
    GQA("qwen2.5-32b", "qwen-2.5-32b", 64, 8, 128),
    GQA("qwen2.5-72b", "qwen-2.5-72b", 80, 8, 128),
    GQA("qwen3-8b", "qwen-3-8b", 36, 8, 128),
    GQA("qwen3-32b", "qwen-3-32b", 64, 8, 128),
    GQA("qwen3-30b-a3b", "qwen-3-30b-a3b", 48, 4, 128),
    GQA("qwen3-235b-a22b", "qwen-3-235b-a22b qwen3-235b", 94, 4, 128),
    GQA("gpt-oss-20b", "", 24, 8, 64),
    GQA("gpt-oss-120b", "", 36, 8, 64),
    MLA("deepseek-v3", "deepseek-r1 kimi-k2", 61, 512, 64, 0),
    MLA("glm-5", "", 78, 512, 64, 128),
};

const rb_kv_model_t *rb_kv_models(size_t *ret_n)
{
    *ret_n = RB_LEN(models);
    return models;
}

static bool among(const char *name, const char *aliases)
{
    size_t size = strlen(name);
    while (*aliases != '\0') {
        size_t n = strcspn(aliases, " ");
        if (n == size && strncasecmp(name, aliases, n) == 0)
            return true;
        aliases += n + (aliases[n] == ' ');
    }
    return false;
}

const rb_kv_model_t *rb_kv_model_find(const char *name, rb_err_t *err)
{
    const char *names[RB_LEN(models)];
    for (size_t i = 0; i < RB_LEN(models); i++) {
        if (strcasecmp(name, models[i].name) == 0 || among(name, models[i].aliases))
            return &models[i];
        names[i] = models[i].name;
    }
    rb_kv_word(names, RB_LEN(models), "model", name, err);
    return NULL;
}

static int check_gqa(const rb_kv_model_t *m, rb_err_t *err)
{
    if (m->kv_heads < 1 || m->kv_heads > 1024)
        return rb_err_set(err, RB_ERR_INPUT,
                          "kv_heads is %u: it must be 1 to 1024, or lora_rank "
                          "given for MLA",
                          m->kv_heads);
    if (m->head_dim < 1 || m->head_dim > 4096)
        return rb_err_set(err, RB_ERR_INPUT, "head_dim is %u: it must be 1 to 4096", m->head_dim);
    return 0;
}

static int check_mla(const rb_kv_model_t *m, rb_err_t *err)
{
    if (m->kv_heads != 0 || m->head_dim != 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "lora_rank and rope_dim are of MLA, kv_heads and "
                          "head_dim of the others: give one or the other");
    if (m->lora_rank > 65536 || m->rope_dim > 65536 || m->index_dim > 65536)
        return rb_err_set(err, RB_ERR_INPUT,
                          "a latent of %u + %u + %u values: each must be 65536 at most",
                          m->lora_rank, m->rope_dim, m->index_dim);
    return 0;
}

static bool is_mla(const rb_kv_model_t *m)
{
    return m->lora_rank != 0;
}

int rb_kv_model_check(const rb_kv_model_t *m, rb_err_t *err)
{
    if (m->layers < 1 || m->layers > 1024)
        return rb_err_set(err, RB_ERR_INPUT, "layers is %u: it must be 1 to 1024", m->layers);
    if (!is_mla(m) && (m->rope_dim != 0 || m->index_dim != 0))
        return rb_err_set(err, RB_ERR_INPUT, "rope_dim and index_dim are of MLA: give lora_rank");
    return is_mla(m) ? check_mla(m, err) : check_gqa(m, err);
}

static uint32_t *number_of(rb_kv_model_t *m, const char *key, rb_err_t *err)
{
    static const char *const keys[] = {"layers",    "kv_heads", "head_dim",
                                       "lora_rank", "rope_dim", "index_dim"};
    uint32_t *numbers[] = {&m->layers,    &m->kv_heads, &m->head_dim,
                           &m->lora_rank, &m->rope_dim, &m->index_dim};
    int i = rb_kv_word(keys, RB_LEN(keys), "number of a model", key, err);
    return i < 0 ? NULL : numbers[i];
}

static int parse_numbers(char *rest, rb_kv_model_t *m, rb_err_t *err)
{
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        uint64_t value;
        char *key = strsep(&item, "=");
        uint32_t *number = number_of(m, key, err);
        if (number == NULL)
            return -1;
        if (item == NULL)
            return rb_err_set(err, RB_ERR_INPUT, "%s lacks its number: write %s=8", key, key);
        if (rb_parse_count(item, &value, err) != 0)
            return rb_err_wrap(err, "%s", key);
        *number = (uint32_t)RB_MIN(value, UINT32_MAX);
    }
    return rb_kv_model_check(m, err);
}

int rb_kv_model_parse(const char *text, rb_kv_model_t *ret, rb_err_t *err)
{
    rb_kv_model_t model = {.name = "custom", .aliases = ""};
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    if (strchr(text, '=') == NULL) {
        const rb_kv_model_t *found = rb_kv_model_find(text, err);
        if (found == NULL)
            return -1;
        model = *found;
    } else if (parse_numbers(copy, &model, err) != 0) {
        return -1;
    }
    *ret = model;
    return 0;
}

static const char *const dtypes[] = {
    [RB_KV_BF16] = "bf16", [RB_KV_FP16] = "fp16", [RB_KV_FP8] = "fp8",
    [RB_KV_INT8] = "int8", [RB_KV_FP4] = "fp4",   [RB_KV_FP32] = "fp32"};
static const uint64_t dtype_bits[] = {[RB_KV_BF16] = 16, [RB_KV_FP16] = 16, [RB_KV_FP8] = 8,
                                      [RB_KV_INT8] = 8,  [RB_KV_FP4] = 4,   [RB_KV_FP32] = 32};

int rb_kv_dtype_parse(const char *word, rb_kv_dtype_t *ret, rb_err_t *err)
{
    return RB_KV_WORD(dtypes, "dtype", strcmp(word, "auto") == 0 ? "bf16" : word, ret, err);
}

const char *rb_kv_dtype_word(rb_kv_dtype_t dtype)
{
    return dtypes[dtype];
}

static const char *const shapes[] = {[RB_KV_SHAPE_KV_APART] = "kv_apart",
                                     [RB_KV_SHAPE_LAYER] = "layer",
                                     [RB_KV_SHAPE_BLOCK] = "block",
                                     [RB_KV_SHAPE_CHUNK] = "chunk"};

int rb_kv_shape_parse(const char *word, rb_kv_shape_t *ret, rb_err_t *err)
{
    return RB_KV_WORD(shapes, "shape", word, ret, err);
}

const char *rb_kv_shape_word(rb_kv_shape_t shape)
{
    return shapes[shape];
}

uint32_t rb_kv_shape_tokens(rb_kv_shape_t shape)
{
    return shape == RB_KV_SHAPE_CHUNK ? 256 : 16;
}

/* ---- geometry ---- */

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static uint64_t pages_up(uint64_t bytes)
{
    return divide_up(bytes, RB_KV_PAGE_BYTES) * RB_KV_PAGE_BYTES;
}

static int check_geometry(const rb_kv_geometry_opts_t *o, rb_err_t *err)
{
    uint32_t tp = o->tensor_parallel, heads = o->model.kv_heads;
    if (rb_kv_model_check(&o->model, err) != 0)
        return -1;
    if (o->shape == RB_KV_SHAPE_KV_APART && is_mla(&o->model))
        return rb_err_set(err, RB_ERR_INPUT,
                          "shape kv_apart: %s is MLA, which has one latent and "
                          "no K and V: use layer",
                          o->model.name);
    if (o->tokens_per_block > RB_MAX_KV_TOKENS)
        return rb_err_set(err, RB_ERR_INPUT, "tokens_per_block is %u: it must be %d at most",
                          o->tokens_per_block, RB_MAX_KV_TOKENS);
    if (tp > 1024 || (tp > 1 && heads > 0 && heads % tp != 0 && tp % heads != 0))
        return rb_err_set(err, RB_ERR_INPUT,
                          "tensor_parallel is %u: it must divide the %u KV heads "
                          "or be a multiple of them, 1024 at most",
                          tp, heads);
    if (o->ways > RB_MAX_KV_WAYS)
        return rb_err_set(err, RB_ERR_INPUT, "a block on %u drives: %d at most", o->ways,
                          RB_MAX_KV_WAYS);
    return 0;
}

/* What one shard holds of a token in a layer [bits]. */
static uint64_t shard_bits(const rb_kv_geometry_opts_t *o)
{
    const rb_kv_model_t *m = &o->model;
    if (is_mla(m))
        return (uint64_t)(m->lora_rank + m->rope_dim + m->index_dim) * dtype_bits[o->dtype];
    uint32_t heads = RB_MAX(m->kv_heads / RB_MAX(o->tensor_parallel, 1u), 1u);
    return (uint64_t)heads * m->head_dim * 2 * dtype_bits[o->dtype];
}

static void payload(const rb_kv_geometry_opts_t *o, rb_kv_geometry_t *g)
{
    static const uint32_t per_layer[] = {[RB_KV_SHAPE_KV_APART] = 2,
                                         [RB_KV_SHAPE_LAYER] = 1,
                                         [RB_KV_SHAPE_BLOCK] = 0,
                                         [RB_KV_SHAPE_CHUNK] = 0};
    uint64_t bits = shard_bits(o);
    g->tokens_per_block = o->tokens_per_block ? o->tokens_per_block : rb_kv_shape_tokens(o->shape);
    g->shards = is_mla(&o->model) ? 1 : RB_MAX(o->tensor_parallel, 1u);
    g->token_bytes = divide_up(bits * o->model.layers * g->shards, 8);
    g->layer_bytes = divide_up(bits * g->tokens_per_block, 8);
    uint64_t shard_bytes = g->layer_bytes * o->model.layers;
    uint32_t ios = RB_MAX(per_layer[o->shape] * o->model.layers, 1u);
    g->block_bytes = shard_bytes * g->shards;
    g->io_bytes = divide_up(shard_bytes, ios);
    g->block_ios = ios * g->shards;
}

/* How a piece lies on its drive: first whole, then scaled. */
static void on_drive(const rb_kv_geometry_opts_t *o, rb_kv_geometry_t *g)
{
    uint32_t ways = RB_MAX(o->ways, 1u), scale = RB_MAX(o->scale, 1u);
    uint32_t ios = (uint32_t)divide_up(g->block_ios, ways);
    uint64_t io_bytes = g->block_ios >= ways ? g->io_bytes : divide_up(g->block_bytes, ways);
    g->packed = o->packed;
    g->full_slot_bytes =
        o->packed ? pages_up(divide_up(g->block_bytes, ways)) : ios * pages_up(io_bytes);
    g->padding = (double)g->full_slot_bytes * ways / (double)g->block_bytes;
    g->slot_bytes = pages_up(divide_up(g->full_slot_bytes, scale));
    g->piece_ios = (uint32_t)RB_MIN(RB_MAX(ios / scale, 1u), g->slot_bytes / RB_KV_PAGE_BYTES);
    g->piece_io_bytes = pages_up(divide_up(g->slot_bytes, g->piece_ios));
    if (!o->packed)
        g->slot_bytes = g->piece_ios * g->piece_io_bytes;
}

int rb_kv_geometry(const rb_kv_geometry_opts_t *opts, rb_kv_geometry_t *ret, rb_err_t *err)
{
    if (check_geometry(opts, err) != 0)
        return -1;
    *ret = (rb_kv_geometry_t){0};
    payload(opts, ret);
    on_drive(opts, ret);
    return 0;
}

uint64_t rb_kv_io_at(const rb_kv_geometry_t *g, uint32_t io, uint64_t *ret_bytes)
{
    *ret_bytes = g->piece_io_bytes;
    if (!g->packed)
        return io * g->piece_io_bytes;
    uint64_t pages = g->slot_bytes / RB_KV_PAGE_BYTES;
    uint64_t from = divide_up(io * pages, g->piece_ios);
    *ret_bytes = (divide_up((io + 1) * pages, g->piece_ios) - from) * RB_KV_PAGE_BYTES;
    return from * RB_KV_PAGE_BYTES;
}
