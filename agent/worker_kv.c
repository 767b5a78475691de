#include "agent/worker_kv.h"

#include "agent/layout.h"
#include "common/units.h"

/* The queue has filled in what comes next. */
static uint32_t next(void *self, rb_io_t *ios, uint32_t n)
{
    (void)self;
    (void)ios;
    return n;
}

static const rb_workload_t from_queue = {"kv_cache", next};

int rb_worker_kv_set(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    char bs[RB_FMT_SIZE], most[RB_FMT_SIZE];
    if (w->o.kv == NULL)
        return rb_err_set(err, RB_ERR_INTERNAL, "job '%s': its KV cache was not planned",
                          job->name);
    const rb_kv_setup_t *setup = rb_kv_share_setup(w->o.kv);
    uint64_t cut_bytes = setup->io_size_bytes > 0 ? setup->io_size_bytes : UINT64_MAX;
    w->block.bs_bytes = RB_MIN(setup->geometry.piece_io_bytes, cut_bytes);
    if (w->block.bs_bytes > RB_MAX_BS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': I/Os of %s; %s at most: set restore: {io_size: 1MiB}",
                          job->name, rb_fmt_bytes(bs, sizeof(bs), w->block.bs_bytes),
                          rb_fmt_bytes(most, sizeof(most), RB_MAX_BS));
    w->load = &from_queue;
    w->open_loop = w->counted = w->checks = true;
    w->stamps = job->verify;
    w->verify = (rb_verify_t){.run = w->o.run};
    w->verify.writer = (rb_verify_writer_t){.phase = w->o.phase, .job = w->o.job_index};
    w->limit_ops = w->limit_bytes = w->left_ops = w->left_bytes = UINT64_MAX;
    return 0;
}

uint64_t rb_worker_kv_fill_bytes(const rb_worker_t *w)
{
    if (w->o.kv == NULL || !w->o.subject->at.is_device || !rb_kv_share_setup(w->o.kv)->plan.full)
        return 0;
    return rb_kv_share_slots(w->o.kv, w->o.kv_ordinal) *
           rb_kv_share_setup(w->o.kv)->geometry.slot_bytes;
}

/* A device that has been used before is as full as it will get; a file was laid out in full. */
static int fill_drive(rb_worker_t *w, rb_err_t *err)
{
    rb_layout_stats_t stats = {.service = rb_hist_new()};
    rb_layout_opts_t o = {.path = w->o.subject->at.path,
                          .size_bytes = rb_worker_kv_fill_bytes(w),
                          .seed = w->o.seed,
                          .done_bytes = &w->o.crew->layout_done_bytes,
                          .give_up = &w->o.crew->give_up};
    int rc = rb_layout_fill(&o, w->fd, &stats, err);
    rb_hist_destroy(&stats.service);
    return rc;
}

int rb_worker_kv_prepare(rb_worker_t *w, rb_err_t *err)
{
    if (rb_kv_share_build(w->o.kv, err) < 0)
        return -1;
    w->kv = rb_kv_share_queue(w->o.kv, w->o.kv_ordinal);
    w->kv_slots = rb_calloc(w->iodepth, sizeof(*w->kv_slots));
    w->kv_taken = rb_calloc(RB_MAX_BATCH, sizeof(*w->kv_taken));
    return rb_worker_kv_fill_bytes(w) > 0 ? fill_drive(w, err) : 0;
}

void rb_worker_kv_clear(rb_worker_t *w)
{
    free(w->kv_slots);
    free(w->kv_taken);
    w->kv_slots = w->kv_taken = NULL;
}

uint64_t rb_worker_kv_due_ns(const rb_worker_t *w)
{
    uint64_t due_ns = rb_kv_queue_due_ns(w->kv);
    return due_ns == UINT64_MAX ? due_ns : rb_timeline_local_ns(&w->line, due_ns);
}

void rb_worker_kv_begin(rb_worker_t *w)
{
    uint64_t due_ns = rb_worker_kv_due_ns(w);
    w->account.first_due_ns = due_ns == UINT64_MAX ? w->t0_ns : due_ns;
}

