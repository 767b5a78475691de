/* test_verify_watch.c - stale blocks are found whatever order a reader takes, and nothing else is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/verify_watch.h"
#include "agent/workload/permutation.h"
#include "common/rng.h"

enum { BLOCKS = 60, BS = 4096 };

/* What a drive holds after a writer of that order wrote `count` blocks. */
typedef struct {
    rb_order_t order;
    uint64_t count;
    uint64_t sequence[BLOCKS]; /* of the write in the block; UINT64_MAX: none */
} drive_t;

static uint64_t block_of(const rb_order_t *o, uint64_t sequence)
{
    rb_permutation_t p;
    if (o->kind == RB_ORDER_SEQUENTIAL)
        return sequence % o->period;
    rb_permutation_init(&p, o->period, o->seed, sequence / o->period);
    return rb_permutation_at(&p, sequence % o->period);
}

static void write_drive(drive_t *d, rb_order_kind_t kind, uint64_t seed, uint64_t count)
{
    *d = (drive_t){.order = {kind, BLOCKS, seed}, .count = count};
    memset(d->sequence, 0xff, sizeof(d->sequence));
    for (uint64_t s = 0; s < count; s++)
        d->sequence[block_of(&d->order, s)] = s;
}

static rb_verify_found_t block(const drive_t *d, uint64_t i)
{
    return (rb_verify_found_t){.length_bytes = BS,
                               .run = 7,
                               .offset_bytes = i * BS,
                               .sequence = d->sequence[i],
                               .writer = {0, 1, 2, d->order}};
}

typedef struct {
    uint32_t n;
    bool stale[BLOCKS];
    rb_verify_found_t last;
} found_t;

static void note(found_t *f, const rb_verify_found_t *found)
{
    uint64_t i = found->offset_bytes / BS;
    assert_int_equal(found->verdict, RB_VERIFY_STALE);
    assert_int_equal(found->offset_bytes, found->expected.offset_bytes);
    f->n += !f->stale[i];
    f->stale[i] = true;
    f->last = *found;
}

/* n blocks, every stride-th from start on; stride prime to BLOCKS. */
typedef struct {
    uint64_t start, stride, n;
} way_t;

static void read_part(rb_watch_t *w, const drive_t *d, way_t way, found_t *f)
{
    for (uint64_t k = 0; k < way.n; k++) {
        uint64_t i = (way.start + k * way.stride) % BLOCKS;
        rb_verify_found_t found = block(d, i);
        if (d->sequence[i] != UINT64_MAX && !rb_watch_see(w, &found))
            note(f, &found);
    }
}

static void read_all(const drive_t *d, uint64_t start, uint64_t stride, found_t *f)
{
    rb_watch_t *w = rb_watch_new();
    rb_verify_found_t found;
    memset(f, 0, sizeof(*f));
    read_part(w, d, (way_t){start, stride, BLOCKS}, f);
    while (rb_watch_take(w, &found))
        note(f, &found);
    assert_int_equal(rb_watch_unknown(w), 0);
    rb_watch_destroy(&w);
}

static const uint64_t strides[] = {1, 7, 59}; /* up, about, down */

static void a_drive_without_a_fault_is_right(void **state)
{
    (void)state;
    drive_t d;
    found_t f;
    for (uint64_t count = 1; count < 4 * BLOCKS; count++)
        for (size_t i = 0; i < RB_LEN(strides); i++) {
            write_drive(&d, RB_ORDER_SEQUENTIAL, 0, count);
            read_all(&d, count, strides[i], &f);
            assert_int_equal(f.n, 0);
            write_drive(&d, RB_ORDER_PERMUTED, count / 50, count);
            read_all(&d, count, strides[i], &f);
            assert_int_equal(f.n, 0);
        }
}

/* The write `lost` never came to the drive, though later ones did. */
static void expect_lost(rb_order_kind_t kind, uint64_t count, uint64_t lost)
{
    drive_t d;
    found_t f;
    write_drive(&d, kind, 5, count);
    uint64_t i = block_of(&d.order, lost), old = 0;
    for (uint64_t s = 0; s < lost; s++)
        old = block_of(&d.order, s) == i ? s : old;
    assert_int_equal(d.sequence[i], lost);
    d.sequence[i] = old;
    for (size_t k = 0; k < RB_LEN(strides); k++)
        for (uint64_t start = 0; start < BLOCKS; start += 11) {
            read_all(&d, start, strides[k], &f);
            assert_int_equal(f.n, 1);
            assert_true(f.stale[i]);
            assert_int_equal(f.last.sequence, old);
            assert_int_equal(f.last.expected.sequence, lost);
        }
}

