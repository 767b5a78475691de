/* fuzz_watts.c - any bytes as a CSV file and as an answer of Redfish: no crash, and what is taken
 * is a reading of a row. */
#include "coordinator/watts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const rb_watts_t *watts)
{
    rb_err_t err;
    rb_row_t row = {.kind = RB_ROW_WATTS, .watts = {watts->n, watts->items}};
    if (watts->n > RB_MAX_ROW_WATTS)
        return;
    RB_AUTO(rb_bytes_clear) rb_bytes_t bytes = rb_row_pack(&row);
    RB_AUTO(rb_row_clear) rb_row_t back;
    RB_ASSERT(rb_row_unpack(bytes.data, bytes.size, &back, &err) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    RB_AUTO(rb_watts_clear) rb_watts_t csv = {.fold = fold}, json = {.fold = fold};
    RB_AUTO(rb_free_str) char *text = rb_strndup((const char *)data, size);
    rb_err_t err;
    FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)data, size, "r") : NULL;
    if (in != NULL) {
        rb_watts_csv(&csv, in, "csv", &err);
        fclose(in);
    }
    rb_watts_redfish(&json, "*@5.json", text, 0, &err);
    check(&csv);
    check(&json);
    return 0;
}
