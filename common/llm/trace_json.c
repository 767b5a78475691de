#include "common/llm/trace_build.h"

#include <jansson.h>

static int need_number(const json_t *o, const char *key, double *ret, rb_err_t *err)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v))
        return rb_err_set(err, RB_ERR_INPUT, "%s is %s: it must be a number", key,
                          v ? "no number" : "missing");
    *ret = json_number_value(v);
    if (*ret < 0)
        return rb_err_set(err, RB_ERR_INPUT, "%s is %g: it must be 0 or more", key, *ret);
    return 0;
}

static int need_integer(const json_t *o, const char *key, uint64_t *ret, rb_err_t *err)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return rb_err_set(err, RB_ERR_INPUT, "%s is %s: it must be a whole number, 0 or more", key,
                          v ? "something else" : "missing");
    *ret = (uint64_t)json_integer_value(v);
    return 0;
}

/* A chat's session is that of its parent, and of a root its own. A parent that is not in the file
 * is a session all the same. */
static int bailian_session(rb_trace_build_t *b, const json_t *o, uint64_t *ret, rb_err_t *err)
{
    uint64_t chat;
    double parent = -1;
    const json_t *v = json_object_get(o, "parent_chat_id");
    if (need_integer(o, "chat_id", &chat, err) != 0)
        return -1;
    if (json_is_number(v))
        parent = json_number_value(v);
    uint64_t from = parent >= 0 && parent < 0x1p63 ? (uint64_t)parent : chat;
    uint32_t session = rb_id_map_number(&b->sessions, from);
    *rb_id_map_at(&b->sessions, chat) = session;
    *ret = session;
    return 0;
}

static int add_blocks(rb_trace_build_t *b, const json_t *ids, uint64_t tokens, rb_err_t *err)
{
    size_t i, n = json_array_size(ids);
    uint64_t most = (tokens + b->trace->block_tokens - 1) / b->trace->block_tokens;
    json_t *id;
    if (!json_is_array(ids))
        return rb_err_set(err, RB_ERR_INPUT, "hash_ids is %s: it must be a list of whole numbers",
                          ids ? "no list" : "missing");
    if (n > most)
        return rb_err_set(
            err, RB_ERR_INPUT, "hash_ids has %zu blocks, but %llu tokens make %llu of %u tokens", n,
            (unsigned long long)tokens, (unsigned long long)most, b->trace->block_tokens);
    json_array_foreach(ids, i, id)
    {
        if (!json_is_integer(id))
            return rb_err_set(err, RB_ERR_INPUT, "hash_ids: number %zu is no whole number", i + 1);
        if (rb_trace_build_block(b, (uint64_t)json_integer_value(id), err) != 0)
            return -1;
    }
    return 0;
}

static int add(rb_trace_build_t *b, const json_t *o, rb_err_t *err)
{
    rb_trace_record_t r = {0};
    bool mooncake = b->format == RB_TRACE_MOONCAKE;
    if (need_number(o, "timestamp", &r.due_s, err) != 0 ||
        need_integer(o, "input_length", &r.input_tokens, err) != 0 ||
        need_integer(o, "output_length", &r.output_tokens, err) != 0 ||
        (!mooncake && bailian_session(b, o, &r.session, err) != 0))
        return -1;
    r.due_s /= mooncake ? 1000 : 1;
    if (rb_trace_build_request(b, &r, err) != 0)
        return -1;
    return add_blocks(b, json_object_get(o, "hash_ids"), r.input_tokens, err);
}

int rb_trace_json_line(rb_trace_build_t *b, char *line, rb_err_t *err)
{
    json_error_t at;
    json_t *o = json_loads(line, JSON_REJECT_DUPLICATES, &at);
    int result = o == NULL
                     ? rb_err_set(err, RB_ERR_INPUT, "no JSON: column %d: %s", at.column, at.text)
                 : json_is_object(o) ? add(b, o, err)
                                     : rb_err_set(err, RB_ERR_INPUT, "no JSON object");
    json_decref(o);
    return result;
}
