/* test_trace.c - traces of each format, what is refused and where, and what is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/llm/trace_make.h"
#include "tests/unit/conversation.h"

static rb_trace_t *read_all(const char *text, const rb_trace_load_opts_t *opts)
{
    rb_err_t err = {0};
    rb_trace_t *trace = rb_trace_read("t", text, strlen(text), opts, &err);
    if (trace == NULL)
        fail_msg("%s", err.text);
    return trace;
}

/* "due/in/out/session:ids" of each request, due in ms. */
static void assert_trace(rb_trace_t *t, const char *want)
{
    char got[2000] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < t->nrequests; i++) {
        const rb_trace_request_t *r = &t->requests[i];
        at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%llu/%u/%u/%u:", i ? " " : "",
                               (unsigned long long)(r->due_ns / RB_NS_PER_MS), r->input_tokens,
                               r->output_tokens, r->session);
        for (uint32_t k = 0; k < r->nprompt + r->ndecode; k++)
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%u", k == r->nprompt ? ";" : "",
                                   t->blocks[r->first + k]);
    }
    rb_trace_destroy(&t);
    assert_string_equal(got, want);
}

/* Source: statistics of the published file. */
static void test_conversation(void **state)
{
    (void)state;
    rb_trace_stats_t s;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    rb_trace_stats(trace, &s);
    assert_int_equal(s.requests, 12031);
    assert_int_equal(s.references, 288500);
    assert_int_equal(s.distinct, 182790);
    assert_int_equal(trace->distinct, 182790);
    assert_int_equal(s.infinite_hits, 105710);
    assert_float_equal((float)s.infinite_hits / (float)s.references, .3664F, .00005F);
    assert_float_equal((float)s.infinite_tokens / (float)s.input_tokens, .3736F, .00005F);
    assert_int_equal(s.input_tokens / s.requests, 12035);
    assert_int_equal(s.output_tokens / s.requests, 342); /* 342.6 */
    assert_int_equal((int)s.seconds, 3536);              /* 3536.999 */
}

static void test_formats(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
        rb_trace_load_opts_t opts;
    } rows[] = {
        /* the third goes on with the first: it begins with its two full blocks */
        {"{\"timestamp\": 1000, \"input_length\": 1030, \"output_length\": 5, \"hash_ids\": [7, 8, "
         "9]}\n\n"
         "{\"timestamp\": 1500, \"input_length\": 600, \"output_length\": 1, \"hash_ids\": [7, "
         "5]}\n"
         "{\"timestamp\": 2000, \"input_length\": 1500, \"output_length\": 5, \"hash_ids\": [7, 8, "
         "3]}",
         "0/1030/5/0:012 500/600/1/1:03 1000/1500/5/0:014",
         {0}},
        /* out of order, and 16 tokens a block */
        {"{\"chat_id\": 3, \"parent_chat_id\": 2, \"timestamp\": 1.5, \"input_length\": 17, "
         "\"output_length\": 5, \"type\": \"text\", \"turn\": 2, \"hash_ids\": [70, 81]}\r\n"
         "{\"chat_id\": 2, \"parent_chat_id\": -1, \"timestamp\": 0.25, \"input_length\": 16, "
         "\"output_length\": 5, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [70]}\r\n",
         "0/16/5/0:0 1250/17/5/0:01",
         {0}},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.9000000,20,10\n"
         "2023-11-17 00:00:01.15,16,1\n",
         "0/20/10/0:01 1250/16/1/1:2",
         {0}},
        {"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
         "Type\n5,a,1,GPT-4,33,7,40,Conversation log\n6,b,1,GPT-4,1,2,3,x\n7,a,1,GPT-4,2,2,4,x\n",
         "0/33/7/0:012 1000/1/2/1:3 2000/2/2/0:4",
         {0}},
        {"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,a,3,7,40,y\n",
         "0/3/7/0:0",
         {0}},
        {"Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n0.5,Write,4000,Tier-2,u1,Prefill\n"
         "1,Read,4000,Tier-2,u1,Decode\n2,Write,100,Tier-2,u2,Prefill\n3,Read,100,Tier-2,u1,"
         "Evict\n",
         "0/40/0/0:012 500/40/0/0:012 1500/1/0/1:3",
         {.token_bytes = 100}},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++)
        assert_trace(read_all(rows[i].text, &rows[i].opts), rows[i].want);
}

