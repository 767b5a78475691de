/* test_kv_queue.c - order, waits and limits of what a drive does of a KV plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/kv_queue.h"
#include "common/rng.h"

/* Two layers of two pages and a slot of four: small, but cut and ordered like the real ones. */
static const rb_kv_geometry_t geometry = {
    .piece_ios = 2, .piece_io_bytes = 8192, .slot_bytes = 16384, .full_slot_bytes = 16384};

static const rb_kv_queue_opts_t plain = {
    .geometry = &geometry, .first_ios = 1, .nservers = 2, .discards = true};

static void add(rb_kv_queue_t *q, rb_kv_op_t op, uint32_t request, uint64_t due_ns, uint32_t slot)
{
    rb_err_t err = {0};
    rb_kv_part_t part = {.block = 100u * request + slot,
                         .due_ns = due_ns,
                         .slot = slot,
                         .request = request,
                         .op = (uint8_t)op};
    assert_int_equal(rb_kv_queue_add(q, &part, request % 2, &err), 0);
}

/* "slot.step" of each I/O that is taken at now_ns, up to 16. */
static void assert_taken(rb_kv_queue_t *q, uint64_t now_ns, const char *want)
{
    rb_kv_io_t ios[16];
    char got[200] = "";
    uint32_t n = rb_kv_queue_take(q, now_ns, ios, RB_LEN(ios));
    for (uint32_t i = 0; i < n; i++) {
        size_t at = strlen(got);
        snprintf(got + at, sizeof(got) - at, "%s%u.%u", i > 0 ? " " : "",
                 (unsigned)(ios[i].offset_bytes / geometry.slot_bytes), ios[i].step);
    }
    assert_string_equal(got, want);
}

static void step_done(rb_kv_queue_t *q, uint32_t part, uint32_t step, bool failed, uint64_t now_ns)
{
    rb_kv_queue_done(q, &(rb_kv_done_t){part, step, failed, RB_PART_MAIN, now_ns});
}

static void done(rb_kv_queue_t *q, uint32_t part, uint64_t now_ns)
{
    step_done(q, part, 0, false, now_ns);
    step_done(q, part, 1, false, now_ns);
}

static void test_due_times_and_layers(void **state)
{
    (void)state;
    rb_kv_queue_opts_t opts = plain;
    opts.by_layer = true;
    RB_AUTO(rb_kv_queue_destroy) rb_kv_queue_t *q = rb_kv_queue_new(&opts);
    add(q, RB_KV_PART_READ, 0, 20, 1);
    add(q, RB_KV_PART_READ, 0, 20, 2);
    add(q, RB_KV_PART_READ, 1, 10, 3);
    rb_kv_queue_seal(q);
    assert_int_equal(rb_kv_queue_ios(q), 6);
    assert_int_equal(rb_kv_queue_due_ns(q), 10);
    assert_taken(q, 9, "");
    assert_taken(q, 10, "3.0 3.1");
    assert_int_equal(rb_kv_queue_due_ns(q), 20);
    assert_taken(q, 25, "1.0 2.0 1.1 2.1");
    step_done(q, 0, 0, false, 30);
    step_done(q, 1, 1, false, 40);
    step_done(q, 1, 0, true, 50);
    assert_null(rb_kv_queue_finished(q, 0));
    step_done(q, 0, 1, false, 60);
    const rb_kv_batch_t *b = rb_kv_queue_finished(q, 0);
    assert_int_equal(b->request, 0);
    assert_int_equal(b->first_ns, 50);
    assert_int_equal(b->end_ns, 60);
    assert_int_equal(b->failed, 1);
    assert_int_equal(b->part, RB_PART_MAIN);
    assert_int_equal(rb_kv_queue_undone(q, UINT64_MAX), 1);
    assert_int_equal(b->bytes, 2 * geometry.slot_bytes);
    assert_null(rb_kv_queue_finished(q, 1));
    assert_taken(q, 99, "");
    assert_true(rb_kv_queue_empty(q));
}

