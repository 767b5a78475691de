#include "agent/worker_verify.h"

#include "agent/worker_kv.h"

#include "agent/workload/block_next.h"
#include "common/clock.h"

#define NOT_WRITTEN UINT64_MAX
#define PAUSE_NS    RB_NS_PER_MS /* of a worker that waits for places in the log alone */

/* ---- set up ---- */

/* One counter over all blocks of the region, and of these alone? */
static rb_order_t order_of(const rb_worker_t *w)
{
    const rb_block_t *b = &w->block;
    uint32_t moving = rb_block_ops(w->o.job) & ~(1u << RB_OP_SYNC);
    bool alone = !w->o.job->has_numjobs || w->o.job->numjobs == 1;
    rb_order_t order = {RB_ORDER_NONE, b->nblocks, w->o.seed}; /* which is the host's own, too */
    if (moving != 1u << RB_OP_WRITE)
        return order;
    if (b->permuted && alone)
        order.kind = RB_ORDER_PERMUTED;
    else if (b->place == rb_block_place_sequential ||
             (b->place == rb_block_place_cursor && !b->permuted && alone))
        order.kind = RB_ORDER_SEQUENTIAL;
    return order;
}

static void set_writer(rb_worker_t *w)
{
    w->verify.writer = (rb_verify_writer_t){w->o.phase, w->o.job_index, w->o.number, order_of(w)};
    w->order_end = rb_order_end(&w->verify.writer.order, 0);
    w->guards = w->order_end < UINT64_MAX || w->o.log != NULL;
    w->checks = w->guards;
}

int rb_worker_verify_set(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    uint32_t ops = rb_block_ops(job);
    if (!job->verify && !job->verify_only)
        return 0;
    if (job->bssplit != NULL || w->block.bs_bytes % RB_VERIFY_SECTOR != 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': verify needs blocks of one size, a multiple of %d bytes; "
                          "change bs",
                          job->name, RB_VERIFY_SECTOR);
    w->verify = (rb_verify_t){.run = job->verify_only ? RB_VERIFY_ANY_RUN : w->o.run,
                              .interval_bytes = w->block.bs_bytes};
    w->stamps = job->verify && ops & 1u << RB_OP_WRITE;
    if (w->stamps)
        set_writer(w);
    if (ops & 1u << RB_OP_READ)
        w->checks = true;
    if (w->checks && !w->stamps && w->o.watches != NULL)
        w->watch = w->o.watches->items[w->o.number] = rb_watch_new();
    return 0;
}

/* This worker's part of what the log has of its drive. */
static int list_blocks(rb_worker_t *w, rb_err_t *err)
{
    const rb_job_log_t *log = w->o.log;
    uint64_t n = w->o.job->has_numjobs ? w->o.job->numjobs : 1;
    const rb_log_blocks_t *all =
        rb_job_log_blocks(log, w->o.subject->at.path, w->block.bs_bytes, err);
    if (all == NULL)
        return -1;
    uint64_t first = all->n * w->o.number / n, end = all->n * (w->o.number + 1) / n;
    rb_block_list(&w->block, all->blocks + first, end - first);
    w->load = w->block.ops;
    w->verify.run = log->log->head.run;
    w->log_phase = log->log->head.phase;
    return 0;
}

int rb_worker_verify_prepare(rb_worker_t *w, rb_err_t *err)
{
    if (w->o.log != NULL && rb_job_log_prepare(w->o.log, err) < 0)
        return -1;
    if (w->o.log != NULL && w->o.log->writer != NULL)
        w->ring = rb_log_writer_ring(w->o.log->writer, w->o.log_index);
    else if (w->o.log != NULL && list_blocks(w, err) < 0)
        return -1;
    if (!w->guards && w->o.log == NULL)
        return 0;
    w->writes = rb_calloc(w->iodepth, sizeof(*w->writes));
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->writes[i].offset_bytes = NOT_WRITTEN;
    return 0;
}

void rb_worker_verify_end(rb_worker_t *w)
{
    if (w->ring != NULL)
        rb_log_ring_flush(w->ring);
}

void rb_worker_verify_clear(rb_worker_t *w)
{
    free(w->writes);
    w->writes = NULL;
}

/* ---- writes ---- */

/* The first that is in flight; the next, if there is none. */
static uint64_t oldest(const rb_worker_t *w)
{
    uint64_t sequence = w->sequence;
    for (uint32_t i = 0; i < w->iodepth; i++)
        if (w->writes[i].offset_bytes != NOT_WRITTEN)
            sequence = RB_MIN(sequence, w->writes[i].sequence);
    return sequence;
}

static uint32_t room_in_log(rb_worker_t *w, uint32_t n)
{
    uint64_t room = rb_log_ring_room(w->ring);
    if (room >= (uint64_t)w->inflight + n)
        return n;
    w->account.log_waits++;
    if (w->inflight == 0 && room == 0) { /* no completion will wake it */
        struct timespec ts = {0, PAUSE_NS};
        clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
    }
    return room > w->inflight ? (uint32_t)(room - w->inflight) : 0;
}

static uint32_t room_in_order(rb_worker_t *w, uint32_t n)
{
    if (w->sequence + n <= w->order_end)
        return n;
    w->order_end = rb_order_end(&w->verify.writer.order, oldest(w));
    return (uint32_t)RB_MIN((uint64_t)n, w->order_end - w->sequence);
}

