#include "common/llm/trace_make.h"

#include "common/llm/kv_words.h"
#include "common/llm/trace_build.h"
#include "common/rng.h"
#include "common/share.h"
#include "common/units.h"

enum { PREFILL_ONLY_TOKENS = 10000, MAX_USERS = 1000000, MAX_TOKENS = 1 << 20 };
#define PREFIX "generate:"

/* ---- words ---- */

static const rb_trace_user_t kinds[] = {
    {{512, 4096}, {50, 200}, {100 * RB_NS_PER_MS, 500 * RB_NS_PER_MS}},
    {{4096, 25000}, {100, 500}, {200 * RB_NS_PER_MS, 1000 * RB_NS_PER_MS}},
    {{4096, 16384}, {200, 800}, {300 * RB_NS_PER_MS, 1500 * RB_NS_PER_MS}},
};

static int parse_kind(const char *word, rb_trace_make_opts_t *o, rb_err_t *err)
{
    static const char *const words[] = {"chatbot", "coding", "document", "mlperf"};
    int kind = rb_kv_word(words, RB_LEN(words), "kind of user", word, err);
    if (kind < 0)
        return -1;
    o->nkinds = kind < 3 ? 1 : 3;
    memcpy(o->kinds, kind < 3 ? &kinds[kind] : kinds, o->nkinds * sizeof(*kinds));
    return 0;
}

typedef int parse_fn(const char *text, uint64_t *ret, rb_err_t *err);

/* LEAST-MOST, or one value. */
static int parse_range(const char *text, parse_fn *parse, rb_trace_range_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *most = copy, *least = strsep(&most, "-");
    rb_trace_range_t r;
    if (parse(least, &r.least, err) != 0 || parse(most ? most : least, &r.most, err) != 0)
        return -1;
    if (r.least > r.most || r.most > UINT32_MAX * 1000ull)
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is no range: it must rise, as in 512-4096",
                          text);
    *ret = r;
    return 0;
}

static int parse_number(const char *text, uint64_t least, uint64_t most, uint32_t *ret,
                        rb_err_t *err)
{
    uint64_t n;
    if (rb_parse_count(text, &n, err) != 0)
        return -1;
    if (n < least || n > most)
        return rb_err_set(err, RB_ERR_INPUT, "%s: it must be %llu to %llu", text,
                          (unsigned long long)least, (unsigned long long)most);
    *ret = (uint32_t)n;
    return 0;
}

static int parse_chance(const char *text, uint32_t *ret_ppm, rb_err_t *err)
{
    double chance;
    if (!rb_parse_decimal(text, &chance) || chance > 0.999)
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is no chance: it must be 0 to 0.999", text);
    *ret_ppm = (uint32_t)(chance * 1e6 + 0.5);
    return 0;
}

static int parse_users(const char *key, const char *v, rb_trace_make_opts_t *o, rb_err_t *err)
{
    rb_trace_range_t range;
    bool context = strcmp(key, "context") == 0, think = strcmp(key, "think") == 0;
    if (parse_range(v, think ? rb_parse_duration : rb_parse_count, &range, err) != 0)
        return -1;
    for (uint32_t i = 0; i < o->nkinds; i++)
        *(context ? &o->kinds[i].context
          : think ? &o->kinds[i].think_ns
                  : &o->kinds[i].output) = range;
    return 0;
}

typedef enum {
    USERS,
    DURATION,
    CONTEXT,
    OUTPUT,
    THINK,
    GO_ON,
    SYSTEM,
    SYSTEMS,
    MOST,
    TOKENS,
    SEED
} make_key_t;

static int parse_item(const char *key, const char *v, rb_trace_make_opts_t *o, rb_err_t *err)
{
    static const char *const keys[] = {"users", "duration", "context", "output", "think",
                                       "go_on", "system",   "systems", "max",    "tokens_per_block",
                                       "seed"};
    int at = rb_kv_word(keys, RB_LEN(keys), "key of a made-up trace", key, err);
    if (at < 0)
        return -1;
    switch ((make_key_t)at) {
    case USERS:
        return parse_number(v, 1, MAX_USERS, &o->users, err);
    case DURATION:
        return rb_parse_duration(v, &o->duration_ns, err);
    case CONTEXT:
    case OUTPUT:
    case THINK:
        return parse_users(key, v, o, err);
    case GO_ON:
        return parse_chance(v, &o->go_on_ppm, err);
    case SYSTEM:
        return parse_number(v, 0, MAX_TOKENS, &o->system_tokens, err);
    case SYSTEMS:
        return parse_number(v, 1, MAX_USERS, &o->systems, err);
    case MOST:
        return parse_number(v, 1, 1 << 24, &o->max_tokens, err);
    case TOKENS:
        return parse_number(v, 1, MAX_TOKENS, &o->block_tokens, err);
    case SEED:
        return rb_parse_count(v, &o->seed, err);
    }
    rb_assert_failed("key is one of its values", __FILE__, __LINE__);
}

static int check(const rb_trace_make_opts_t *o, rb_err_t *err)
{
    for (uint32_t i = 0; i < o->nkinds; i++)
        if (o->kinds[i].context.most == 0 || o->kinds[i].think_ns.most == 0)
            return rb_err_set(err, RB_ERR_INPUT,
                              "context and think are above 0: a user adds tokens, and takes time");
    return 0;
}