/* A long I/O is cut; what is cut still belongs to its layer. */
static void test_io_size(void **state)
{
    (void)state;
    rb_kv_queue_opts_t opts = plain;
    opts.io_size_bytes = 4096;
    RB_AUTO(rb_kv_queue_destroy) rb_kv_queue_t *q = rb_kv_queue_new(&opts);
    add(q, RB_KV_PART_READ, 0, 0, 1);
    rb_kv_queue_seal(q);
    rb_kv_io_t ios[8];
    assert_int_equal(rb_kv_queue_take(q, 0, ios, 8), 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(ios[i].offset_bytes, 16384 + 4096 * i);
        assert_int_equal(ios[i].size_bytes, 4096);
    }
    step_done(q, 0, 0, false, 1);
    step_done(q, 0, 1, false, 2);
    step_done(q, 0, 2, false, 3);
    step_done(q, 0, 3, false, 4);
    assert_int_equal(rb_kv_queue_finished(q, 0)->first_ns, 2);
}

/* write, read, read, discard, write of one slot: each waits for what is before it. */
static void test_slot_order(void **state)
{
    (void)state;
    RB_AUTO(rb_kv_queue_destroy) rb_kv_queue_t *q = rb_kv_queue_new(&plain);
    add(q, RB_KV_PART_WRITE, 0, 5, 7);
    add(q, RB_KV_PART_READ, 1, 6, 7);
    add(q, RB_KV_PART_READ, 2, 90, 7);
    add(q, RB_KV_PART_DISCARD, 3, 7, 7);
    add(q, RB_KV_PART_WRITE, 3, 7, 7);
    rb_kv_queue_seal(q);
    assert_taken(q, 8, "7.0 7.1");
    step_done(q, 0, 0, false, 9);
    assert_taken(q, 9, "");
    step_done(q, 0, 1, false, 10);
    assert_int_equal(rb_kv_queue_waited(q), 1); /* of request 1: due at 6; 2 is due at 90 */
    assert_taken(q, 10, "7.0 7.1");
    done(q, 1, 11);
    assert_taken(q, 89, "");
    assert_taken(q, 90, "7.0 7.1");
    assert_false(rb_kv_queue_empty(q));
    done(q, 2, 91);
    assert_taken(q, 92, "7.0"); /* the discard is one I/O */
    step_done(q, 3, 0, false, 93);
    assert_taken(q, 94, "7.0 7.1");
    done(q, 4, 95);
    assert_taken(q, 96, "");
    assert_true(rb_kv_queue_empty(q));
}

static void test_limits(void **state)
{
    (void)state;
    rb_kv_queue_opts_t opts = plain;
    opts.inflight_per_request = 1;
    opts.per_server = 1;
    RB_AUTO(rb_kv_queue_destroy) rb_kv_queue_t *q = rb_kv_queue_new(&opts);
    add(q, RB_KV_PART_READ, 0, 0, 1);
    add(q, RB_KV_PART_READ, 2, 0, 2);
    add(q, RB_KV_PART_READ, 1, 0, 3);
    add(q, RB_KV_PART_WRITE, 2, 0, 4);
    rb_kv_queue_seal(q);
    assert_taken(q, 0, "1.0 3.0 4.0 4.1"); /* writes have no limit; request 2 waits for 0 */
    step_done(q, 0, 0, false, 1);
    assert_taken(q, 1, "1.1");
    step_done(q, 0, 1, false, 2);
    assert_taken(q, 2, "2.0");
}

enum { PARTS = 3000, SLOTS = 40 };

typedef struct {
    rb_kv_part_t parts[PARTS];
    uint64_t holds[SLOTS]; /* block that a slot holds now; being written: BUSY */
    uint32_t readers[SLOTS];
    uint64_t wants[PARTS]; /* of a read: the block */
    uint32_t taken[PARTS];
    rb_kv_io_t flying[64];
    uint32_t nflying, finished;
} course_t;
#define BUSY (UINT64_MAX - 1)

