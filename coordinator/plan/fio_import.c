#include "coordinator/plan/fio_import.h"

#include "coordinator/plan/emit.h"
#include "coordinator/plan/fio_job.h"
#include "coordinator/plan/fio_phases.h"
#include "proto/wire.h"

/* ---- sections to jobs ---- */

static bool same_option(const rb_fio_given_t *a, const rb_fio_given_t *b)
{
    if (a->option || b->option)
        return a->option == b->option;
    return strcmp(a->line->key, b->line->key) == 0;
}

static void give(rb_fio_job_t *job, const rb_fio_line_t *line)
{
    rb_fio_given_t new = {rb_fio_option(line->key), line};
    size_t n = 0;
    for (size_t i = 0; i < job->ngiven; i++)
        if (!same_option(&job->given[i], &new))
            job->given[n++] = job->given[i];
    job->ngiven = n;
    *RB_PUSH(job->given, job->ngiven) = new;
}

static void give_all(rb_fio_job_t *job, const rb_fio_section_t *section)
{
    for (size_t i = 0; i < section->nlines; i++)
        give(job, &section->lines[i]);
}

static int set_base(rb_fio_t *f, rb_fio_job_t *job)
{
    uint64_t base = 1024;
    job->kb_base = 1024;
    if (rb_fio_get_number(f, job, "kb_base", &base) != 0)
        return -1;
    if (base != 1024 && base != 1000)
        return rb_fio_fail(f, rb_fio_get(job, "kb_base"), "1024 or 1000 is right");
    job->kb_base = (uint32_t)base;
    return 0;
}

static int add_job(rb_fio_t *f, const rb_fio_job_t *globals, const rb_fio_section_t *section)
{
    rb_fio_job_t *job = RB_PUSH(f->jobs, f->njobs);
    job->head = &section->head;
    for (size_t i = 0; i < globals->ngiven; i++)
        *RB_PUSH(job->given, job->ngiven) = globals->given[i];
    give_all(job, section);
    job->job = rb_calloc(1, sizeof(*job->job));
    rackbench__job__init(job->job);
    const rb_fio_line_t *name = rb_fio_get(job, "name");
    if (rb_fio_set_word(f, job, "name", name ? name->value : section->head.key, name) != 0)
        return -1;
    for (char *p = job->job->name; *p != '\0'; p++) /* names have none */
        *p = *p == '/' ? '_' : *p;
    return set_base(f, job);
}

static int take_sections(rb_fio_t *f, const rb_fio_file_t *file)
{
    rb_fio_job_t globals = {0};
    int rc = 0;
    for (size_t i = 0; i < file->nsections && rc == 0; i++) {
        if (rb_fio_is_global(&file->sections[i]))
            give_all(&globals, &file->sections[i]);
        else if (f->njobs == RB_MAX_FIO_FILES)
            rc = rb_err_set(f->err, RB_ERR_INPUT, "%s: more than 4096 jobs; split it", f->file);
        else
            rc = add_job(f, &globals, &file->sections[i]);
    }
    rb_fio_job_clear(&globals);
    if (rc == 0 && f->njobs == 0)
        rc = rb_err_set(f->err, RB_ERR_INPUT, "%s: no job in it; a section is [name]", f->file);
    return rc;
}

/* ---- the whole ---- */

static int set_seed(rb_fio_t *f)
{
    for (size_t i = 0; i < f->njobs; i++) {
        const rb_fio_line_t *line = rb_fio_get(&f->jobs[i], "randseed");
        uint64_t seed = 0;
        if (!line)
            continue;
        if (rb_fio_parse_number(f, &f->jobs[i], line, line->value, &seed) != 0)
            return -1;
        if (f->out->plan->has_randseed && f->out->plan->randseed != seed &&
            rb_fio_lacks(f, line, "a plan has one randseed, and another job has another") != 0)
            return -1;
        f->out->plan->has_randseed = true;
        f->out->plan->randseed = seed;
    }
    return 0;
}

static int import(rb_fio_t *f, const rb_fio_file_t *file)
{
    if (take_sections(f, file) != 0 || set_seed(f) != 0)
        return -1;
    for (size_t i = 0; i < f->njobs; i++)
        if (rb_fio_map(f, &f->jobs[i]) != 0)
            return -1;
    return rb_fio_targets(f) != 0 ? -1 : rb_fio_phases(f);
}

rb_fio_import_t *rb_fio_import(const char *text, const char *file, const rb_fio_opts_t *opts,
                               rb_err_t *err)
{
    RB_AUTO(rb_fio_file_destroy) rb_fio_file_t *lines = rb_fio_lex(text, file, opts, err);
    if (lines == NULL)
        return NULL;
    RB_AUTO(rb_fio_import_destroy) rb_fio_import_t *out = rb_calloc(1, sizeof(*out));
    out->plan = rb_calloc(1, sizeof(*out->plan));
    rackbench__plan__init(out->plan);
    out->places = rb_places_new(file);
    rb_fio_t f = {.opts = opts, .file = file, .out = out, .err = err};
    int rc = import(&f, lines);
    for (size_t i = 0; i < f.njobs; i++)
        rb_fio_job_clear(&f.jobs[i]);
    free(f.jobs);
    return rc == 0 ? RB_MOVE(out) : NULL;
}

void rb_fio_import_destroy(rb_fio_import_t **import_p)
{
    rb_fio_import_t *import = *import_p;
    if (import == NULL)
        return;
    rb_plan_destroy(&import->plan);
    rb_places_destroy(&import->places);
    for (size_t i = 0; i < import->nnotes; i++)
        free(import->notes[i]);
    free(import->notes);
    free(import);
    *import_p = NULL;
}

char *rb_fio_import_yaml(const rb_fio_import_t *import)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    RB_ASSERT(out);
    RB_AUTO(rb_free_str) char *yaml = rb_plan_emit(import->plan);
    for (size_t i = 0; i < import->nnotes; i++)
        fprintf(out, "# %s\n", import->notes[i]);
    fputs(yaml, out);
    RB_ASSERT(fclose(out) == 0);
    return text;
}
