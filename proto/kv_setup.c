#include "proto/kv_setup.h"

#include <inttypes.h>
#include <math.h>

#include "common/units.h"

static bool is(const char *word, const char *what)
{
    return word != NULL && strcmp(word, what) == 0;
}

static int set_model(const Rackbench__KvCache *kv, rb_kv_model_t *ret, rb_err_t *err)
{
    if (kv->model == NULL) {
        *ret = (rb_kv_model_t){"custom",      "",           kv->layers, kv->kv_heads, kv->head_dim,
                               kv->lora_rank, kv->rope_dim, 0};
        return rb_kv_model_check(ret, err) < 0 ? rb_err_wrap(err, "model") : 0;
    }
    const rb_kv_model_t *model = rb_kv_model_find(kv->model, err);
    if (model == NULL)
        return rb_err_wrap(err, "model");
    *ret = *model;
    return 0;
}

/* "1/64" */
static int set_scale(const char *text, uint32_t *ret, rb_err_t *err)
{
    char *end = NULL;
    *ret = 1;
    if (text == NULL || strcmp(text, "1") == 0)
        return 0;
    unsigned long n = strncmp(text, "1/", 2) == 0 ? strtoul(text + 2, &end, 10) : 0;
    if (end == NULL || end == text + 2 || *end != '\0' || n < 1 || n > RB_MAX_KV_SCALE)
        return rb_err_set(err, RB_ERR_INPUT, "scale: '%.40s'; 1/N is right, N from 1 to %d", text,
                          RB_MAX_KV_SCALE);
    *ret = (uint32_t)n;
    return 0;
}

static int set_speed(const char *text, uint64_t *ret_ppm, rb_err_t *err)
{
    char *end = NULL;
    double speed = text == NULL ? 1.0 : strtod(text, &end);
    if (text != NULL && (end == text || *end != '\0' || !isfinite(speed) || speed < 1e-6 ||
                         speed > RB_MAX_KV_SPEED))
        return rb_err_set(err, RB_ERR_INPUT,
                          "speed: '%.40s'; a number above 0 and up to %d is right, as in 2.5", text,
                          RB_MAX_KV_SPEED);
    *ret_ppm = (uint64_t)llround(speed * 1e6);
    return 0;
}

static int set_geometry(const Rackbench__KvCache *kv, rb_kv_setup_t *s, rb_err_t *err)
{
    rb_kv_geometry_opts_t o = {.tokens_per_block = kv->tokens_per_block,
                               .shape = RB_KV_SHAPE_BLOCK,
                               .tensor_parallel = kv->tensor_parallel,
                               .packed = kv->packed,
                               .ways = s->plan.place.rule == RB_KV_STRIPE ? s->plan.place.ways : 1};
    if (set_model(kv, &o.model, err) < 0 || set_scale(kv->scale, &o.scale, err) < 0)
        return -1;
    if (kv->dtype != NULL && rb_kv_dtype_parse(kv->dtype, &o.dtype, err) < 0)
        return rb_err_wrap(err, "dtype");
    if (kv->shape != NULL && rb_kv_shape_parse(kv->shape, &o.shape, err) < 0)
        return rb_err_wrap(err, "shape");
    if (rb_kv_geometry(&o, &s->geometry, err) < 0)
        return -1;
    bool layered = o.shape == RB_KV_SHAPE_LAYER || o.shape == RB_KV_SHAPE_KV_APART;
    s->scale = o.scale;
    s->first_ios =
        layered ? RB_MAX(s->geometry.piece_ios / o.model.layers, 1u) : s->geometry.piece_ios;
    return 0;
}

typedef int parse_fn(const char *word, void *ret, rb_err_t *err);

static int parse_policy(const char *word, void *ret, rb_err_t *err)
{
    return rb_kv_policy_parse(word, ret, err);
}

static int parse_admission(const char *word, void *ret, rb_err_t *err)
{
    return rb_kv_admission_parse(word, ret, err);
}

static int parse_router(const char *word, void *ret, rb_err_t *err)
{
    return rb_kv_router_parse(word, ret, err);
}

static int parse_read(const char *word, void *ret, rb_err_t *err)
{
    return rb_kv_read_parse(word, ret, err);
}

static int set_words(const Rackbench__KvCache *kv, rb_kv_plan_opts_t *plan, rb_err_t *err)
{
    const struct {
        const char *key, *word;
        parse_fn *parse;
        void *ret;
    } words[] = {{"policy", kv->policy, parse_policy, &plan->policy},
                 {"admission", kv->admission, parse_admission, &plan->admission},
                 {"router", kv->router, parse_router, &plan->router},
                 {"read_copy", kv->read_copy, parse_read, &plan->read}};
    for (size_t i = 0; i < RB_LEN(words); i++)
        if (words[i].word != NULL && words[i].parse(words[i].word, words[i].ret, err) < 0)
            return rb_err_wrap(err, "%s", words[i].key);
    if (rb_kv_place_parse(kv->placement != NULL ? kv->placement : "local", &plan->place, err) < 0)
        return rb_err_wrap(err, "placement");
    if (kv->prefill != NULL && !is(kv->prefill, "full") && !is(kv->prefill, "none"))
        return rb_err_set(err, RB_ERR_INPUT, "prefill: '%.40s'; full or none is right",
                          kv->prefill);
    plan->full = kv->prefill != NULL ? is(kv->prefill, "full") : plan->policy != RB_KV_POLICY_NONE;
    return 0;
}

