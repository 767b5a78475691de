/* fuzz_plan.c - any bytes as a plan: no crash, and what loads survives its own text. */
#include "coordinator/plan/emit.h"
#include "coordinator/plan/load.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL, *again_places = NULL;
    rb_err_t err = {0};
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = rb_plan_load((const char *)data, size, "plan", &places, &err);
    if (!plan || rb_plan_resolve(plan, places, &err) != 0)
        return 0;
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    if (strlen(text) > 512 * RB_KIB) /* the text of a plan may pass the limit on plans */
        return 0;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *again = rb_plan_load(text, strlen(text), "again", &again_places, &err);
    RB_ASSERT(again && rb_plan_resolve(again, again_places, &err) == 0);
    rb_bytes_t a = rb_plan_pack(plan), b = rb_plan_pack(again);
    RB_ASSERT(a.size == b.size && memcmp(a.data, b.data, a.size) == 0);
    rb_bytes_clear(&a);
    rb_bytes_clear(&b);
    return 0;
}
