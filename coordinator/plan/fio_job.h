/* fio_job.h - one job of a fio file on its way to a job of a plan: what it was given, what was made
 * of it, and how each step reports. Shared by fio_map*, fio_target and fio_import. Any thread.
 */
#pragma once

#include "coordinator/plan/fio_lex.h"
#include "coordinator/plan/fio_number.h"
#include "coordinator/plan/fio_options.h"
#include "coordinator/plan/schema.h"

enum { RB_FIO_DIRECTIONS = 3, RB_MAX_FIO_FILES = 4096 };

/* The lines of a job, the globals before it included; of lines with the same option the last one,
 * in the order in which they came last. */
typedef struct {
    const rb_fio_option_t *option; /* NULL: not known */
    const rb_fio_line_t *line;
} rb_fio_given_t;

typedef struct {
    const ProtobufCFieldDescriptor *field;
    const rb_fio_line_t *line;
} rb_fio_source_t;

typedef struct {
    const rb_fio_line_t *head; /* of its section */
    size_t ngiven, nsources;
    rb_fio_given_t *given;
    rb_fio_source_t *sources; /* where the keys of `job` come from */
    uint32_t kb_base;
    Rackbench__Job *job;       /* owned */
    Rackbench__Job *read_back; /* owned; NULL: nothing is checked after it */
    size_t phase;
    /* its files or devices */
    bool is_device, is_private; /* private: each of its clones (numjobs) has files of its own */
    size_t nnames;              /* of a clone */
    size_t nfiles;              /* of all its clones */
    char **names;               /* [nnames] */
    char *directory;            /* NULL: the agent's scratch directory */
    size_t target;              /* index in the plan */
    uint64_t file_bytes;        /* what a file must have; 0: not known, of a device */
    uint64_t region_bytes;      /* of each file; 0: all of a device */
    uint64_t amount_bytes;      /* to be moved for each file, where it is not the region */
} rb_fio_job_t;

typedef struct {
    const rb_fio_opts_t *opts;
    const char *file;
    rb_fio_import_t *out;
    size_t njobs;
    rb_fio_job_t *jobs;
    rb_err_t *err;
} rb_fio_t;

void rb_fio_job_clear(rb_fio_job_t *job);

/* Adds "file:line: key=value: " and a sentence to the notes. */
void rb_fio_note(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...) RB_PRINTF(3, 4);
/* The same as an error; returns -1. */
int rb_fio_fail(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...) RB_PRINTF(3, 4);
/* There is no equivalent: an error; 0 and a warning where the caller is lenient. */
int rb_fio_lacks(rb_fio_t *f, const rb_fio_line_t *line, const char *fmt, ...) RB_PRINTF(3, 4);
/* err, of a parser, with the place of line before it; returns -1. */
int rb_fio_wrap(rb_fio_t *f, const rb_fio_line_t *line);

/* The line that gives an option; NULL: none does. */
const rb_fio_line_t *rb_fio_get(const rb_fio_job_t *job, const char *name);
/* Whichever of two options was given last; NULL: neither. */
const rb_fio_line_t *rb_fio_last_of(const rb_fio_job_t *job, const char *a, const char *b);
/* 0, and *ret untouched where the option is not given. */
int rb_fio_get_number(rb_fio_t *f, const rb_fio_job_t *job, const char *name, uint64_t *ret);
int rb_fio_get_time(rb_fio_t *f, const rb_fio_job_t *job, const char *name, uint64_t unit_ns,
                    uint64_t *ret_ns);
int rb_fio_get_flag(rb_fio_t *f, const rb_fio_job_t *job, const char *name, bool *ret);
int rb_fio_parse_number(rb_fio_t *f, const rb_fio_job_t *job, const rb_fio_line_t *line,
                        const char *text, uint64_t *ret);

/* "r,w,t": the three texts, each borrowed from buf, which text is copied to. One is for all, two
 * are reads and the others; "" means the default. */
int rb_fio_directions(rb_fio_t *f, const rb_fio_line_t *line, char *buf,
                      const char *ret[RB_FIO_DIRECTIONS]);

/* Sets a key of the plan's job; line says where it comes from (NULL: the section). */
void rb_fio_set(rb_fio_job_t *job, const char *key, uint64_t number, const rb_fio_line_t *line);
int rb_fio_set_word(rb_fio_t *f, rb_fio_job_t *job, const char *key, const char *text,
                    const rb_fio_line_t *line);

bool rb_fio_reads(const rb_fio_job_t *job);
bool rb_fio_writes(const rb_fio_job_t *job); /* trims apart */
bool rb_fio_trims(const rb_fio_job_t *job);

/* fio_map: all but size, time and target. */
int rb_fio_map(rb_fio_t *f, rb_fio_job_t *job);
/* fio_map_block: bs, bsrange, bssplit, blockalign, norandommap, random_distribution. */
int rb_fio_map_blocks(rb_fio_t *f, rb_fio_job_t *job);
/* fio_map_when: rate, pauses, delay. */
int rb_fio_map_when(rb_fio_t *f, rb_fio_job_t *job);
/* fio_target: names, directory, sizes of files; needs rw and blocks. */
int rb_fio_map_files(rb_fio_t *f, rb_fio_job_t *job);
/* fio_map_bounds: io_size, loops, runtime; needs the files. */
int rb_fio_map_bounds(rb_fio_t *f, rb_fio_job_t *job);
/* fio_verify; needs all else. */
int rb_fio_map_verify(rb_fio_t *f, rb_fio_job_t *job);
/* fio_target: the targets of all jobs, and the regions of these. */
int rb_fio_targets(rb_fio_t *f);
