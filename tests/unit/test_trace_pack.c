/* test_trace_pack.c - traces to bytes and back, cut anywhere and changed anywhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/llm/trace_pack.h"
#include "common/rng.h"

static rb_trace_t *made(uint32_t nrequests, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 0, 0);
    rb_trace_t *t = rb_calloc(1, sizeof(*t));
    rb_err_t err = {0};
    t->block_tokens = 512;
    t->nrequests = nrequests;
    t->requests = rb_calloc(nrequests, sizeof(*t->requests));
    for (uint32_t i = 0; i < nrequests; i++) {
        rb_trace_request_t *r = &t->requests[i];
        r->due_ns = rb_rng_below(&rng, 1ull << 42);
        r->first = t->nblocks;
        r->nprompt = (uint32_t)rb_rng_below(&rng, 40);
        r->ndecode = (uint32_t)rb_rng_below(&rng, 3);
        r->input_tokens = r->nprompt * 512;
        r->output_tokens = r->ndecode * 512;
        r->session = (uint32_t)rb_rng_below(&rng, 9);
        t->nblocks += r->nprompt + r->ndecode;
    }
    t->blocks = rb_calloc(t->nblocks + 1, sizeof(*t->blocks));
    for (uint64_t k = 0; k < t->nblocks; k++)
        t->blocks[k] = (uint32_t)rb_rng_below(&rng, 1000);
    assert_int_equal(rb_trace_finish(t, NULL, &err), 0);
    return t;
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 300; n += 37) {
        RB_AUTO(rb_trace_destroy) rb_trace_t *t = made(n, n);
        uint8_t *data = NULL;
        size_t size = 0;
        rb_err_t err = {0};
        assert_int_equal(rb_trace_pack(t, &data, &size, &err), 0);
        RB_AUTO(rb_trace_destroy) rb_trace_t *back = rb_trace_unpack(data, size, &err);
        assert_non_null(back);
        assert_int_equal(back->nrequests, t->nrequests);
        assert_int_equal(back->nblocks, t->nblocks);
        assert_int_equal(back->distinct, t->distinct);
        assert_int_equal(back->nsessions, t->nsessions);
        assert_int_equal(back->period_ns, t->period_ns);
        uint64_t at = 0;
        for (uint32_t i = 0; i < n; i++) {
            const rb_trace_request_t *a = &t->requests[i], *b = &back->requests[i];
            rb_trace_request_t want = *a;
            want.first = at; /* packed in order of time */
            if (memcmp(t->blocks + a->first, back->blocks + b->first,
                       (a->nprompt + a->ndecode) * sizeof(*t->blocks)) != 0)
                fail_msg("blocks of request %u differ", i);
            assert_memory_equal(b, &want, sizeof(want));
            at += a->nprompt + a->ndecode;
        }
        free(data);
    }
}

/* Changed bytes fail the checksum; with a right one, they must still do no harm. */
static void test_damage(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *t = made(60, 1);
    uint8_t *data = NULL;
    size_t size = 0;
    rb_err_t err = {0};
    assert_int_equal(rb_trace_pack(t, &data, &size, &err), 0);
    for (size_t n = 0; n < size; n++)
        assert_null(rb_trace_unpack(data, n, &err));
    for (size_t i = 0; i < size; i++) {
        data[i] ^= 0x81;
        assert_null(rb_trace_unpack(data, size, &err));
        assert_int_equal(err.code, RB_ERR_NET);
        data[i] ^= 0x81;
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_there_and_back),
                                       cmocka_unit_test(test_damage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
