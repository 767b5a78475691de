#include "coordinator/plan_source.h"

#include "coordinator/plan/expand.h"
#include "coordinator/plan/fio_import.h"
#include "coordinator/plan/load.h"
#include "coordinator/plan/presets.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PLAN = 1024 * 1024 };

static bool has_suffix(const char *name, const char *suffix)
{
    size_t n = strlen(name), m = strlen(suffix);
    return n >= m && strcmp(name + n - m, suffix) == 0;
}

static char *read_file(const char *path, rb_err_t *err)
{
    struct stat st;
    FILE *in = fopen(path, "r");
    if (in == NULL) {
        rb_err_errno(err, errno, "plan %s", path);
        return NULL;
    }
    if (fstat(fileno(in), &st) == 0 && S_ISDIR(st.st_mode)) {
        rb_err_set(err, RB_ERR_INPUT, "plan %s is a directory; name the file in it", path);
        fclose(in);
        return NULL;
    }
    char *text = rb_calloc(1, MAX_PLAN + 2);
    size_t size = fread(text, 1, MAX_PLAN + 1, in);
    bool bad = ferror(in) != 0;
    fclose(in);
    if (!bad && size <= MAX_PLAN && memchr(text, 0, size) == NULL)
        return text;
    rb_err_set(err, RB_ERR_INPUT, "plan %s: %s", path,
               bad ? "cannot be read: is it a file?" : "is no YAML text of at most 1 MiB");
    free(text);
    return NULL;
}

static char *read_text(const char *argument, rb_err_t *err)
{
    const char *preset = rb_preset_find(argument);
    if (strpbrk(argument, "/.") != NULL)
        return read_file(argument, err);
    if (preset == NULL) {
        rb_err_set(err, RB_ERR_INPUT,
                   "'%s' is no preset (rackbench plan list); a plan file is named by its path, "
                   "like %s.yaml",
                   argument, argument);
        return NULL;
    }
    return rb_strdup(preset);
}

static const char *variable(const char *name)
{
    return getenv(name);
}

rb_fio_import_t *rb_plan_source_import(const char *argument, const rb_options_t *options,
                                       rb_err_t *err)
{
    uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES), page = (uint64_t)sysconf(_SC_PAGESIZE);
    rb_fio_opts_t opts = {.read = read_file,
                          .variable = variable,
                          .page_bytes = page,
                          .ncpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
                          .memory_mb = pages * page / RB_MIB,
                          .manner = options->lenient ? RB_FIO_LENIENT : RB_FIO_STRICT};
    RB_AUTO(rb_free_str) char *text = read_file(argument, err);
    return text == NULL ? NULL : rb_fio_import(text, argument, &opts, err);
}

static int take_fio(rb_plan_source_t *source, const char *argument, const rb_options_t *options,
                    rb_err_t *err)
{
    RB_AUTO(rb_fio_import_destroy)
    rb_fio_import_t *import = rb_plan_source_import(argument, options, err);
    if (import == NULL)
        return -1;
    source->text = rb_fio_import_yaml(import);
    source->plan = RB_MOVE(import->plan);
    source->places = RB_MOVE(import->places);
    for (size_t i = 0; i < import->nnotes && !options->quiet; i++)
        fprintf(stderr, "%s\n", import->notes[i]);
    return 0;
}

static int take_yaml(rb_plan_source_t *source, const char *argument, rb_err_t *err)
{
    source->text = read_text(argument, err);
    if (source->text == NULL)
        return -1;
    source->plan = rb_plan_load(source->text, strlen(source->text), argument, &source->places, err);
    return source->plan == NULL ? -1 : 0;
}

rb_plan_source_t *rb_plan_source_new(const char *argument, const rb_options_t *options,
                                     rb_err_t *err)
{
    RB_AUTO(rb_plan_source_destroy) rb_plan_source_t *source = rb_calloc(1, sizeof(*source));
    int rc = has_suffix(argument, ".fio") ? take_fio(source, argument, options, err)
                                          : take_yaml(source, argument, err);
    if (rc != 0)
        return NULL;
    for (size_t i = 0; i < options->nsets; i++)
        if (rb_plan_set(source->plan, options->sets[i], source->places, err) != 0)
            return NULL;
    if (rb_plan_resolve(source->plan, source->places, err) != 0)
        return NULL;
    source->run = rb_plan_expand(source->plan);
    return RB_MOVE(source);
}

void rb_plan_source_destroy(rb_plan_source_t **source_p)
{
    rb_plan_source_t *source = *source_p;
    if (source == NULL)
        return;
    free(source->text);
    rb_plan_destroy(&source->plan);
    rb_plan_destroy(&source->run);
    rb_places_destroy(&source->places);
    free(source);
    *source_p = NULL;
}
