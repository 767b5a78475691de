#include "coordinator/plan/fio_job.h"

#include <ctype.h>

enum { LEAST_FILE_BYTES = 4096 };

static bool has_name(const rb_fio_job_t *job, const char *name)
{
    for (size_t i = 0; i < job->nnames; i++)
        if (strcmp(job->names[i], name) == 0)
            return true;
    return false;
}

static bool same_directory(const rb_fio_job_t *a, const rb_fio_job_t *b)
{
    return a->is_device == b->is_device &&
           (a->is_device || strcmp(a->directory, b->directory) == 0);
}

/* How many of a's names b has. */
static size_t shared_names(const rb_fio_job_t *a, const rb_fio_job_t *b)
{
    size_t n = 0;
    for (size_t i = 0; same_directory(a, b) && i < a->nnames; i++)
        n += has_name(b, a->names[i]);
    return n;
}

/* What is left of a name in the name of a file or target. */
static char *clean_name(const char *name)
{
    enum { MOST = 100 };
    const char *slash = strrchr(name, '/');
    char *out = rb_strndup(slash ? slash + 1 : name, MOST);
    for (char *p = out; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL)
            *p = '_';
    return out;
}

static bool is_taken(const Rackbench__Plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_targets; i++)
        if (strcmp(plan->targets[i]->name, name) == 0)
            return true;
    return false;
}

static char *target_name(const Rackbench__Plan *plan, const rb_fio_job_t *job)
{
    char *name = clean_name(job->is_private ? job->job->name : job->names[0]);
    if (name[strspn(name, ".")] == '\0') {
        free(name);
        name = rb_strdup("files");
    }
    for (unsigned i = 2; is_taken(plan, name); i++) {
        RB_AUTO(rb_free_str) char *before = name;
        name = rb_asprintf("%.100s-%u", before, i);
    }
    return name;
}

static void add_target(rb_fio_t *f, rb_fio_job_t *job)
{
    Rackbench__Plan *plan = f->out->plan;
    Rackbench__Target *t = rb_calloc(1, sizeof(*t));
    rackbench__target__init(t);
    t->name = target_name(plan, job);
    for (size_t i = 0; job->is_device && i < job->nnames; i++)
        *RB_PUSH(t->devices, t->n_devices) = rb_strdup(job->names[i]);
    if (!job->is_device) {
        if (*job->directory == '/')
            t->directory = rb_strdup(job->directory);
        t->has_files = job->nfiles > 1;
        t->files = (uint32_t)job->nfiles;
        t->has_size_bytes = true;
        t->size_bytes = LEAST_FILE_BYTES;
    }
    job->target = plan->n_targets;
    *RB_PUSH(plan->targets, plan->n_targets) = t;
    RB_AUTO(rb_free_str) char *path = rb_asprintf("targets.%zu", job->target);
    RB_AUTO(rb_free_str) char *place = rb_asprintf("%s:%u", job->head->file, job->head->line);
    rb_places_add_origin(f->out->places, path, place);
}

static int find_target(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "filename");
    for (rb_fio_job_t *other = f->jobs; other < job; other++) {
        size_t n = shared_names(job, other);
        if (n == 0)
            continue;
        if (n == job->nnames && n == other->nnames && job->nfiles == other->nfiles) {
            job->target = other->target;
            return 0;
        }
        if (!job->is_device &&
            rb_fio_lacks(f, line ? line : job->head,
                         "[%.64s] has some of these files and not all; give each file one job",
                         other->head->key) != 0)
            return -1;
    }
    add_target(f, job);
    return 0;
}

static void set_region(rb_fio_t *f, rb_fio_job_t *job)
{
    const Rackbench__Target *t = f->out->plan->targets[job->target];
    job->job->target = rb_strdup(t->name);
    if (!job->is_device && (job->job->offset_bytes + job->region_bytes != t->size_bytes ||
                            job->job->has_offset_increment_bytes))
        rb_fio_set(job, "size", job->region_bytes, rb_fio_get(job, "size"));
    Rackbench__Job *r = job->read_back;
    if (r == NULL)
        return;
    r->target = rb_strdup(t->name);
    r->has_size_bytes = job->job->has_size_bytes;
    r->size_bytes = job->job->size_bytes;
}

int rb_fio_targets(rb_fio_t *f)
{
    for (size_t i = 0; i < f->njobs; i++) {
        rb_fio_job_t *job = &f->jobs[i];
        if (find_target(f, job) != 0)
            return -1;
        Rackbench__Target *t = f->out->plan->targets[job->target];
        if (!job->is_device)
            t->size_bytes = RB_MAX(t->size_bytes, job->file_bytes);
    }
    for (size_t i = 0; i < f->njobs; i++)
        set_region(f, &f->jobs[i]);
    return 0;
}
