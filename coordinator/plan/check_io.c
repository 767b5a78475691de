#include <inttypes.h>

#include "common/cpu_list.h"
#include "coordinator/plan/check_rules.h"

/* Keys that no agent obeys yet. */
static const char *const not_supported[] = {
    "thinktime",         "verify",       "verify_only", "buffer_compress_percentage",
    "dedupe_percentage", "zero_buffers",
};

static const rb_range_t ranges[] = {
    {"iodepth_batch_complete_min", 1, RB_MAX_IODEPTH},
    {"rate", 1, UINT64_MAX},
    {"buffer_compress_percentage", 0, 100},
    {"dedupe_percentage", 0, 100},
};

/* ---- how ---- */

static bool is_passthrough(const char *device)
{
    return strncmp(device, "/dev/ng", strlen("/dev/ng")) == 0;
}

static int passthrough_devices(const rb_scope_t *s)
{
    const Rackbench__Target *t = s->target;
    bool cmd = s->job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring_cmd;
    if (cmd && t->n_devices == 0)
        return rb_rule_fail(s, "ioengine",
                            "ioengine: io_uring_cmd (NVMe passthrough) needs devices whose names "
                            "begin with /dev/ng, and target '%s' is files",
                            t->name);
    for (size_t i = 0; i < t->n_devices; i++) {
        if (is_passthrough(t->devices[i]) == cmd)
            continue;
        if (cmd)
            return rb_rule_fail(s, "ioengine",
                                "ioengine: io_uring_cmd (NVMe passthrough) needs devices whose "
                                "names begin with /dev/ng, not %.128s",
                                t->devices[i]);
        return rb_rule_fail(s, "ioengine",
                            "%.128s of target '%s' takes NVMe passthrough only; set ioengine: "
                            "io_uring_cmd, or name the block device /dev/nvme...",
                            t->devices[i], t->name);
    }
    return 0;
}

static int passthrough_is_direct(const rb_scope_t *s)
{
    if (s->job->direct || s->job->ioengine != RACKBENCH__IOENGINE__KIND__io_uring_cmd)
        return 0;
    return rb_rule_fail(s, "direct", "ioengine: io_uring_cmd has no page cache; leave direct out");
}

static int sync_depth(const rb_scope_t *s)
{
    if (s->job->ioengine != RACKBENCH__IOENGINE__KIND__sync || s->job->iodepth == 1)
        return 0;
    return rb_rule_fail(s, "iodepth",
                        "iodepth: ioengine: sync does one operation at a time; set iodepth: 1, and "
                        "raise numjobs for more");
}

static int polls(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->hipri && !job->direct)
        return rb_rule_fail(s, "hipri", "hipri needs direct: true: the page cache is not polled");
    if (job->sqthread_poll && job->ioengine != RACKBENCH__IOENGINE__KIND__io_uring)
        return rb_rule_fail(s, "sqthread_poll", "sqthread_poll needs ioengine: io_uring");
    return 0;
}

static int batch(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->iodepth_batch_complete_min <= job->iodepth)
        return 0;
    return rb_rule_fail(s, "iodepth_batch_complete_min",
                        "iodepth_batch_complete_min: %" PRIu32 " is more than the iodepth of "
                        "%" PRIu32 "; make it smaller",
                        job->iodepth_batch_complete_min, job->iodepth);
}

static int cpus(const rb_scope_t *s)
{
    rb_cpu_list_t list;
    rb_err_t err;
    if (!s->job->cpus_allowed || rb_cpu_list_parse(s->job->cpus_allowed, &list, &err) == 0)
        return 0;
    return rb_rule_fail(s, "cpus_allowed", "cpus_allowed: %s", err.text);
}

/* ---- when ---- */

static int rates(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->has_rate_bytes && job->has_rate_iops)
        return rb_rule_fail(s, "rate_bytes", "rate and rate_iops exclude each other; keep one");
    if (job->has_rate_bytes && job->bssplit)
        return rb_rule_fail(s, "rate_bytes",
                            "rate needs operations of one size; set rate_iops beside bssplit");
    if (job->has_rate_bytes || job->has_rate_iops ||
        (!job->has_rate_scope && !job->has_rate_process))
        return 0;
    const char *key = job->has_rate_scope ? "rate_scope" : "rate_process";
    return rb_rule_fail(s, key, "%s needs a rate: add rate_iops or rate", key);
}

/* ---- with which data ---- */

static int data(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->zero_buffers || (!job->buffer_compress_percentage && !job->dedupe_percentage))
        return 0;
    return rb_rule_fail(
        s, "zero_buffers", "zero_buffers leaves nothing for %s to do; keep one of them",
        job->buffer_compress_percentage ? "buffer_compress_percentage" : "dedupe_percentage");
}

static bool is_asked(rb_slot_t slot)
{
    if (!rb_slot_is_set(slot))
        return false;
    if (slot.field->type == PROTOBUF_C_TYPE_BOOL)
        return *(protobuf_c_boolean *)rb_slot_at(slot, 0);
    return rb_slot_number(slot) != 0;
}

static int is_supported(const rb_scope_t *s)
{
    const ProtobufCMessage *msg = &s->job->base;
    for (size_t i = 0; i < RB_LEN(not_supported); i++) {
        const ProtobufCFieldDescriptor *field = rb_schema_field(msg->descriptor, not_supported[i]);
        RB_ASSERT(field);
        if (is_asked((rb_slot_t){(ProtobufCMessage *)(uintptr_t)msg, field}))
            return rb_rule_fail(s, field->name, "%s is not supported yet; leave it out",
                                not_supported[i]);
    }
    return 0;
}

static rb_rule_t *const rules[] = {
    passthrough_devices, passthrough_is_direct, sync_depth, polls, batch, cpus, rates, data,
    is_supported,
};

int rb_check_io(const rb_scope_t *s)
{
    if (rb_ranges_ask(s, &s->job->base, ranges, RB_LEN(ranges)) != 0)
        return -1;
    return rb_rules_ask(s, rules, RB_LEN(rules));
}