static void test_refused(void **state)
{
    (void)state;
#define LINE(time, in, ids)                                                                        \
    "{\"timestamp\": " time ", \"input_length\": " in ", \"output_length\": 1, \"hash_ids\": " ids \
    "}"
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", "t: no request in it"},
        {"hello\n", "t:1: no trace of a kind that is known"},
        {LINE("0", "5", "[1]") "\n{\"timestamp\": }\n", "t:2: no JSON: column "},
        {"{\"timestamp\": 0}", "t:1: input_length is missing: it must be a whole number"},
        {LINE("-1", "5", "[1]"), "t:1: timestamp is -1: it must be 0 or more"},
        {LINE("0", "5.5", "[1]"), "t:1: input_length is something else"},
        {LINE("0", "5", "[1, 2]"), "hash_ids has 2 blocks, but 5 tokens make 1 of 512 tokens"},
        {LINE("0", "5", "[\"x\"]"), "hash_ids: number 1 is no whole number"},
        {LINE("0", "5", "7"), "hash_ids is no list"},
        {LINE("0", "99999999999", "[]"), "no model takes so many"},
        {"TIMESTAMP,ContextTokens\n", "t:1: the first line names no column GeneratedTokens"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 1,2,3\n",
         "t:2: \"2023-11-16 1\" is no time: it must be like 2023-11-16 18:17:03.97"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,2\n",
         "t:2: 2 columns: the first line has more"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03,-2,3\n",
         "t:2: \"-2\" is no number of tokens"},
        {"TIMESTAMP,ContextTokens,GeneratedTokens\n1011-11-16 18:17:03,2,3\n", "is out of range"},
        {"Timestamp,Operation,Object_Size_Bytes,Tier,Key,Phase\n", "t:1: objects have bytes"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_err_t err = {0};
        const rb_trace_load_opts_t opts = {0};
        assert_null(rb_trace_read("t", rows[i].text, strlen(rows[i].text), &opts, &err));
        assert_int_equal(err.code, RB_ERR_INPUT);
        if (strstr(err.text, rows[i].want) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i].want);
    }
    rb_err_t err = {0};
    assert_null(rb_trace_open("/nowhere/t.jsonl", NULL, &err));
    assert_string_equal(err.text, "open /nowhere/t.jsonl: No such file or directory");
}

static void test_reblock(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_trace_stats_t s;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    assert_int_equal(rb_trace_reblock(trace, 16, &err), 0);
    rb_trace_stats(trace, &s);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++)
        blocks += (trace->requests[i].input_tokens + 15) / 16;
    assert_int_equal(s.references, blocks);
    /* the same prefixes are hit, in blocks of 16 tokens: only a last, partial block differs */
    assert_float_equal((float)s.infinite_tokens / (float)s.input_tokens, .3736F, .0001F);
    assert_int_equal(rb_trace_reblock(trace, 512, &err), 0);
    rb_trace_stats(trace, &s);
    assert_int_equal(s.references, 288500);
    assert_int_equal(s.distinct, 182790); /* there and back */
    assert_int_equal(s.infinite_hits, 105710);
    assert_int_equal(rb_trace_reblock(trace, 500, &err), -1);
    assert_non_null(strstr(err.text, "tokens_per_block is 500, and the trace has blocks of 512"));
}

static void test_join(void **state)
{
    (void)state;
    rb_err_t err = {0};
    const rb_trace_load_opts_t opts = {.block_tokens = 16};
    rb_trace_t *t =
        read_all(LINE("0", "70", "[1, 2, 3, 4, 5]") "\n" LINE("1", "64", "[1, 2, 3, 6]"), &opts);
    assert_int_equal(rb_trace_reblock(t, 32, &err), 0); /* 1-2, 3-4, 5; 1-2, 3-6 */
    assert_trace(t, "0/70/1/0:012 1/64/1/1:03");
}

