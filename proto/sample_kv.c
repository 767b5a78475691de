#include "proto/sample_kv.h"

/* Times as differences to the due time: short, where they are near it. */
static void put_part(msgpack_packer *pk, const rb_kv_row_part_t *p)
{
    RB_ASSERT(p->first_at_ns >= p->due_at_ns && p->end_at_ns >= p->first_at_ns);
    msgpack_pack_array(pk, 12);
    msgpack_pack_uint32(pk, p->request);
    msgpack_pack_uint8(pk, p->writes);
    msgpack_pack_uint32(pk, p->part);
    msgpack_pack_int64(pk, p->due_at_ns);
    msgpack_pack_int64(pk, p->first_at_ns - p->due_at_ns);
    msgpack_pack_int64(pk, p->end_at_ns - p->due_at_ns);
    msgpack_pack_uint64(pk, p->bytes);
    msgpack_pack_uint64(pk, p->blocks);
    msgpack_pack_uint32(pk, p->drives);
    msgpack_pack_uint32(pk, p->hosts);
    msgpack_pack_uint32(pk, p->tokens);
    msgpack_pack_uint32(pk, p->failed);
}

static void put_place(msgpack_packer *pk, uint32_t phase, uint32_t job, uint32_t target,
                      uint32_t drive)
{
    msgpack_pack_uint32(pk, phase);
    msgpack_pack_uint32(pk, job);
    msgpack_pack_uint32(pk, target);
    msgpack_pack_uint32(pk, drive);
}

void rb_row_kv_parts_put(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_kv_parts_t *r = &row->kv_parts;
    put_place(pk, r->phase, r->job, r->target, r->drive);
    RB_ASSERT(r->nparts <= RB_MAX_KV_ROW_PARTS);
    msgpack_pack_array(pk, r->nparts);
    for (size_t i = 0; i < r->nparts; i++)
        put_part(pk, &r->parts[i]);
}

static void put_hits(msgpack_packer *pk, const rb_kv_hits_t *h)
{
    const uint64_t figures[] = {h->requests,   h->references,   h->gpu_hits,  h->dram_hits,
                                h->drive_hits, h->input_tokens, h->hit_tokens};
    msgpack_pack_array(pk, RB_LEN(figures));
    for (size_t i = 0; i < RB_LEN(figures); i++)
        msgpack_pack_uint64(pk, figures[i]);
}

void rb_row_kv_drive_put(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_kv_drive_t *r = &row->kv_drive;
    put_place(pk, r->phase, r->job, r->target, r->drive);
    const uint64_t figures[] = {r->read_blocks,      r->written_blocks, r->evicted_blocks,
                                r->waited_for_write, r->not_begun,      r->slots,
                                r->slot_bytes,       r->prefilled};
    for (size_t i = 0; i < RB_LEN(figures); i++)
        msgpack_pack_uint64(pk, figures[i]);
    put_hits(pk, &r->planned);
    put_hits(pk, &r->filled);
    msgpack_pack_uint64(pk, r->infinite_hits);
    msgpack_pack_uint64(pk, r->infinite_tokens);
}

/* Nothing completes before it is due. */
static int64_t take_since(rb_cursor_t *c, const char *field, int64_t due_at_ns)
{
    uint64_t limit = due_at_ns > 0 ? (uint64_t)(INT64_MAX - due_at_ns) : INT64_MAX;
    return due_at_ns + (int64_t)rb_cursor_u64(c, field, limit);
}

static void take_part(rb_cursor_t *c, rb_kv_row_part_t *p)
{
    size_t more = rb_cursor_enter(c, "part", 12);
    p->request = rb_cursor_u32(c, "request", UINT32_MAX - 1);
    p->writes = rb_cursor_u32(c, "writes", 1) == 1;
    p->part = (rb_part_t)rb_cursor_u32(c, "part", RB_PART_COUNT - 1);
    p->due_at_ns = take_i64(c, "due_at_ns");
    p->first_at_ns = take_since(c, "first_at_ns", p->due_at_ns);
    p->end_at_ns = take_since(c, "end_at_ns", p->due_at_ns);
    p->bytes = take_u64(c, "bytes");
    p->blocks = take_u64(c, "blocks");
    p->drives = rb_cursor_u32(c, "drives", UINT32_MAX);
    p->hosts = rb_cursor_u32(c, "hosts", RB_MAX_HOSTS);
    p->tokens = rb_cursor_u32(c, "tokens", UINT32_MAX);
    p->failed = rb_cursor_u32(c, "failed", UINT32_MAX);
    rb_cursor_leave(c, more);
}

void rb_row_kv_parts_take(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_kv_parts_t *r = &row->kv_parts;
    r->phase = take_phase(c);
    r->job = take_job(c);
    r->target = take_target(c);
    r->drive = take_drive(c);
    r->nparts = rb_cursor_array(c, "parts", RB_MAX_KV_ROW_PARTS, 13);
    r->parts = rb_calloc(r->nparts, sizeof(*r->parts));
    for (size_t i = 0; i < r->nparts && !c->failed; i++) {
        take_part(c, &r->parts[i]);
        if (c->failed)
            rb_err_wrap(c->err, "part %zu", i);
    }
}

static void take_hits(rb_cursor_t *c, const char *field, rb_kv_hits_t *h)
{
    size_t more = rb_cursor_enter(c, field, 7);
    h->requests = take_u64(c, "requests");
    h->references = take_u64(c, "references");
    h->gpu_hits = take_u64(c, "gpu_hits");
    h->dram_hits = take_u64(c, "dram_hits");
    h->drive_hits = take_u64(c, "drive_hits");
    h->input_tokens = take_u64(c, "input_tokens");
    h->hit_tokens = take_u64(c, "hit_tokens");
    rb_cursor_leave(c, more);
}

void rb_row_kv_drive_take(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_kv_drive_t *r = &row->kv_drive;
    r->phase = take_phase(c);
    r->job = take_job(c);
    r->target = take_target(c);
    r->drive = take_drive(c);
    r->read_blocks = take_u64(c, "read_blocks");
    r->written_blocks = take_u64(c, "written_blocks");
    r->evicted_blocks = take_u64(c, "evicted_blocks");
    r->waited_for_write = take_u64(c, "waited_for_write");
    r->not_begun = take_u64(c, "not_begun");
    r->slots = take_u64(c, "slots");
    r->slot_bytes = take_u64(c, "slot_bytes");
    r->prefilled = take_u64(c, "prefilled");
    take_hits(c, "planned", &r->planned);
    take_hits(c, "filled", &r->filled);
    r->infinite_hits = take_u64(c, "infinite_hits");
    r->infinite_tokens = take_u64(c, "infinite_tokens");
}
