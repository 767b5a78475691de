#include "coordinator/plan/fio_job.h"

#include <stdarg.h>

#include "coordinator/plan/resolve.h"
#include "coordinator/plan/value.h"

void rb_fio_job_clear(rb_fio_job_t *job)
{
    if (job->job)
        rackbench__job__free_unpacked(job->job, NULL);
    if (job->read_back)
        rackbench__job__free_unpacked(job->read_back, NULL);
    for (size_t i = 0; i < job->nnames; i++)
        free(job->names[i]);
    free(job->names);
    free(job->directory);
    free(job->given);
    free(job->sources);
    *job = (rb_fio_job_t){0};
}

/* "job.fio:3: rw=read: ", or of a section "job.fio:3: [name]: ". */
static char *place_of(const rb_fio_line_t *line)
{
    if (line->section)
        return rb_asprintf("%s:%u: [%.64s]", line->file, line->line, line->key);
    return rb_asprintf("%s:%u: %.64s%s%.128s", line->file, line->line, line->key,
                       line->bare ? "" : "=", line->value);
}

static void vnote(rb_fio_t *f, const rb_fio_line_t *line, const char *mark, const char *text)
{
    RB_AUTO(rb_free_str) char *place = place_of(line);
    RB_AUTO(rb_free_str) char *note = rb_asprintf("%s: %s%s", place, mark, text);
    for (size_t i = 0; i < f->out->nnotes; i++)
        if (strcmp(f->out->notes[i], note) == 0) /* a global line, of the job before */
            return;
    *RB_PUSH(f->out->notes, f->out->nnotes) = RB_MOVE(note);
}

#define FORMAT(text, fmt)                                                                          \
    char text[RB_MAX_TEXT];                                                                        \
    va_list ap;                                                                                    \
    va_start(ap, fmt);                                                                             \
    vsnprintf(text, sizeof(text), fmt, ap);                                                        \
    va_end(ap)

void rb_fio_note(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...)
{
    FORMAT(text, fmt);
    vnote(f, line, "", text);
}

static int fail(rb_fio_t *f, const rb_fio_line_t *line, const char *text)
{
    RB_AUTO(rb_free_str) char *place = place_of(line);
    return rb_err_set(f->err, RB_ERR_INPUT, "%s: %s", place, text);
}

int rb_fio_fail(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...)
{
    FORMAT(text, fmt);
    return fail(f, line, text);
}

int rb_fio_lacks(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...)
{
    FORMAT(text, fmt);
    if (f->opts->manner == RB_FIO_LENIENT) {
        vnote(f, line, "WARNING: ", text);
        return 0;
    }
    fail(f, line, text);
    size_t n = strlen(f->err->text);
    snprintf(f->err->text + n, sizeof(f->err->text) - n, " (--lenient goes on without)");
    return -1;
}

int rb_fio_wrap(rb_fio_t *f, const rb_fio_line_t *line)
{
    RB_AUTO(rb_free_str) char *place = place_of(line);
    return rb_err_wrap(f->err, "%s", place);
}

static const rb_fio_given_t *given(const rb_fio_job_t *job, const char *name)
{
    const rb_fio_option_t *option = rb_fio_option(name);
    RB_ASSERT(option);
    for (size_t i = 0; i < job->ngiven; i++)
        if (job->given[i].option == option)
            return &job->given[i];
    return NULL;
}

const rb_fio_line_t *rb_fio_get(const rb_fio_job_t *job, const char *name)
{
    const rb_fio_given_t *g = given(job, name);
    return g ? g->line : NULL;
}

const rb_fio_line_t *rb_fio_last_of(const rb_fio_job_t *job, const char *a, const char *b)
{
    const rb_fio_given_t *x = given(job, a), *y = given(job, b);
    if (!x || !y)
        return x ? x->line : y ? y->line : NULL;
    return x > y ? x->line : y->line;
}