static int set_front(const Rackbench__KvFront *front, rb_kv_setup_t *s, rb_err_t *err)
{
    if (front == NULL)
        return 0;
    if (front->write != NULL && !is(front->write, "through") && !is(front->write, "back"))
        return rb_err_set(err, RB_ERR_INPUT, "front: write '%.40s'; through or back is right",
                          front->write);
    s->plan.gpu_blocks = front->gpu_bytes / s->geometry.block_bytes;
    s->plan.dram_blocks = front->dram_bytes / s->geometry.block_bytes;
    s->plan.write_back = is(front->write, "back");
    return 0;
}

static int set_restore(const Rackbench__KvRestore *restore, rb_kv_setup_t *s, rb_err_t *err)
{
    s->by_layer = true;
    if (restore == NULL)
        return 0;
    if (restore->order != NULL && !is(restore->order, "layer") && !is(restore->order, "block"))
        return rb_err_set(err, RB_ERR_INPUT, "restore: order '%.40s'; layer or block is right",
                          restore->order);
    if (restore->io_size_bytes % RB_KV_PAGE_BYTES != 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "restore: io_size %" PRIu64 "; a multiple of %d bytes is right",
                          restore->io_size_bytes, RB_KV_PAGE_BYTES);
    s->by_layer = !is(restore->order, "block");
    s->inflight_per_request = restore->inflight_per_request;
    s->per_server = restore->per_server;
    s->io_size_bytes = restore->io_size_bytes;
    return 0;
}

int rb_kv_setup(const Rackbench__KvCache *kv, rb_kv_setup_t *ret, rb_err_t *err)
{
    rb_kv_setup_t s = {0};
    if (set_words(kv, &s.plan, err) < 0 || set_speed(kv->speed, &s.plan.speed_ppm, err) < 0 ||
        set_geometry(kv, &s, err) < 0 || set_front(kv->front, &s, err) < 0 ||
        set_restore(kv->restore, &s, err) < 0)
        return -1;
    s.jitter_ns = kv->jitter_ns;
    s.discards = kv->discard_on_evict;
    s.plan.nservers = kv->servers;
    s.plan.loops = RB_MAX(kv->loops, 1u);
    s.plan.prefill_tokens_per_s = kv->prefill_tokens_per_s;
    s.plan.decode_tokens_per_s = kv->decode_tokens_per_s;
    *ret = s;
    return 0;
}

void rb_kv_setup_clear(rb_kv_setup_t *setup)
{
    free(setup->plan.place.drives);
    *setup = (rb_kv_setup_t){0};
}

static int add_drive(rb_kv_setup_t *s, const Rackbench__KvCache *kv, rb_kv_drive_t *drive,
                     uint64_t have_bytes, rb_err_t *err)
{
    const rb_kv_geometry_t *g = &s->geometry;
    char want[RB_FMT_SIZE], have[RB_FMT_SIZE];
    drive->slots = kv->capacity_bytes > 0 ? kv->capacity_bytes / g->full_slot_bytes
                                          : have_bytes / g->slot_bytes;
    if (drive->slots == 0)
        return rb_err_set(err, RB_ERR_INPUT, "capacity: a drive has no room for one block of %s",
                          rb_fmt_bytes(want, sizeof(want), g->slot_bytes));
    if (drive->slots > have_bytes / g->slot_bytes)
        return rb_err_set(err, RB_ERR_INPUT,
                          "capacity: takes %s of a drive or file that has %s; lower it, or scale",
                          rb_fmt_bytes(want, sizeof(want), drive->slots * g->slot_bytes),
                          rb_fmt_bytes(have, sizeof(have), have_bytes));
    drive->weight = (uint32_t)RB_MIN(RB_MAX(drive->slots * g->slot_bytes / RB_MIB, 1u), UINT32_MAX);
    return 0;
}

/* Hosts of one label are one rack; those without are racks of their own. */
static uint32_t rack_of(size_t host, Rackbench__KvHost *const *hosts)
{
    for (size_t i = 0; i < host && hosts[host]->rack != NULL; i++)
        if (is(hosts[i]->rack, hosts[host]->rack))
            return (uint32_t)i;
    return (uint32_t)host;
}

int rb_kv_setup_hosts(rb_kv_setup_t *setup, const Rackbench__KvCache *kv, size_t nhosts,
                      Rackbench__KvHost *const *hosts, rb_err_t *err)
{
    rb_kv_place_t *place = &setup->plan.place;
    size_t n = 0;
    for (size_t i = 0; i < nhosts; i++)
        n += hosts[i]->n_capacity_bytes;
    if (n == 0 || n > RB_MAX_KV_DRIVES)
        return rb_err_set(err, RB_ERR_INPUT, "%zu drives of a KV cache; 1 to %d are right", n,
                          RB_MAX_KV_DRIVES);
    free(place->drives);
    place->drives = rb_calloc(n, sizeof(*place->drives));
    place->ndrives = 0;
    setup->plan.nhosts = (uint32_t)nhosts;
    for (size_t i = 0; i < nhosts; i++)
        for (size_t k = 0; k < hosts[i]->n_capacity_bytes; k++) {
            rb_kv_drive_t *drive = &place->drives[place->ndrives++];
            drive->host = (uint32_t)i;
            drive->rack = rack_of(i, hosts);
            if (add_drive(setup, kv, drive, hosts[i]->capacity_bytes[k], err) < 0)
                return -1;
        }
    return rb_kv_place_check(place, err) < 0 ? rb_err_wrap(err, "placement") : 0;
}

int rb_kv_setup_trace(const rb_kv_setup_t *setup, rb_trace_t *trace, uint64_t seed, rb_err_t *err)
{
    if (trace->block_tokens != setup->geometry.tokens_per_block &&
        rb_trace_reblock(trace, setup->geometry.tokens_per_block, err) < 0)
        return -1;
    rb_trace_jitter(trace, setup->jitter_ns, seed);
    return 0;
}
