/* fuzz_fio_import.c - any bytes as a job file of fio: no crash, and the plan that comes of it is
 * read back from its own text. */
#include "coordinator/plan/fio_import.h"
#include "coordinator/plan/load.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *read_part(const char *path, rb_err_t *err)
{
    if (strcmp(path, "part") == 0)
        return rb_strdup("bs=8k\ninclude part2\n");
    rb_err_set(err, RB_ERR_INPUT, "no %s", path);
    return NULL;
}

static const char *variable(const char *name)
{
    return strcmp(name, "V") == 0 ? "4k:${V}" : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rb_err_t err = {0};
    rb_fio_opts_t opts = {.read = read_part,
                          .variable = variable,
                          .page_bytes = 4096,
                          .ncpus = 2,
                          .memory_mb = 100,
                          .manner = size % 2 ? RB_FIO_LENIENT : RB_FIO_STRICT};
    RB_AUTO(rb_free_str) char *text = rb_strndup((const char *)data, size);
    RB_AUTO(rb_fio_import_destroy) rb_fio_import_t *import = rb_fio_import(text, "j", &opts, &err);
    if (import == NULL) {
        RB_ASSERT(err.code == RB_ERR_INPUT && err.text[0] != '\0');
        return 0;
    }
    RB_AUTO(rb_free_str) char *yaml = rb_fio_import_yaml(import);
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    if (strlen(yaml) > RB_MIB || rb_plan_resolve(import->plan, import->places, &err) != 0)
        return 0;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *again = rb_plan_load(yaml, strlen(yaml), "again", &places, &err);
    RB_ASSERT(again && rb_plan_resolve(again, places, &err) == 0);
    return 0;
}
