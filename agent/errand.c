#include "agent/errand.h"

#include "common/log.h"

rb_errand_t *rb_errand_new(rb_errand_kind_t kind, const rb_allowances_t *allowances,
                           const char *host, Rackbench__Plan *plan)
{
    rb_errand_t *e = rb_calloc(1, sizeof(*e));
    e->kind = kind;
    e->allowances = allowances;
    e->host = rb_strdup(host);
    e->plan = plan;
    return e;
}

static void log_power(void *ctx, const char *text)
{
    (void)ctx;
    rb_log_warn("%s", text);
}

void rb_errand_destroy(rb_errand_t **errand)
{
    rb_errand_t *e = *errand;
    *errand = NULL;
    if (e == NULL)
        return;
    rb_power_restore(&e->power, log_power, NULL);
    rb_targets_destroy(&e->targets);
    rb_phase_destroy(&e->phase);
    rb_plan_destroy(&e->plan);
    free(e->host);
    free(e);
}

void rb_errand_drop(void *errand)
{
    rb_errand_t *e = errand;
    rb_errand_destroy(&e);
}

void rb_errand_next(rb_errand_t *e, Rackbench__Phase *phase)
{
    e->kind = RB_ERRAND_PREPARE;
    rb_phase_destroy(&e->phase);
    e->phase = phase;
}

static void prepare(rb_errand_t *e)
{
    if (e->targets == NULL) /* the fault is why */
        return;
    e->fault = (rb_err_t){0};
    if (rb_targets_phase(e->targets, e->phase, &e->subjects, &e->nsubjects, &e->fault) == 0)
        rb_power_set(&e->power, &(rb_power_wish_t){e->plan, e->phase, e->subjects, e->nsubjects},
                     &e->fault);
}

void rb_errand_run(void *errand)
{
    rb_errand_t *e = errand;
    switch (e->kind) {
    case RB_ERRAND_LOAD:
        e->targets = rb_targets_new(e->plan, e->host, e->allowances, &e->fault);
        break;
    case RB_ERRAND_PREPARE:
        prepare(e);
        break;
    case RB_ERRAND_CLEAN:
        rb_targets_clean(e->plan, e->host, e->allowances, &e->cleaned, &e->fault);
        break;
    }
}
