#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/expand.h"
#include "coordinator/plan/value.h"

/* Fails at the i-th key of the sweep. */
static int fail_at(const rb_scope_t *s, size_t i, const char *text)
{
    RB_AUTO(rb_free_str) char *key = rb_asprintf("sweep.%zu", i);
    return rb_rule_fail(s, key, "%s", text);
}

static int check_key(const rb_scope_t *s, size_t i)
{
    const Rackbench__Sweep *sweep = s->phase->sweep[i];
    const ProtobufCFieldDescriptor *field = rb_sweep_field(sweep);
    if (field == NULL) {
        RB_AUTO(rb_free_str)
        char *advice = rb_schema_advice(&rackbench__job__descriptor, sweep->name);
        bool known = rb_schema_field(&rackbench__job__descriptor, sweep->name) != NULL;
        RB_AUTO(rb_free_str)
        char *text = rb_asprintf("sweep: '%.64s' is no key of a job that takes one value; %s",
                                 sweep->name, known ? "it cannot be swept" : advice);
        return fail_at(s, i, text);
    }
    for (size_t k = 0; k < i; k++)
        if (rb_sweep_field(s->phase->sweep[k]) == field)
            return fail_at(s, i, "sweep: this key stands there twice; remove one");
    if (sweep->n_value == 0)
        return fail_at(s, i, "sweep: a key without values; [1, 2, 4] is right");
    return 0;
}

static int check_values(const rb_scope_t *s, size_t i)
{
    const Rackbench__Sweep *sweep = s->phase->sweep[i];
    Rackbench__Job scratch = RACKBENCH__JOB__INIT;
    rb_slot_t slot = {&scratch.base, rb_sweep_field(sweep)};
    rb_err_t why;
    for (size_t k = 0; k < sweep->n_value; k++) {
        if (rb_value_parse(slot, sweep->value[k], &why) != 0) {
            RB_AUTO(rb_free_str) char *key = rb_asprintf("sweep.%zu.value.%zu", i, k);
            return rb_rule_fail(s, key, "sweep: %s: %s", sweep->name, why.text);
        }
        rb_slot_clear(slot);
    }
    return 0;
}

static int zipped_alike(const rb_scope_t *s)
{
    const Rackbench__Sweep *first = s->phase->sweep[0];
    if (s->phase->sweep_mode != RACKBENCH__SWEEP_MODE__KIND__zip)
        return 0;
    for (size_t i = 1; i < s->phase->n_sweep; i++) {
        const Rackbench__Sweep *sweep = s->phase->sweep[i];
        if (sweep->n_value == first->n_value)
            continue;
        RB_AUTO(rb_free_str)
        char *text = rb_asprintf("sweep_mode: zip pairs values, and %s has %zu where %s has %zu; "
                                 "give all keys as many (or sweep_mode: cross)",
                                 sweep->name, sweep->n_value, first->name, first->n_value);
        return fail_at(s, i, text);
    }
    return 0;
}

int rb_check_sweep(const rb_scope_t *s)
{
    const Rackbench__Phase *phase = s->phase;
    if (phase->point != NULL)
        return rb_rule_fail(s, "point", "point is what a sweep makes; write sweep: {KEY: [...]}");
    if (phase->n_sweep == 0)
        return phase->has_sweep_mode ? rb_rule_fail(s, "sweep_mode",
                                                    "sweep_mode without a sweep; add sweep: {KEY: "
                                                    "[...]}, or leave it out")
                                     : 0;
    for (size_t i = 0; i < phase->n_sweep; i++)
        if (check_key(s, i) != 0 || check_values(s, i) != 0)
            return -1;
    return zipped_alike(s);
}

char *rb_sweep_place(const rb_scope_t *s, const char *key)
{
    const Rackbench__Point *point = s->phase != NULL ? s->phase->point : NULL;
    unsigned index = 0;
    for (size_t i = 0; point != NULL && key != NULL && i < point->n_values; i++) {
        Rackbench__Sweep sweep = {.name = point->values[i]->name};
        if (strcmp(rb_sweep_field(&sweep)->name, key) == 0 &&
            sscanf(s->path, "phases.%u", &index) == 1)
            return rb_asprintf("phases.%u.sweep.%zu", index, i);
    }
    return NULL;
}