static void fill_course(course_t *c, rb_kv_queue_t *q, rb_rng_t *rng)
{
    uint64_t held[SLOTS];
    rb_err_t err = {0};
    memset(held, 0xff, sizeof(held));
    for (uint32_t i = 0; i < PARTS; i++) {
        rb_kv_part_t *p = &c->parts[i];
        p->slot = (uint32_t)rb_rng_below(rng, SLOTS);
        p->op = rb_rng_below(rng, 3) > 0 ? RB_KV_PART_READ : RB_KV_PART_WRITE;
        p->request = i / 5;
        p->due_ns = p->request + (p->op == RB_KV_PART_READ ? 0 : rb_rng_below(rng, 300));
        if (p->op == RB_KV_PART_WRITE)
            held[p->slot] = i;
        p->block = c->wants[i] = held[p->slot];
        assert_int_equal(rb_kv_queue_add(q, p, p->request % 2, &err), 0);
    }
    memset(c->holds, 0xff, sizeof(c->holds));
    rb_kv_queue_seal(q);
}

static void check_taken(course_t *c, const rb_kv_io_t *io, uint64_t now_ns)
{
    const rb_kv_part_t *p = &c->parts[io->part];
    assert_true(p->due_ns <= now_ns);
    assert_false(c->taken[io->part] & 1u << io->step);
    bool first = c->taken[io->part] == 0;
    c->taken[io->part] |= 1u << io->step;
    if (p->op == RB_KV_PART_READ) {
        assert_true(c->holds[p->slot] == c->wants[io->part]);
        c->readers[p->slot] += first;
    } else {
        assert_int_equal(c->readers[p->slot], 0);
        assert_true(!first || c->holds[p->slot] != BUSY);
        c->holds[p->slot] = BUSY;
    }
}

static void complete_one(course_t *c, rb_kv_queue_t *q, rb_rng_t *rng, uint64_t now_ns)
{
    uint32_t i = (uint32_t)rb_rng_below(rng, c->nflying);
    rb_kv_io_t io = c->flying[i];
    const rb_kv_part_t *p = &c->parts[io.part];
    c->flying[i] = c->flying[--c->nflying];
    c->taken[io.part] += 1u << 8;
    if (c->taken[io.part] >> 8 == 2 && p->op == RB_KV_PART_READ)
        c->readers[p->slot]--;
    else if (c->taken[io.part] >> 8 == 2)
        c->holds[p->slot] = p->block;
    step_done(q, io.part, io.step, false, now_ns);
}

/* Whatever the order of completions: every I/O once, each read of the block that it wants, no write
 * while somebody reads. */
static void test_any_order(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        rb_kv_queue_opts_t opts = plain;
        rb_rng_t rng;
        rb_rng_seed(&rng, seed, 0, 0);
        opts.by_layer = seed & 1;
        opts.inflight_per_request = seed & 2 ? 3 : 0;
        opts.per_server = seed & 4 ? 2 : 0;
        RB_AUTO(rb_kv_queue_destroy) rb_kv_queue_t *q = rb_kv_queue_new(&opts);
        course_t *c = rb_calloc(1, sizeof(*c));
        fill_course(c, q, &rng);
        for (uint64_t now_ns = 0; now_ns < 20000 && !rb_kv_queue_empty(q); now_ns++) {
            uint32_t room = (uint32_t)RB_LEN(c->flying) - c->nflying;
            uint32_t n = rb_kv_queue_take(q, now_ns, c->flying + c->nflying, room);
            for (uint32_t i = 0; i < n; i++)
                check_taken(c, &c->flying[c->nflying + i], now_ns);
            c->nflying += n;
            for (uint64_t k = rb_rng_below(&rng, 20); k > 0 && c->nflying > 0; k--)
                complete_one(c, q, &rng, now_ns);
        }
        assert_true(rb_kv_queue_empty(q));
        while (c->nflying > 0)
            complete_one(c, q, &rng, 20000);
        for (uint32_t i = 0; i < PARTS; i++)
            assert_int_equal(c->taken[i], 2u << 8 | 3);
        free(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_due_times_and_layers),
        cmocka_unit_test(test_io_size),
        cmocka_unit_test(test_slot_order),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
