#include "common/llm/trace_load.h"

#include "common/llm/kv_words.h"
#include "common/llm/trace_build.h"

#include <errno.h>
#include <sys/stat.h>

int rb_trace_format_parse(const char *word, rb_trace_format_t *ret, rb_err_t *err)
{
    static const char *const words[] = {
        [RB_TRACE_AUTO] = "auto",         [RB_TRACE_MOONCAKE] = "mooncake",
        [RB_TRACE_BAILIAN] = "bailian",   [RB_TRACE_AZURE] = "azure",
        [RB_TRACE_BURSTGPT] = "burstgpt", [RB_TRACE_MLPERF] = "mlperf"};
    return RB_KV_WORD(words, "format of a trace", word, ret, err);
}

/* ---- what the readers call ---- */

int rb_trace_build_request(rb_trace_build_t *b, const rb_trace_record_t *record, rb_err_t *err)
{
    rb_trace_t *t = b->trace;
    if (t->nrequests == RB_MAX_TRACE_REQUESTS)
        return rb_err_set(err, RB_ERR_INPUT, "more than %d requests: cut the file",
                          RB_MAX_TRACE_REQUESTS);
    if (record->input_tokens > UINT32_MAX / 2 || record->output_tokens > UINT32_MAX / 2)
        return rb_err_set(err, RB_ERR_INPUT, "%llu tokens in, %llu out: no model takes so many",
                          (unsigned long long)record->input_tokens,
                          (unsigned long long)record->output_tokens);
    if (!(record->due_s >= 0 && record->due_s < 1e10))
        return rb_err_set(err, RB_ERR_INPUT, "a time of %g s is out of range", record->due_s);
    *RB_PUSH(t->requests, t->nrequests) = (rb_trace_request_t){
        .due_ns = (uint64_t)(record->due_s * 1e9 + 0.5),
        .first = t->nblocks,
        .input_tokens = (uint32_t)record->input_tokens,
        .output_tokens = (uint32_t)record->output_tokens,
        .session = (uint32_t)record->session,
    };
    return 0;
}

int rb_trace_build_block(rb_trace_build_t *b, uint64_t id, rb_err_t *err)
{
    rb_trace_t *t = b->trace;
    rb_trace_request_t *r = &t->requests[t->nrequests - 1];
    if (r->nprompt == RB_MAX_TRACE_BLOCKS || t->nblocks == RB_MAX_TRACE_REFERENCES)
        return rb_err_set(err, RB_ERR_INPUT,
                          "too many blocks: %d of a request and %llu in all at most",
                          RB_MAX_TRACE_BLOCKS, (unsigned long long)RB_MAX_TRACE_REFERENCES);
    b->ids = rb_grow(b->ids, t->nblocks, sizeof(*b->ids));
    b->ids[t->nblocks++] = id;
    r->nprompt++;
    return 0;
}

/* ---- sessions ---- */

/* A prompt goes on with the conversation whose last prompt's full blocks it begins with. */
static void find_sessions(rb_trace_t *t)
{
    uint32_t *session_of = rb_calloc(t->distinct, sizeof(*session_of)); /* + 1; 0: none */
    t->nsessions = 0;
    for (uint32_t i = 0; i < t->nrequests; i++) {
        rb_trace_request_t *r = &t->requests[i];
        const uint32_t *blocks = &t->blocks[r->first];
        uint32_t found = 0;
        for (uint32_t k = r->nprompt; k-- > 1 && found == 0;)
            found = session_of[blocks[k]];
        r->session = found > 0 ? found - 1 : t->nsessions++;
        uint32_t full = RB_MIN(r->input_tokens / t->block_tokens, r->nprompt);
        if (full > 1)
            session_of[blocks[full - 1]] = r->session + 1;
    }
    free(session_of);
}

/* ---- the file ---- */

static rb_trace_format_t guess(const char *line)
{
    if (line[strspn(line, " \t")] == '{')
        return strstr(line, "\"chat_id\"") ? RB_TRACE_BAILIAN : RB_TRACE_MOONCAKE;
    if (strcasestr(line, "ContextTokens"))
        return RB_TRACE_AZURE;
    if (strcasestr(line, "Request tokens"))
        return RB_TRACE_BURSTGPT;
    return strcasestr(line, "Object_Size_Bytes") ? RB_TRACE_MLPERF : RB_TRACE_AUTO;
}