uint32_t rb_worker_room(rb_worker_t *w, uint32_t n)
{
    uint32_t room = room_in_order(w, w->ring != NULL ? room_in_log(w, n) : n);
    if (room < n) /* what is late by this is not the generator's doing */
        w->starved_ns = RB_MIN(w->starved_ns, w->now_ns);
    return room;
}

/* Random writes may be in flight to one block at the same time, and either may be the last: then
 * no more is sure than the older of them. */
static uint64_t sure(const rb_worker_t *w, uint64_t offset_bytes)
{
    uint64_t sequence = w->sequence;
    if (w->order_end < UINT64_MAX)
        return sequence;
    for (uint32_t i = 0; i < w->iodepth; i++)
        if (w->writes[i].offset_bytes == offset_bytes)
            sequence = RB_MIN(sequence, w->writes[i].sequence);
    return sequence;
}

static void fill_write(rb_worker_t *w, const rb_io_t *io, uint32_t slot)
{
    uint8_t *block = w->write_buffers + slot * w->stride_bytes;
    rb_verify_place_t place = {.offset_bytes = io->offset_bytes, .sequence = w->sequence};
    rb_data_fill(&w->data, block, io->size_bytes, io->offset_bytes, w->sequence);
    if (w->stamps)
        rb_verify_stamp(&w->verify, block, io->size_bytes, &place);
    if (w->writes != NULL) {
        uint64_t sequence = w->ring != NULL ? sure(w, io->offset_bytes) : w->sequence;
        w->writes[slot] = (rb_worker_write_t){io->offset_bytes, w->sequence, sequence};
    }
    w->sequence++;
}

void rb_worker_fill(rb_worker_t *w, uint32_t n)
{
    if (w->kv != NULL) {
        rb_worker_kv_fill(w, n);
        return;
    }
    const uint32_t *slots = w->free + w->nfree;
    for (uint32_t i = 0; i < n; i++) {
        if (w->block.listed != NULL)
            w->writes[slots[i]].sequence = w->block.listed[w->block.at - n + i].sequence;
        else if (w->taken[i].op == RB_OP_WRITE)
            fill_write(w, &w->taken[i], slots[i]);
    }
}

void rb_worker_unwritten(rb_worker_t *w, uint32_t slot)
{
    if (w->kv != NULL)
        rb_worker_kv_done(w, slot, true);
    if (w->writes != NULL)
        w->writes[slot].offset_bytes = NOT_WRITTEN;
}

static void written(rb_worker_t *w, uint32_t slot)
{
    rb_worker_write_t *write = &w->writes[slot];
    if (w->ring != NULL)
        rb_log_ring_push(w->ring, (rb_log_write_t){write->offset_bytes, write->sure});
    write->offset_bytes = NOT_WRITTEN;
}

/* ---- reads ---- */

static bool is_right(rb_worker_t *w, uint32_t index, rb_verify_found_t *found)
{
    const rb_slot_t *slot = &w->slots[index];
    const uint8_t *block = w->read_buffers + index * w->stride_bytes;
    rb_verify_place_t place = {.offset_bytes = slot->offset_bytes};
    if (w->block.listed != NULL) {
        place.sequence = w->writes[index].sequence;
        place.phase = w->log_phase;
    }
    if (rb_verify_check(&w->verify, block, slot->size_bytes, &place, found) != RB_VERIFY_OK)
        return false;
    return w->watch == NULL || rb_watch_see(w->watch, found);
}

bool rb_worker_check(rb_worker_t *w, uint32_t index, rb_io_error_t *ret_error)
{
    const rb_slot_t *slot = &w->slots[index];
    if (w->kv != NULL)
        return rb_worker_kv_check(w, index, ret_error);
    if (slot->op == RB_OP_WRITE)
        written(w, index);
    if (slot->op != RB_OP_READ)
        return true;
    *ret_error = (rb_io_error_t){
        .offset_bytes = slot->offset_bytes, .size_bytes = slot->size_bytes, .op = RB_OP_READ};
    bool right = is_right(w, index, &ret_error->found);
    w->account.checked++;
    w->account.wrong += !right;
    return right;
}

/* Of all workers of the job on this drive the last: all others have read what they read. */
static bool is_judge(rb_worker_t *w)
{
    rb_watch_group_t *all = w->o.watches;
    if (w->watch == NULL || w->judged)
        return w->watch != NULL && w->judges;
    w->judged = true;
    w->judges = atomic_fetch_sub_explicit(&all->left, 1, memory_order_acq_rel) == 1;
    for (uint32_t i = 0; w->judges && i < all->n; i++)
        if (i != w->o.number)
            rb_watch_merge(w->watch, all->items[i]);
    return w->judges;
}

bool rb_worker_take_stale(rb_worker_t *w, rb_io_error_t *ret_error)
{
    rb_verify_found_t found;
    if (!is_judge(w) || !rb_watch_take(w->watch, &found))
        return false;
    *ret_error = (rb_io_error_t){.offset_bytes = found.offset_bytes,
                                 .size_bytes = (uint32_t)found.length_bytes,
                                 .op = RB_OP_READ,
                                 .found = found};
    w->account.wrong++;
    return true;
}