int rb_fio_parse_number(rb_fio_t *f, const rb_fio_job_t *job, const rb_fio_line_t *line,
                        const char *text, uint64_t *ret)
{
    rb_fio_units_t units = {.kb_base = job->kb_base, .opts = f->opts};
    return rb_fio_number(text, &units, ret, f->err) == 0 ? 0 : rb_fio_wrap(f, line);
}

int rb_fio_get_number(rb_fio_t *f, const rb_fio_job_t *job, const char *name, uint64_t *ret)
{
    const rb_fio_line_t *line = rb_fio_get(job, name);
    return line ? rb_fio_parse_number(f, job, line, line->value, ret) : 0;
}

int rb_fio_get_time(rb_fio_t *f, const rb_fio_job_t *job, const char *name, uint64_t unit_ns,
                    uint64_t *ret_ns)
{
    const rb_fio_line_t *line = rb_fio_get(job, name);
    if (!line || rb_fio_time(line->value, unit_ns, ret_ns, f->err) == 0)
        return 0;
    return rb_fio_wrap(f, line);
}

int rb_fio_get_flag(rb_fio_t *f, const rb_fio_job_t *job, const char *name, bool *ret)
{
    const rb_fio_line_t *line = rb_fio_get(job, name);
    if (!line || rb_fio_flag(line->value, ret, f->err) == 0)
        return 0;
    return rb_fio_wrap(f, line);
}

int rb_fio_directions(rb_fio_t *f, const rb_fio_line_t *line, char *buf,
                      const char *ret[RB_FIO_DIRECTIONS])
{
    size_t n = 0;
    char *rest = buf;
    snprintf(buf, RB_MAX_FIO_VALUE + 1, "%s", line->value);
    while (rest && n < RB_FIO_DIRECTIONS)
        ret[n++] = strsep(&rest, ",");
    if (rest)
        return rb_fio_fail(f, line,
                           "more than three directions; reads, writes and trims there are");
    for (; n < RB_FIO_DIRECTIONS; n++)
        ret[n] = ret[n - 1];
    return 0;
}

static rb_slot_t slot_of(rb_fio_job_t *job, const char *key, const rb_fio_line_t *line)
{
    rb_slot_t slot = {&job->job->base, rb_schema_field(job->job->base.descriptor, key)};
    RB_ASSERT(slot.field);
    if (rb_slot_is_set(slot))
        rb_slot_clear(slot);
    *RB_PUSH(job->sources, job->nsources) = (rb_fio_source_t){slot.field, line ? line : job->head};
    return slot;
}

void rb_fio_set(rb_fio_job_t *job, const char *key, uint64_t number, const rb_fio_line_t *line)
{
    rb_slot_t slot = slot_of(job, key, line);
    void *value = rb_slot_push(slot);
    if (slot.field->type == PROTOBUF_C_TYPE_UINT64)
        *(uint64_t *)value = number;
    else
        *(uint32_t *)value = (uint32_t)RB_MIN(number, (uint64_t)UINT32_MAX);
}

int rb_fio_set_word(rb_fio_t *f, rb_fio_job_t *job, const char *key, const char *text,
                    const rb_fio_line_t *line)
{
    rb_slot_t slot = slot_of(job, key, line);
    if (rb_value_parse(slot, text, f->err) == 0)
        return 0;
    return rb_fio_wrap(f, line ? line : job->head);
}

bool rb_fio_reads(const rb_fio_job_t *job)
{
    const Rackbench__Job *j = job->job;
    if (rb_rw_mixes(j->rw))
        return !j->has_rwmixread || j->rwmixread > 0;
    return !rb_rw_writes(j->rw);
}

bool rb_fio_writes(const rb_fio_job_t *job)
{
    const Rackbench__Job *j = job->job;
    if (rb_rw_mixes(j->rw))
        return !j->has_rwmixread || j->rwmixread < 100;
    return rb_job_writes(j);
}

bool rb_fio_trims(const rb_fio_job_t *job)
{
    return rb_rw_trims(job->job->rw) || job->job->rwmixtrim > 0;
}
