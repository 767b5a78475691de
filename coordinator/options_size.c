#include "coordinator/options_rows.h"

#include "common/share.h"

/* ---- numbers ---- */

static int parse_u32(const char *value, uint32_t least, uint32_t most, uint32_t *ret, rb_err_t *err)
{
    uint64_t n;
    if (rb_parse_count(value, &n, err) != 0)
        return -1;
    if (n < least || n > most)
        return rb_err_set(err, RB_ERR_INPUT, "%s: it must be %u to %u", value, least, most);
    *ret = (uint32_t)n;
    return 0;
}

/* A number above 0, such as 2 or 0.5, in millionths. */
static int parse_factor(const char *value, uint64_t *ret_ppm, rb_err_t *err)
{
    double factor;
    if (!rb_parse_decimal(value, &factor) || factor * 1e6 < 1 || factor > 1e6)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is no factor: it must be a number above 0, such as 2 or 0.5",
                          value);
    *ret_ppm = (uint64_t)(factor * 1e6 + 0.5);
    return 0;
}

/* ---- the model and its blocks ---- */

static int take_model(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_model_parse(value, &o->size.model.model, err);
}

static int take_dtype(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_dtype_parse(value, &o->size.model.dtype, err);
}

static int take_tokens(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, RB_MAX_KV_TOKENS, &o->size.model.tokens_per_block, err);
}

static int take_shape(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_shape_parse(value, &o->size.model.shape, err);
}

static int take_parallel(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, 1024, &o->size.model.tensor_parallel, err);
}

static int take_packed(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->size.model.packed = true;
    return 0;
}

/* ---- the traffic ---- */

static int take_trace(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->size.trace = value;
    return 0;
}

static int take_trace_format(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_trace_format_parse(value, &o->size.load.format, err);
}

static int take_speed(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_factor(value, &o->size.plan.speed_ppm, err);
}

static int take_jitter(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_duration(value, &o->size.jitter_ns, err);
}

static int take_loops(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, 100000, &o->size.plan.loops, err);
}

static int take_seed(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_count(value, &o->size.seed, err);
}

static int take_answers(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->size.decode = true;
    return 0;
}

/* ---- nodes, drives and memory ---- */

static int take_nodes(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, RB_MAX_HOSTS, &o->size.nodes, err);
}

static int take_drives(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, RB_MAX_DRIVES, &o->size.drives, err);
}

static int take_servers(rb_options_t *o, const char *value, rb_err_t *err)
{
    return parse_u32(value, 1, RB_MAX_KV_SERVERS, &o->size.plan.nservers, err);
}

static int take_capacity(rb_options_t *o, const char *value, rb_err_t *err)
{
    if (strcmp(value, "unlimited") == 0)
        o->size.capacity_bytes = 0;
    else if (rb_parse_bytes(value, &o->size.capacity_bytes, err) != 0)
        return -1;
    else if (o->size.capacity_bytes == 0)
        return rb_err_set(err, RB_ERR_INPUT, "0 holds nothing: give a size, or unlimited");
    return 0;
}

static int take_rated(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_bytes(value, &o->size.rated_bytes, err);
}

static int take_gpu(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_bytes(value, &o->size.gpu_bytes, err);
}

static int take_dram(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_bytes(value, &o->size.dram_bytes, err);
}

static int take_write_back(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->size.plan.write_back = true;
    return 0;
}

static int take_years(rb_options_t *o, const char *value, rb_err_t *err)
{
    if (!rb_parse_decimal(value, &o->size.years) || o->size.years <= 0 || o->size.years > 100)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is no number of years: above 0, and at most 100, is right",
                          value);
    return 0;
}

static int take_duty(rb_options_t *o, const char *value, rb_err_t *err)
{
    uint64_t ppm;
    if (rb_parse_ppm(value, &ppm, err) != 0)
        return -1;
    if (ppm == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "0 is no traffic: give a share of the day, as in 50%%");
    o->size.duty = (double)ppm / 1e6;
    return 0;
}

/* ---- the tier ---- */

static int take_placement(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_place_parse(value, &o->size.plan.place, err);
}

