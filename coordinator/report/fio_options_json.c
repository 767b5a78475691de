#include "coordinator/report/fio_options_json.h"

#include "common/base.h"
#include "coordinator/plan/schema.h"
#include "coordinator/plan/value.h"
#include "coordinator/report/json_parts.h"

/* fio prints what was asked for, and reads 4096 as 4k; its readers expect the latter. */
static char *bytes_text(uint64_t bytes)
{
    static const char units[] = " kmgt";
    size_t i = 0;
    while (bytes > 0 && bytes % 1024 == 0 && i + 2 < sizeof(units)) {
        bytes /= 1024;
        i++;
    }
    return i > 0 ? rb_asprintf("%llu%c", (unsigned long long)bytes, units[i])
                 : rb_asprintf("%llu", (unsigned long long)bytes);
}

static char *text_of(rb_slot_t slot)
{
    if (slot.field->type == PROTOBUF_C_TYPE_BOOL)
        return rb_strdup(*(protobuf_c_boolean *)rb_slot_at(slot, 0) ? "1" : "0");
    if (slot.field->type == PROTOBUF_C_TYPE_STRING)
        return rb_strdup(*(char **)rb_slot_at(slot, 0));
    if (slot.field->type != PROTOBUF_C_TYPE_ENUM) {
        uint64_t n = rb_slot_number(slot);
        switch (rb_schema_number(slot.field)) {
        case RB_NUMBER_BYTES:
            return bytes_text(n);
        case RB_NUMBER_NS:
            return n % RB_NS_PER_S == 0 ? rb_asprintf("%llu", (unsigned long long)(n / RB_NS_PER_S))
                                        : rb_asprintf("%lluus", (unsigned long long)(n / 1000));
        case RB_NUMBER_COUNT:
        case RB_NUMBER_PPM:
            return rb_asprintf("%llu", (unsigned long long)n);
        }
    }
    return rb_value_yaml(slot, 0);
}

/* The words of a job that fio has too, and the target's in place of a file name. */
json_t *rb_fio_options_json(const Rackbench__Plan *plan, const Rackbench__Job *job)
{
    json_t *o = json_object();
    const ProtobufCMessageDescriptor *type = job->base.descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        rb_slot_t slot = {(ProtobufCMessage *)(uintptr_t)&job->base, &type->fields[i]};
        if (!rb_slot_is_set(slot) || slot.field->label == PROTOBUF_C_LABEL_REPEATED)
            continue;
        RB_AUTO(rb_free_str) char *text = text_of(slot);
        json_object_set_new(o, rb_schema_key(slot.field).text, rb_json_text(text));
    }
    for (size_t i = 0; i < plan->n_targets; i++)
        if (job->target && strcmp(plan->targets[i]->name, job->target) == 0 &&
            plan->targets[i]->directory)
            rb_json_set(o, "directory", rb_json_text(plan->targets[i]->directory));
    return o;
}