static uint64_t since_t0_ns(const rb_worker_t *w, uint64_t now_ns)
{
    int64_t at_ns = rb_timeline_at_ns(&w->line, now_ns);
    return at_ns > 0 ? (uint64_t)at_ns : 0;
}

static rb_op_t op_of(const rb_kv_io_t *io)
{
    switch ((rb_kv_op_t)io->op) {
    case RB_KV_PART_READ:
        return RB_OP_READ;
    case RB_KV_PART_WRITE:
        return RB_OP_WRITE;
    case RB_KV_PART_DISCARD:
        return RB_OP_TRIM;
    }
    rb_assert_failed("a part is read, written or discarded", __FILE__, __LINE__);
}

uint32_t rb_worker_kv_take(rb_worker_t *w, uint64_t now_ns, uint32_t n)
{
    n = rb_kv_queue_take(w->kv, since_t0_ns(w, now_ns), w->kv_taken, n);
    for (uint32_t i = 0; i < n; i++) {
        const rb_kv_io_t *io = &w->kv_taken[i];
        w->ios[i] = (rb_io_t){io->offset_bytes, (uint32_t)io->size_bytes, op_of(io), RB_IO_PLAIN};
        w->due[i] = rb_timeline_local_ns(&w->line, io->due_ns);
    }
    w->waited_ns = 0; /* what is late waits for its slot, not for us */
    return n;
}

/* Sizes differ: each I/O is an interval of its own. */
static rb_verify_t verify_of(const rb_worker_t *w, uint64_t size_bytes)
{
    rb_verify_t v = w->verify;
    v.interval_bytes = size_bytes;
    return v;
}

void rb_worker_kv_fill(rb_worker_t *w, uint32_t n)
{
    const uint32_t *slots = w->free + w->nfree;
    for (uint32_t i = 0; i < n; i++) {
        const rb_kv_io_t *io = &w->kv_taken[i];
        uint8_t *block = w->write_buffers + slots[i] * w->stride_bytes;
        rb_verify_place_t place = {.offset_bytes = io->offset_bytes, .sequence = io->sequence};
        rb_verify_t v = verify_of(w, io->size_bytes);
        w->kv_slots[slots[i]] = *io;
        if (io->op != RB_KV_PART_WRITE)
            continue;
        rb_data_fill(&w->data, block, io->size_bytes, io->offset_bytes, w->sequence++);
        if (w->stamps)
            rb_verify_stamp(&v, block, io->size_bytes, &place);
    }
}

void rb_worker_kv_done(rb_worker_t *w, uint32_t index, bool failed)
{
    const rb_kv_io_t *io = &w->kv_slots[index];
    rb_kv_done_t done = {io->part, io->step, failed, w->part, since_t0_ns(w, w->now_ns)};
    rb_kv_queue_done(w->kv, &done);
}

/* Slots are written one after the other, so that a block must be the very one. */
static bool is_right(const rb_worker_t *w, uint32_t index, rb_verify_found_t *found)
{
    const rb_kv_io_t *io = &w->kv_slots[index];
    rb_verify_place_t place = {
        .offset_bytes = io->offset_bytes, .sequence = io->sequence, .phase = w->o.phase};
    rb_verify_t v = verify_of(w, io->size_bytes);
    const uint8_t *block = w->read_buffers + index * w->stride_bytes;
    if (rb_verify_check(&v, block, io->size_bytes, &place, found) != RB_VERIFY_OK)
        return false;
    if (found->sequence == io->sequence)
        return true;
    found->verdict = RB_VERIFY_STALE;
    return false;
}

bool rb_worker_kv_check(rb_worker_t *w, uint32_t index, rb_io_error_t *ret_error)
{
    const rb_slot_t *slot = &w->slots[index];
    bool right = true;
    if (w->stamps && slot->op == RB_OP_READ && w->kv_slots[index].sequence > 0) {
        *ret_error = (rb_io_error_t){
            .offset_bytes = slot->offset_bytes, .size_bytes = slot->size_bytes, .op = RB_OP_READ};
        right = is_right(w, index, &ret_error->found);
        w->account.checked++;
        w->account.wrong += !right;
    }
    rb_worker_kv_done(w, index, !right);
    return right;
}
