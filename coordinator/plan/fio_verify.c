#include "coordinator/plan/fio_job.h"
#include "coordinator/plan/resolve.h"

/* The plan reads in a phase of its own what fio reads back by itself. */
static Rackbench__Job *read_back_of(const Rackbench__Job *job, bool fatal)
{
    Rackbench__Job *r = rb_calloc(1, sizeof(*r));
    rackbench__job__init(r);
    r->name = rb_asprintf("%s.verify", job->name);
    r->has_rw = r->has_verify = r->verify = true;
    r->rw = RACKBENCH__RW__MODE__read;
    r->has_direct = job->has_direct;
    r->direct = job->direct;
    r->has_bs_bytes = job->has_bs_bytes;
    r->bs_bytes = job->bs_bytes;
    r->has_iodepth = job->has_iodepth;
    r->iodepth = job->iodepth;
    r->has_ioengine = job->has_ioengine;
    r->ioengine = job->ioengine;
    r->has_offset_bytes = job->has_offset_bytes;
    r->offset_bytes = job->offset_bytes;
    if (!fatal) {
        r->has_continue_on_error = true;
        r->continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    }
    return r;
}

/* All of the region must have been written. */
static int writes_all(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line)
{
    const Rackbench__Job *j = job->job;
    if (!j->has_runtime_ns && !j->has_io_size_bytes && !j->has_number_ios)
        return 0;
    if (j->has_norandommap || rb_rw_is_sequential(j->rw) || f->opts->manner == RB_FIO_STRICT)
        return rb_fio_fail(f, line,
                           "the whole region is read back, so it must have been written: leave out "
                           "runtime, io_size and number_ios, or write do_verify=0");
    return 0;
}

static bool written_before(const rb_fio_t *f, const rb_fio_job_t *job)
{
    for (const rb_fio_job_t *other = f->jobs; other < job; other++)
        if (other->job->verify && other->nnames == job->nnames &&
            strcmp(other->names[0], job->names[0]) == 0)
            return true;
    return false;
}

static int of_reads(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, bool check)
{
    bool fatal = false;
    if (!check) {
        rb_fio_note(f, line, "left out: do_verify=0 checks nothing");
        return 0;
    }
    if (rb_fio_get_flag(f, job, "verify_fatal", &fatal) != 0)
        return -1;
    bool own = written_before(f, job);
    rb_fio_note(f, line,
                own ? "checks what the earlier job of this plan wrote"
                    : "checks what an earlier run of rackbench wrote with verify");
    rb_fio_set(job, own ? "verify" : "verify_only", 1, line);
    if (job->job->has_continue_on_error || fatal)
        return 0;
    return rb_fio_set_word(f, job, "continue_on_error", "read", line);
}

static int of_writes(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, bool check)
{
    bool fatal = false;
    if (rb_fio_get_flag(f, job, "verify_fatal", &fatal) != 0)
        return -1;
    rb_fio_set(job, "verify", 1, line);
    if (!check)
        return 0;
    if (writes_all(f, job, line) != 0)
        return -1;
    rb_fio_note(f, line,
                "each block carries a header and an XXH3 hash, whatever the method; it is "
                "read back in a phase of its own");
    job->read_back = read_back_of(job->job, fatal);
    return 0;
}

int rb_fio_map_verify(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "verify");
    bool check = true, only = false;
    if (!line || strcmp(line->value, "0") == 0 || strcmp(line->value, "none") == 0 ||
        strcmp(line->value, "null") == 0)
        return 0;
    if (rb_fio_get_flag(f, job, "do_verify", &check) != 0 ||
        rb_fio_get_flag(f, job, "verify_only", &only) != 0)
        return -1;
    if (rb_rw_mixes(job->job->rw) || rb_fio_trims(job))
        return rb_fio_fail(f, line, "a job that only reads or only writes can be checked; use two");
    if (only && rb_fio_writes(job)) {
        bool random = !rb_rw_is_sequential(job->job->rw);
        if (rb_fio_set_word(f, job, "rw", random ? "randread" : "read",
                            rb_fio_get(job, "verify_only")) != 0)
            return -1;
    }
    return rb_fio_writes(job) ? of_writes(f, job, line, check) : of_reads(f, job, line, check);
}
