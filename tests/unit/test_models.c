/* test_models.c - bytes of a token, a layer and a block of every model in the table, and how blocks
 * are cut into I/Os. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/llm/models.h"

static rb_kv_geometry_t geometry(const char *model, rb_kv_geometry_opts_t opts)
{
    rb_kv_geometry_t g;
    rb_err_t err = {0};
    const rb_kv_model_t *found = rb_kv_model_find(model, &err);
    if (found == NULL)
        fail_msg("%s", err.text);
    opts.model = *found;
    if (rb_kv_geometry(&opts, &g, &err) != 0)
        fail_msg("%s: %s", model, err.text);
    return g;
}

/* Source: the models' published layers and heads; sizes by the formulas in models.h. */
static const struct {
    const char *model;
    uint64_t bf16, fp8; /* of a token */
    uint64_t half;      /* K or V of a layer, 16 tokens; 0: MLA */
    uint64_t layer;     /* K and V */
    double mib[4];      /* of a block of 16, 64, 256, 512 tokens */
    double digit;       /* the last of mib that is printed */
} table[] = {
    {"llama3.1-8b", 131072, 65536, 32768, 65536, {2, 8, 32, 64}, 0},
    {"llama3.1-70b", 327680, 163840, 32768, 65536, {5, 20, 80, 160}, 0},
    {"llama3.1-405b", 516096, 258048, 32768, 65536, {7.875, 31.5, 126, 252}, 0},
    {"llama2-7b", 524288, 262144, 131072, 262144, {8, 32, 128, 256}, 0},
    {"mistral-7b", 131072, 65536, 32768, 65536, {2, 8, 32, 64}, 0},
    {"mixtral-8x7b", 131072, 65536, 32768, 65536, {2, 8, 32, 64}, 0},
    {"mixtral-8x22b", 229376, 114688, 32768, 65536, {3.5, 14, 56, 112}, 0},
    {"qwen2.5-7b", 57344, 28672, 16384, 32768, {0.875, 3.5, 14, 28}, 0},
    {"qwen2.5-14b", 196608, 98304, 32768, 65536, {3, 12, 48, 96}, 0},
    {"qwen2.5-32b", 262144, 131072, 32768, 65536, {4, 16, 64, 128}, 0},
    {"qwen2.5-72b", 327680, 163840, 32768, 65536, {5, 20, 80, 160}, 0},
    {"qwen3-8b", 147456, 73728, 32768, 65536, {2.25, 9, 36, 72}, 0},
    {"qwen3-32b", 262144, 131072, 32768, 65536, {4, 16, 64, 128}, 0},
    {"qwen3-30b-a3b", 98304, 49152, 16384, 32768, {1.5, 6, 24, 48}, 0},
    {"qwen3-235b-a22b", 192512, 96256, 16384, 32768, {2.938, 11.75, 47, 94}, 0.00051},
    {"gpt-oss-20b", 49152, 24576, 16384, 32768, {0.75, 3, 12, 24}, 0},
    {"gpt-oss-120b", 73728, 36864, 16384, 32768, {1.125, 4.5, 18, 36}, 0},
    {"deepseek-v3", 70272, 35136, 0, 18432, {1.072, 4.289, 17.16, 34.31}, 0.005},
    {"glm-5", 109824, 54912, 0, 22528, {1.676, 6.703, 26.81, 53.62}, 0.0051},
};

static void test_table(void **state)
{
    (void)state;
    static const uint32_t tokens[] = {16, 64, 256, 512};
    size_t n;
    const rb_kv_model_t *models = rb_kv_models(&n);
    assert_int_equal(n, RB_LEN(table));
    for (size_t i = 0; i < n; i++) {
        const char *model = table[i].model;
        assert_string_equal(models[i].name, model);
        rb_kv_geometry_t g = geometry(model, (rb_kv_geometry_opts_t){.shape = RB_KV_SHAPE_LAYER});
        assert_int_equal(g.token_bytes, table[i].bf16);
        assert_int_equal(g.layer_bytes, table[i].layer);
        assert_int_equal(g.io_bytes, table[i].layer);
        g = geometry(model,
                     (rb_kv_geometry_opts_t){.dtype = RB_KV_FP8, .shape = RB_KV_SHAPE_BLOCK});
        assert_int_equal(g.token_bytes, table[i].fp8);
        for (size_t k = 0; k < RB_LEN(tokens); k++) {
            rb_kv_geometry_opts_t opts = {.tokens_per_block = tokens[k],
                                          .shape = RB_KV_SHAPE_BLOCK};
            double mib = (double)geometry(model, opts).block_bytes / (double)RB_MIB;
            double off = mib - table[i].mib[k];
            if (off > table[i].digit || -off > table[i].digit)
                fail_msg("%s: %u tokens: %f MiB, not %f", model, tokens[k], mib, table[i].mib[k]);
        }
    }
}

static void test_kv_apart(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(table); i++) {
        if (table[i].half == 0)
            continue;
        rb_kv_geometry_t g =
            geometry(table[i].model, (rb_kv_geometry_opts_t){.shape = RB_KV_SHAPE_KV_APART});
        assert_int_equal(g.io_bytes, table[i].half);
        assert_int_equal(g.piece_io_bytes, table[i].half); /* 4 KiB pages without padding */
        assert_int_equal(g.piece_ios * g.piece_io_bytes, g.block_bytes);
    }
}