static void each_lost_write_is_found(void **state)
{
    (void)state;
    for (uint64_t count = 2 * BLOCKS; count < 3 * BLOCKS; count += 13)
        for (uint64_t lost = count - BLOCKS; lost + 1 < count; lost++)
            expect_lost(RB_ORDER_SEQUENTIAL, count, lost);
    for (uint64_t count = 2 * BLOCKS; count < 3 * BLOCKS; count += 13)
        for (uint64_t lost = count / BLOCKS * BLOCKS - BLOCKS; lost + 1 < count; lost++) {
            drive_t d;
            write_drive(&d, RB_ORDER_PERMUTED, 5, count);
            if (d.sequence[block_of(&d.order, lost)] == lost) /* not written again since */
                expect_lost(RB_ORDER_PERMUTED, count, lost);
        }
}

static void workers_share_what_they_saw(void **state)
{
    (void)state;
    drive_t d;
    found_t f = {0};
    rb_verify_found_t found;
    rb_watch_t *a = rb_watch_new(), *b = rb_watch_new();
    write_drive(&d, RB_ORDER_SEQUENTIAL, 0, 2 * BLOCKS + 10);
    d.sequence[5] = 5 + BLOCKS; /* write 5 + 2 x BLOCKS is lost: only one reader sees that */
    read_part(a, &d, (way_t){BLOCKS / 2, 1, BLOCKS / 2}, &f);
    read_part(b, &d, (way_t){5, 1, 1}, &f);
    assert_false(rb_watch_take(a, &found) || rb_watch_take(b, &found));
    rb_watch_t *c = rb_watch_new();
    read_part(c, &d, (way_t){0, 1, 5}, &f);
    read_part(c, &d, (way_t){6, 1, 4}, &f);
    assert_int_equal(f.n, 0);
    rb_watch_merge(a, b);
    rb_watch_merge(a, c);
    assert_true(rb_watch_take(a, &found));
    assert_int_equal(found.offset_bytes, 5 * BS);
    assert_int_equal(found.expected.sequence, 5 + 2 * BLOCKS);
    assert_false(rb_watch_take(a, &found));
    rb_watch_destroy(&a);
    rb_watch_destroy(&b);
    rb_watch_destroy(&c);
}

/* The same sequences of another run, phase, job, worker or region are no older than ours. */
static void counters_are_told_apart(void **state)
{
    (void)state;
    drive_t d;
    rb_watch_t *w = rb_watch_new();
    write_drive(&d, RB_ORDER_SEQUENTIAL, 0, 3 * BLOCKS);
    for (int i = 0; i < 6; i++) {
        rb_verify_found_t newest = block(&d, 0), old = newest;
        old.sequence = 0;
        old.run += i == 0;
        old.writer.phase += i == 1;
        old.writer.job += i == 2;
        old.writer.worker += i == 3;
        old.writer.order.period -= i == 4;
        old.writer.order.kind = i == 5 ? RB_ORDER_NONE : RB_ORDER_SEQUENTIAL;
        assert_true(rb_watch_see(w, &newest));
        assert_true(rb_watch_see(w, &old));
    }
    rb_watch_destroy(&w);
}

static void more_counters_than_places_are_said(void **state)
{
    (void)state;
    drive_t d;
    rb_watch_t *w = rb_watch_new();
    write_drive(&d, RB_ORDER_SEQUENTIAL, 0, BLOCKS);
    for (uint32_t i = 0; i < RB_WATCH_WRITERS + 3; i++) {
        rb_verify_found_t found = block(&d, 1);
        found.writer.worker = i * 1000;
        assert_true(rb_watch_see(w, &found));
    }
    assert_int_equal(rb_watch_unknown(w), 3);
    rb_watch_destroy(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drive_without_a_fault_is_right),
        cmocka_unit_test(each_lost_write_is_found),
        cmocka_unit_test(workers_share_what_they_saw),
        cmocka_unit_test(counters_are_told_apart),
        cmocka_unit_test(more_counters_than_places_are_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