static int take_policy(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_policy_parse(value, &o->size.plan.policy, err);
}

static int take_admission(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_admission_parse(value, &o->size.plan.admission, err);
}

static int take_router(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_router_parse(value, &o->size.plan.router, err);
}

static int take_read(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_kv_read_parse(value, &o->size.plan.read, err);
}

static int take_prefill_rate(rb_options_t *o, const char *value, rb_err_t *err)
{
    return rb_parse_count(value, &o->size.plan.prefill_tokens_per_s, err);
}

const rb_option_row_t rb_size_options[RB_SIZE_OPTIONS] = {
    {"trace", "FILE", "requests: mooncake, bailian, azure, burstgpt or mlperf", take_trace,
     RB_FOR_SIZE},
    {"trace-format", "WORD", "of the trace, where its first line does not tell", take_trace_format,
     RB_FOR_SIZE},
    {"model", "NAME", "llama3.1-8b (default), ... or layers=80,kv_heads=8,head_dim=128", take_model,
     RB_FOR_SIZE},
    {"dtype", "WORD", "bf16 (default), fp16, fp8, int8, fp4 or fp32", take_dtype, RB_FOR_SIZE},
    {"tokens-per-block", "N", "default: the trace's", take_tokens, RB_FOR_SIZE},
    {"shape", "WORD", "of an I/O: block (default), chunk, layer or kv_apart", take_shape,
     RB_FOR_SIZE},
    {"tensor-parallel", "N", "shards that the heads are divided among", take_parallel, RB_FOR_SIZE},
    {"packed", NULL, "layers without gaps, where they are no whole pages", take_packed,
     RB_FOR_SIZE},
    {"nodes", "N", "hosts with drives (default 1)", take_nodes, RB_FOR_SIZE},
    {"drives", "N", "of each node (default 1)", take_drives, RB_FOR_SIZE},
    {"capacity", "SIZE", "of a drive (default unlimited)", take_capacity, RB_FOR_SIZE},
    {"rated", "SIZE", "of a drive, for DWPD (default: its capacity)", take_rated, RB_FOR_SIZE},
    {"placement", "WORD", "hash (default), local, stripe(K), mirror(R), mirror(R, drives|racks)",
     take_placement, RB_FOR_SIZE},
    {"policy", "WORD", "lru (default), fifo or none", take_policy, RB_FOR_SIZE},
    {"admission", "WORD", "prompt_only (default), write_through or second_touch", take_admission,
     RB_FOR_SIZE},
    {"read", "WORD", "copy of a mirror: hash (default) or least_loaded", take_read, RB_FOR_SIZE},
    {"servers", "N", "of inference (default: one a node)", take_servers, RB_FOR_SIZE},
    {"router", "WORD", "round_robin (default), least_loaded, session or prefix_affinity",
     take_router, RB_FOR_SIZE},
    {"gpu", "SIZE", "memory of a server for KV, before dram", take_gpu, RB_FOR_SIZE},
    {"dram", "SIZE", "memory of a server for KV, before the drives", take_dram, RB_FOR_SIZE},
    {"write-back", NULL, "blocks are written when they fall out of memory", take_write_back,
     RB_FOR_SIZE},
    {"answers", NULL, "answers make blocks, too", take_answers, RB_FOR_SIZE},
    {"prefill-rate", "N", "tokens a second that a server recomputes", take_prefill_rate,
     RB_FOR_SIZE},
    {"speed", "X", "of the trace: 2 is twice as fast", take_speed, RB_FOR_SIZE},
    {"jitter", "TIME", "spreads arrivals that stand together", take_jitter, RB_FOR_SIZE},
    {"loops", "N", "of the trace, each with blocks of its own (default 1)", take_loops,
     RB_FOR_SIZE},
    {"seed", "N", "of jitter (default 42)", take_seed, RB_FOR_SIZE},
    {"years", "N", "that drives are to last (default 5)", take_years, RB_FOR_SIZE},
    {"duty", "SHARE", "of the day that has this traffic (default 100%)", take_duty, RB_FOR_SIZE},
};
