/* fio_fixture.h - a job file to an import, with files and an environment that are made up. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "coordinator/plan/emit.h"
#include "coordinator/plan/fio_import.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

static inline char *fio_read(const char *path, rb_err_t *err)
{
    if (strcmp(path, "dir/part.fio") == 0)
        return rb_strdup("bs=16k\ninclude deep.fio\n");
    if (strcmp(path, "deep.fio") == 0)
        return rb_strdup("iodepth=3\n");
    if (strcmp(path, "itself.fio") == 0)
        return rb_strdup("include itself.fio\n");
    if (strcmp(path, "section.fio") == 0)
        return rb_strdup("[b]\n");
    rb_err_set(err, RB_ERR_INPUT, "no file %s", path);
    return NULL;
}

static inline const char *fio_variable(const char *name)
{
    return strcmp(name, "SIZE") == 0 ? "5m" : strcmp(name, "EMPTY") == 0 ? "" : NULL;
}

static inline rb_fio_import_t *fio_take(const char *text, rb_fio_manner_t manner, rb_err_t *err)
{
    rb_fio_opts_t opts = {.read = fio_read,
                          .variable = fio_variable,
                          .page_bytes = 4096,
                          .ncpus = 4,
                          .memory_mb = 1024,
                          .manner = manner};
    *err = (rb_err_t){0};
    return rb_fio_import(text, "dir/t.fio", &opts, err);
}

/* The plan as YAML, which also keeps the rules of plans. */
static inline char *fio_yaml(const char *text, rb_fio_manner_t manner)
{
    rb_err_t err;
    RB_AUTO(rb_fio_import_destroy) rb_fio_import_t *import = fio_take(text, manner, &err);
    if (import == NULL)
        fail_msg("%s: %s", text, err.text);
    char *yaml = rb_fio_import_yaml(import);
    if (rb_plan_resolve(import->plan, import->places, &err) != 0)
        fail_msg("%s: %s\n%s", text, err.text, yaml);
    return yaml;
}

/* The first error of a job file, of the importer or of the plan's rules. */
static inline void fio_error(const char *text, rb_fio_manner_t manner, rb_err_t *ret_err)
{
    RB_AUTO(rb_fio_import_destroy) rb_fio_import_t *import = fio_take(text, manner, ret_err);
    if (import != NULL && rb_plan_resolve(import->plan, import->places, ret_err) == 0)
        fail_msg("no error: %s", text);
    assert_int_equal(ret_err->code, RB_ERR_INPUT);
}

static inline void fio_has(const char *text, rb_fio_manner_t manner, const char *const *lines)
{
    RB_AUTO(rb_free_str) char *yaml = fio_yaml(text, manner);
    for (; *lines != NULL; lines++) {
        bool absent = **lines == '!';
        if ((strstr(yaml, *lines + absent) != NULL) == absent)
            fail_msg("%s'%s' in\n%s\nof\n%s", absent ? "" : "no ", *lines + absent, yaml, text);
    }
}
