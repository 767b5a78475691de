#include "agent/buffer.h"
#include "agent/cgroup.h"
#include "agent/engine_priv.h"
#include "common/units.h"

int rb_engine_check_memory(const rb_engine_t *e, rb_err_t *err)
{
    uint64_t want_bytes = 0, have_bytes = rb_memory_available_bytes();
    uint64_t room_bytes = rb_cgroup_memory_room_bytes("");
    char want[RB_FMT_SIZE], have[RB_FMT_SIZE], room[RB_FMT_SIZE] = "any amount";
    for (size_t i = 0; i < e->nworkers; i++)
        want_bytes += rb_worker_memory_bytes(e->workers[i]);
    want_bytes += e->kv != NULL ? rb_kv_share_memory_bytes(e->kv) : 0;
    uint64_t least_bytes = RB_MIN(have_bytes == 0 ? UINT64_MAX : have_bytes, room_bytes);
    if (want_bytes <= least_bytes / 10 * 9)
        return 0;
    if (room_bytes != UINT64_MAX)
        rb_fmt_bytes(room, sizeof(room), room_bytes);
    return rb_err_set(
        err, RB_ERR_INPUT,
        "phase '%s' needs %s of memory for %zu workers; %s are free on the host, and the agent's "
        "control group has room for %s; lower iodepth, numjobs or bs",
        e->phase->name, rb_fmt_bytes(want, sizeof(want), want_bytes), e->nworkers,
        rb_fmt_bytes(have, sizeof(have), have_bytes), room);
}
