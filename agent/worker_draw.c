#include "agent/worker_draw.h"

uint32_t rb_worker_within_limits(rb_worker_t *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &w->ios[i];
        if (io->op == RB_OP_SYNC)
            continue;
        if (w->left_ops == 0 || w->left_bytes == 0)
            return i;
        w->left_ops--;
        w->left_bytes -= RB_MIN((uint64_t)io->size_bytes, w->left_bytes);
    }
    return n;
}

void rb_worker_draw(rb_worker_t *w, uint32_t n)
{
    uint32_t rest = w->drawn - w->at, more = w->block.own ? (uint32_t)RB_MAX_BATCH : n - rest;
    memmove(w->ios, w->ios + w->at, rest * sizeof(w->ios[0]));
    w->drawn = rest + w->load->next(&w->block, w->ios + rest, more);
    w->at = 0;
}