static void test_names(void **state)
{
    (void)state;
    rb_err_t err = {0};
    assert_string_equal(rb_kv_model_find("Llama-3.1-70B", &err)->name, "llama3.1-70b");
    assert_string_equal(rb_kv_model_find("llama3.1-70b-instruct", &err)->name, "llama3.1-70b");
    assert_string_equal(rb_kv_model_find("Kimi-K2", &err)->name, "deepseek-v3");
    assert_null(rb_kv_model_find("llama", &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "unknown model 'llama'; llama3.1-8b, "));
    assert_non_null(strstr(err.text, " and glm-5 are there"));
}

/* MLA's layers are no whole pages: padded 18432 -> 20480, packed once per block. */
static void test_mla(void **state)
{
    (void)state;
    rb_kv_geometry_opts_t opts = {.shape = RB_KV_SHAPE_LAYER};
    rb_kv_geometry_t g = geometry("deepseek-v3", opts);
    assert_int_equal(g.block_bytes, 1124352);
    assert_int_equal(g.piece_io_bytes, 20480);
    assert_int_equal(g.slot_bytes, 61 * 20480);
    assert_true(g.padding > 1.1111 && g.padding < 1.1112);
    opts.packed = true;
    g = geometry("deepseek-v3", opts);
    assert_int_equal(g.slot_bytes, 1126400);
    uint64_t at = 0, bytes;
    for (uint32_t i = 0; i < g.piece_ios; i++) { /* without gap or overlap, to the end */
        assert_int_equal(rb_kv_io_at(&g, i, &bytes), at);
        assert_true(bytes > 0 && bytes % RB_KV_PAGE_BYTES == 0 && bytes <= g.piece_io_bytes);
        at += bytes;
    }
    assert_int_equal(at, g.slot_bytes);
    opts.tensor_parallel = 8; /* the latent is whole on every shard, and written by one */
    assert_int_equal(geometry("deepseek-v3", opts).block_bytes, 1124352);
}

static void test_tensor_parallel(void **state)
{
    (void)state;
    rb_kv_geometry_opts_t opts = {.shape = RB_KV_SHAPE_LAYER, .tensor_parallel = 4};
    rb_kv_geometry_t g = geometry("llama3.1-8b", opts);
    assert_int_equal(g.io_bytes, 16384);
    assert_int_equal(g.block_ios, 128);
    assert_int_equal(g.block_bytes, 2 * RB_MIB);
    opts.tensor_parallel = 16; /* 8 heads: two shards hold the same one, both write */
    g = geometry("llama3.1-8b", opts);
    assert_int_equal(g.io_bytes, 8192);
    assert_int_equal(g.block_bytes, 4 * RB_MIB);
}

static void test_pieces_and_scale(void **state)
{
    (void)state;
    rb_kv_geometry_opts_t opts = {.shape = RB_KV_SHAPE_KV_APART, .ways = 4};
    rb_kv_geometry_t g = geometry("llama3.1-70b", opts);
    assert_int_equal(g.piece_ios, 40);
    assert_int_equal(g.slot_bytes, 40 * 32768);
    opts.scale = 16; /* fewer I/Os of the same size, as far as they go */
    g = geometry("llama3.1-70b", opts);
    assert_int_equal(g.piece_ios, 2);
    assert_int_equal(g.slot_bytes, 40 * 32768 / 16);
    assert_int_equal(g.full_slot_bytes, 40 * 32768);
    opts = (rb_kv_geometry_opts_t){.shape = RB_KV_SHAPE_BLOCK, .ways = 4, .scale = 64};
    g = geometry("llama3.1-70b", opts);
    assert_int_equal(g.piece_ios, 1);
    assert_int_equal(g.slot_bytes, 5 * RB_MIB / 4 / 64);
    opts.scale = 1 << 30; /* a page is the least */
    assert_int_equal(geometry("llama3.1-70b", opts).slot_bytes, RB_KV_PAGE_BYTES);
}

static void assert_refused(rb_kv_model_t model, rb_kv_geometry_opts_t opts, const char *want)
{
    rb_kv_geometry_t g = {.slot_bytes = 7};
    rb_err_t err = {0};
    model.name = "custom";
    opts.model = model;
    assert_int_equal(rb_kv_geometry(&opts, &g, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_int_equal(g.slot_bytes, 7);
    if (strstr(err.text, want) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, want);
}

static void test_refused(void **state)
{
    (void)state;
    rb_kv_model_t gqa = {.layers = 2, .kv_heads = 6, .head_dim = 64};
    rb_kv_model_t mla = {.layers = 2, .lora_rank = 512, .rope_dim = 64};
    assert_refused((rb_kv_model_t){.kv_heads = 1, .head_dim = 1}, (rb_kv_geometry_opts_t){0},
                   "layers is 0");
    assert_refused((rb_kv_model_t){.layers = 1, .head_dim = 1}, (rb_kv_geometry_opts_t){0},
                   "kv_heads is 0");
    assert_refused((rb_kv_model_t){.layers = 1, .kv_heads = 1, .rope_dim = 1},
                   (rb_kv_geometry_opts_t){0}, "give lora_rank");
    assert_refused(mla, (rb_kv_geometry_opts_t){.shape = RB_KV_SHAPE_KV_APART}, "use layer");
    assert_refused(gqa, (rb_kv_geometry_opts_t){.tensor_parallel = 4}, "divide the 6 KV heads");
    assert_refused(gqa, (rb_kv_geometry_opts_t){.ways = 17}, "16 at most");
    mla.kv_heads = 8;
    assert_refused(mla, (rb_kv_geometry_opts_t){0}, "one or the other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),           cmocka_unit_test(test_kv_apart),
        cmocka_unit_test(test_names),           cmocka_unit_test(test_mla),
        cmocka_unit_test(test_tensor_parallel), cmocka_unit_test(test_pieces_and_scale),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