static void test_decode(void **state)
{
    (void)state;
    rb_err_t err = {0};
    const rb_trace_load_opts_t opts = {.block_tokens = 1};
    rb_trace_t *t = read_all(LINE("0", "2", "[1, 2]") "\n" LINE("1", "1", "[1]"), &opts);
    assert_int_equal(rb_trace_decode(t, &err), 0);
    assert_trace(t, "0/2/1/0:01;2 1/1/1/1:0;3");
}

static void test_jitter(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    RB_AUTO(rb_trace_destroy) rb_trace_t *same = conversation();
    rb_trace_jitter(trace, 3 * RB_NS_PER_S, 7);
    rb_trace_jitter(same, 3 * RB_NS_PER_S, 7);
    uint32_t together = 0;
    assert_int_equal(trace->requests[0].due_ns, 0);
    for (uint32_t i = 1; i < trace->nrequests; i++) {
        assert_int_equal(trace->requests[i].due_ns, same->requests[i].due_ns);
        assert_true(trace->requests[i].due_ns >= trace->requests[i - 1].due_ns);
        together += trace->requests[i].due_ns == trace->requests[i - 1].due_ns;
    }
    assert_true(together < 3); /* 10851 arrive with another one as it is published */
    assert_int_equal(rb_trace_due(trace, trace->nrequests, 1000000), trace->period_ns);
    assert_int_equal(rb_trace_due(trace, trace->nrequests, 2000000), trace->period_ns / 2);
}

static rb_trace_t *made(const char *text)
{
    rb_err_t err = {0};
    rb_trace_t *trace = rb_trace_open(text, NULL, &err);
    if (trace == NULL)
        fail_msg("%s", err.text);
    return trace;
}

static void test_made(void **state)
{
    (void)state;
    static const char text[] =
        "generate:coding,users=20,duration=60s,system=1024,systems=2,tokens_per_block=64,seed=5";
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = made(text);
    RB_AUTO(rb_trace_destroy) rb_trace_t *same = made(text);
    assert_int_equal(trace->nblocks, same->nblocks);
    assert_memory_equal(trace->blocks, same->blocks, trace->nblocks * sizeof(uint32_t));
    uint32_t roots[2] = {trace->blocks[trace->requests[0].first], UINT32_MAX}, long_answers = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        const rb_trace_request_t *r = &trace->requests[i];
        uint32_t root = trace->blocks[r->first];
        roots[1] = root == roots[0] ? roots[1] : RB_MIN(root, roots[1]);
        assert_true(root == roots[0] || root == roots[1]); /* one of two system prompts */
        assert_true(r->input_tokens >= 1024 + 1024 && r->due_ns < 60 * RB_NS_PER_S);
        assert_int_equal(r->nprompt, (r->input_tokens + 63) / 64);
        long_answers += r->input_tokens >= 10000 && r->output_tokens > 0;
    }
    assert_int_equal(long_answers, 0);
    rb_trace_stats_t s;
    rb_trace_stats(trace, &s);
    assert_true(s.infinite_hits * 2 > s.references); /* turns go on: 80 % of them */
    /* 20 users, a turn in 0.6 s */
    assert_true(trace->nrequests > 1800 && trace->nrequests < 2200);
}

static void test_made_refused(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"generate:", "generate:: unknown kind of user ''; chatbot, coding"},
        {"generate:users=0", "generate:users: 0: it must be 1 to"},
        {"generate:context=9-3", "generate:context: \"9-3\" is no range"},
        {"generate:go_on=1", "is no chance: it must be 0 to 0.999"},
        {"generate:colour=1", "unknown key of a made-up trace 'colour'; users, duration"},
        {"generate:think=0s", "context and think are above 0"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_err_t err = {0};
        assert_null(rb_trace_open(rows[i][0], NULL, &err));
        if (strstr(err.text, rows[i][1]) == NULL)
            fail_msg("\"%s\" does not say \"%s\"", err.text, rows[i][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversation), cmocka_unit_test(test_formats),
        cmocka_unit_test(test_refused),      cmocka_unit_test(test_reblock),
        cmocka_unit_test(test_join),         cmocka_unit_test(test_decode),
        cmocka_unit_test(test_jitter),       cmocka_unit_test(test_made),
        cmocka_unit_test(test_made_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
