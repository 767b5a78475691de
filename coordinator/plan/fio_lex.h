/* fio_lex.h - a fio job file as sections of lines. Any thread; no state.
 *
 * As fio has it: `;` and `#` begin a comment wherever they stand, ${NAME} is taken from the
 * environment, `include FILE` stands for the lines of that file, which has no sections of its own.
 */
#pragma once

#include "coordinator/plan/fio_import.h"

enum {
    RB_MAX_FIO_LINES = 65536, /* of a job file and all that it includes */
    RB_MAX_FIO_INCLUDES = 16, /* in each other */
    RB_MAX_FIO_VALUE = 4095   /* [bytes] of a line, after ${NAME} */
};

typedef struct {
    const char *file; /* borrowed from the rb_fio_file_t */
    uint32_t line;    /* from 1 */
    char *key;
    char *value; /* "" where there is none */
    bool bare;   /* no `=` */
    bool section;
} rb_fio_line_t;

typedef struct {
    rb_fio_line_t head; /* key: the name between the brackets */
    size_t nlines;
    rb_fio_line_t *lines;
} rb_fio_section_t;

typedef struct {
    size_t nfiles, nsections, nlines;
    char **files;
    rb_fio_section_t *sections;
} rb_fio_file_t;

/* RB_ERR_INPUT. */
rb_fio_file_t *rb_fio_lex(const char *text, const char *file, const rb_fio_opts_t *opts,
                          rb_err_t *err);
void rb_fio_file_destroy(rb_fio_file_t **file);

static inline bool rb_fio_is_global(const rb_fio_section_t *section)
{
    return strcmp(section->head.key, "global") == 0;
}