int rb_trace_make_parse(const char *text, rb_trace_make_opts_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    rb_trace_make_opts_t o = {.users = 100,
                              .duration_ns = 300 * RB_NS_PER_S,
                              .go_on_ppm = 800000,
                              .systems = 1,
                              .max_tokens = 131072,
                              .block_tokens = 256,
                              .seed = 42,
                              .nkinds = 1,
                              .kinds = {kinds[0]}};
    char *rest = copy;
    for (char *item; (item = strsep(&rest, ",")) != NULL;) {
        char *key = strsep(&item, "=");
        if (item == NULL ? parse_kind(key, &o, err) : parse_item(key, item, &o, err))
            return rb_err_wrap(err, PREFIX "%s", key);
    }
    if (check(&o, err) != 0)
        return -1;
    *ret = o;
    return 0;
}

/* ---- making ---- */

typedef struct {
    const rb_trace_make_opts_t *o;
    rb_trace_build_t build;
    rb_rng_t rng; /* of the user */
    uint32_t conversations;
} make_t;

static uint64_t draw(make_t *m, uint64_t least, uint64_t most)
{
    return least + rb_rng_below(&m->rng, most - least + 1);
}

typedef struct {
    uint32_t number, system; /* of the conversation, of its system prompt */
    uint64_t tokens;         /* so far */
} talk_t;

/* The id of a block: full ones by what they belong to; one that is partial is of its turn alone. */
static uint64_t id_of(const make_t *m, const talk_t *talk, uint64_t block, uint64_t end)
{
    uint64_t tokens = m->o->block_tokens;
    if (block < m->o->system_tokens / tokens)
        return rb_id_mix(rb_id_mix(talk->system + 1) ^ block);
    uint64_t id = rb_id_mix(rb_id_mix(~(uint64_t)talk->number) ^ block);
    return (block + 1) * tokens <= end ? id : rb_id_mix(id ^ end);
}

/* A prompt of the conversation so far; the answer's full blocks follow. */
static int add_turn(make_t *m, const talk_t *talk, uint64_t at_ns, uint64_t output, rb_err_t *err)
{
    rb_trace_t *t = m->build.trace;
    rb_trace_record_t r = {.due_s = (double)at_ns / 1e9,
                           .input_tokens = talk->tokens,
                           .output_tokens = output,
                           .session = talk->number};
    if (rb_trace_build_request(&m->build, &r, err) != 0)
        return -1;
    uint64_t tokens = m->o->block_tokens;
    for (uint64_t b = 0; b * tokens < talk->tokens; b++)
        if (rb_trace_build_block(&m->build, id_of(m, talk, b, talk->tokens), err) != 0)
            return -1;
    rb_trace_request_t *request = &t->requests[t->nrequests - 1];
    uint32_t nprompt = request->nprompt;
    for (uint64_t b = talk->tokens / tokens; (b + 1) * tokens <= talk->tokens + output; b++)
        if (rb_trace_build_block(&m->build, id_of(m, talk, b, UINT64_MAX), err) != 0)
            return -1;
    request->ndecode = request->nprompt - nprompt;
    request->nprompt = nprompt;
    return 0;
}

/* A conversation from *at_ns on, which becomes the time of the next one. */
static int make_talk(make_t *m, const rb_trace_user_t *user, uint64_t most, uint64_t *at_ns,
                     rb_err_t *err)
{
    talk_t talk = {.number = m->conversations++,
                   .tokens = m->o->system_tokens,
                   .system = (uint32_t)draw(m, 0, m->o->systems - 1)};
    do {
        uint64_t output = draw(m, user->output.least, user->output.most);
        talk.tokens += RB_MAX(draw(m, most / 4, most), 1u);
        output = talk.tokens >= PREFILL_ONLY_TOKENS ? 0 : output;
        if (add_turn(m, &talk, *at_ns, output, err) != 0)
            return -1;
        talk.tokens += output;
        *at_ns += RB_MAX(draw(m, user->think_ns.least, user->think_ns.most), 1u);
    } while (*at_ns < m->o->duration_ns && talk.tokens < m->o->max_tokens &&
             rb_rng_below(&m->rng, 1000000) < m->o->go_on_ppm);
    return 0;
}

static int make_user(make_t *m, uint32_t number, rb_err_t *err)
{
    rb_rng_seed(&m->rng, m->o->seed, number, 1);
    const rb_trace_user_t *user = &m->o->kinds[rb_rng_below(&m->rng, m->o->nkinds)];
    uint64_t most = draw(m, user->context.least, user->context.most);
    uint64_t at_ns = draw(m, 0, user->think_ns.most - 1);
    while (at_ns < m->o->duration_ns)
        if (make_talk(m, user, most, &at_ns, err) != 0)
            return -1;
    return 0;
}

static int make_all(make_t *m, rb_err_t *err)
{
    rb_trace_t *t = m->build.trace;
    t->block_tokens = m->o->block_tokens;
    for (uint32_t i = 0; i < m->o->users; i++)
        if (make_user(m, i, err) != 0)
            return -1;
    t->blocks = rb_calloc(t->nblocks, sizeof(*t->blocks));
    return rb_trace_finish(t, m->build.ids, err);
}

rb_trace_t *rb_trace_make(const rb_trace_make_opts_t *opts, rb_err_t *err)
{
    make_t m = {.o = opts, .build = {.trace = rb_calloc(1, sizeof(rb_trace_t))}};
    if (make_all(&m, err) != 0)
        rb_trace_destroy(&m.build.trace);
    free(m.build.ids);
    return m.build.trace;
}

rb_trace_t *rb_trace_open(const char *name, const rb_trace_load_opts_t *opts, rb_err_t *err)
{
    rb_trace_make_opts_t make;
    if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
        return rb_trace_load(name, opts, err);
    if (rb_trace_make_parse(name + strlen(PREFIX), &make, err) != 0)
        return NULL;
    rb_trace_t *trace = rb_trace_make(&make, err);
    if (trace == NULL)
        rb_err_wrap(err, "%s", name);
    return trace;
}