static bool is_json(rb_trace_format_t format)
{
    return format == RB_TRACE_MOONCAKE || format == RB_TRACE_BAILIAN;
}

static uint32_t default_tokens(rb_trace_format_t format)
{
    return format == RB_TRACE_MOONCAKE ? 512 : 16;
}

static int begin(rb_trace_build_t *b, char *line, rb_err_t *err)
{
    b->format = b->opts->format == RB_TRACE_AUTO ? guess(line) : b->opts->format;
    if (b->format == RB_TRACE_AUTO)
        return rb_err_set(err, RB_ERR_INPUT,
                          "no trace of a kind that is known: JSON lines of mooncake or bailian, or "
                          "a CSV of azure, burstgpt or mlperf with its line of names");
    if (b->format == RB_TRACE_MLPERF && b->opts->token_bytes == 0)
        return rb_err_set(err, RB_ERR_INPUT, "objects have bytes, not tokens: name the model");
    b->trace->block_tokens =
        b->opts->block_tokens ? b->opts->block_tokens : default_tokens(b->format);
    b->trace->lengths_only = b->format == RB_TRACE_AZURE || b->format == RB_TRACE_BURSTGPT;
    return is_json(b->format) ? rb_trace_json_line(b, line, err)
                              : rb_trace_csv_header(b, line, err);
}

static int take_line(rb_trace_build_t *b, char *line, rb_err_t *err)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (line[strspn(line, " \t")] == '\0')
        return 0;
    if (b->trace->block_tokens == 0)
        return begin(b, line, err);
    return is_json(b->format) ? rb_trace_json_line(b, line, err) : rb_trace_csv_line(b, line, err);
}

static int read_lines(rb_trace_build_t *b, const char *name, FILE *in, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *line = NULL;
    size_t room = 0;
    uint64_t most = b->opts->max_requests ? b->opts->max_requests : UINT64_MAX;
    for (uint64_t number = 1; b->trace->nrequests < most; number++) {
        errno = 0;
        if (getline(&line, &room, in) < 0)
            return errno == 0 ? 0 : rb_err_errno(err, errno, "read %s", name);
        if (take_line(b, line, err) != 0)
            return rb_err_wrap(err, "%s:%llu", name, (unsigned long long)number);
    }
    return 0;
}

static int finish(rb_trace_build_t *b, const char *name, rb_err_t *err)
{
    rb_trace_t *t = b->trace;
    t->blocks = rb_calloc(t->nblocks, sizeof(*t->blocks));
    if (rb_trace_finish(t, b->ids, err) != 0)
        return rb_err_wrap(err, "%s", name);
    if (b->format == RB_TRACE_MOONCAKE)
        find_sessions(t);
    return 0;
}

static rb_trace_t *load(const char *name, FILE *in, const rb_trace_load_opts_t *opts, rb_err_t *err)
{
    rb_trace_build_t b = {.trace = rb_calloc(1, sizeof(*b.trace)), .opts = opts};
    if (read_lines(&b, name, in, err) != 0 || finish(&b, name, err) != 0)
        rb_trace_destroy(&b.trace);
    free(b.ids);
    rb_id_map_clear(&b.sessions);
    return b.trace;
}

rb_trace_t *rb_trace_load(const char *path, const rb_trace_load_opts_t *opts, rb_err_t *err)
{
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        rb_err_errno(err, errno, "open %s", path);
        return NULL;
    }
    struct stat st;
    rb_trace_t *trace = NULL;
    if (fstat(fileno(in), &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode)))
        rb_err_set(err, RB_ERR_INPUT, "%s: a file of requests is right, not a directory or device",
                   path);
    else
        trace = load(path, in, opts, err);
    fclose(in);
    return trace;
}

rb_trace_t *rb_trace_read(const char *name, const char *text, size_t size,
                          const rb_trace_load_opts_t *opts, rb_err_t *err)
{
    char nothing[] = "\n";
    FILE *in = fmemopen(size ? (void *)(uintptr_t)text : nothing, size ? size : 1, "r");
    RB_ASSERT(in != NULL);
    rb_trace_t *trace = load(name, in, opts, err);
    fclose(in);
    return trace;
}
