#include "coordinator/plan/fio_lex.h"

#include <ctype.h>

#include "common/utf8.h"

typedef struct {
    rb_fio_file_t *out;
    const rb_fio_opts_t *opts;
    const char *file; /* of the line */
    uint32_t line;
    uint32_t depth; /* of includes */
    rb_err_t *err;
} lexer_t;

static int fail(const lexer_t *l, const char *text, const char *what)
{
    return rb_err_set(l->err, RB_ERR_INPUT, "%s:%u: '%.64s': %s", l->file, l->line, text, what);
}

/* Without blanks at both ends. */
static char *trim(char *text)
{
    text += strspn(text, " \t\r\f\v");
    size_t n = strlen(text);
    while (n > 0 && (isspace((unsigned char)text[n - 1]) || iscntrl((unsigned char)text[n - 1])))
        n--;
    text[n] = '\0';
    return text;
}

/* ${NAME} -> its value, into buf [RB_MAX_FIO_VALUE + 1]. */
static int expand(const lexer_t *l, const char *text, char *buf)
{
    size_t n = 0;
    while (*text != '\0') {
        const char *end = strncmp(text, "${", 2) == 0 ? strchr(text, '}') : NULL;
        RB_AUTO(rb_free_str)
        char *name = rb_strndup(end ? text + 2 : text, end ? (size_t)(end - text - 2) : 1);
        const char *value = end ? l->opts->variable(name) : name;
        if (value == NULL)
            return fail(l, name, "the environment has no such variable; set it");
        if (n + strlen(value) > RB_MAX_FIO_VALUE)
            return fail(l, name, "the line is longer than 4095 bytes; shorten it");
        n += (size_t)sprintf(buf + n, "%s", value);
        text = end ? end + 1 : text + 1;
    }
    buf[n] = '\0';
    return 0;
}

static int take_text(lexer_t *l, const char *text);

/* As written, else beside the file that includes it. */
static char *read_include(const lexer_t *l, const char *path)
{
    rb_err_t first;
    char *text = l->opts->read(path, &first);
    const char *slash = strrchr(l->file, '/');
    if (text != NULL || *path == '/' || slash == NULL)
        return text ? text : (*l->err = first, NULL);
    RB_AUTO(rb_free_str)
    char *beside = rb_asprintf("%.*s/%s", (int)(slash - l->file), l->file, path);
    text = l->opts->read(beside, l->err);
    return text;
}

static int include(lexer_t *l, const char *path)
{
    if (l->depth == RB_MAX_FIO_INCLUDES)
        return fail(l, path, "more than 16 files include each other; does one include itself?");
    RB_AUTO(rb_free_str) char *text = read_include(l, path);
    if (text == NULL)
        return rb_err_wrap(l->err, "%s:%u: include", l->file, l->line);
    lexer_t inner = *l;
    inner.depth++;
    inner.line = 0;
    inner.file = *RB_PUSH(l->out->files, l->out->nfiles) = rb_strdup(path);
    return take_text(&inner, text);
}

static int begin_section(lexer_t *l, char *text)
{
    size_t n = strlen(text);
    if (l->depth > 0)
        return fail(l, text, "an included file has no sections of its own, as in fio");
    if (n < 3 || text[n - 1] != ']')
        return fail(l, text, "a section is [name]");
    text[n - 1] = '\0';
    rb_fio_section_t *s = RB_PUSH(l->out->sections, l->out->nsections);
    s->head = (rb_fio_line_t){.file = l->file,
                              .line = l->line,
                              .key = rb_strdup(text + 1),
                              .value = rb_strdup(""),
                              .section = true};
    return 0;
}

static int add_option(lexer_t *l, char *text)
{
    if (l->out->nsections == 0)
        return fail(l, text, "it stands outside of any [section]; put [global] before it");
    rb_fio_section_t *s = &l->out->sections[l->out->nsections - 1];
    char *value = strchr(text, '=');
    if (value != NULL)
        *value++ = '\0';
    *RB_PUSH(s->lines, s->nlines) = (rb_fio_line_t){.file = l->file,
                                                    .line = l->line,
                                                    .key = rb_strdup(trim(text)),
                                                    .value = rb_strdup(value ? trim(value) : ""),
                                                    .bare = value == NULL};
    return 0;
}

static bool is_text(const char *text)
{
    for (size_t left = strlen(text), n = 0; left > 0; text += n, left -= n) {
        n = rb_utf8_printable(text, left);
        if (n == 0)
            return false;
    }
    return true;
}

static int take_line(lexer_t *l, char *text)
{
    char buf[RB_MAX_FIO_VALUE + 1];
    text[strcspn(text, ";#")] = '\0';
    for (char *tab = text; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    text = trim(text);
    if (*text == '\0')
        return 0;
    if (++l->out->nlines > RB_MAX_FIO_LINES)
        return fail(l, text, "more than 65536 lines; is this a job file?");
    if (expand(l, text, buf) != 0)
        return -1;
    if (!is_text(buf))
        return rb_err_set(l->err, RB_ERR_INPUT,
                          "%s:%u: control characters, or bytes that are no UTF-8; text is right",
                          l->file, l->line);
    if (*buf == '[')
        return begin_section(l, buf);
    if (strncmp(buf, "include", 7) == 0 && isblank((unsigned char)buf[7]))
        return include(l, trim(buf + 7));
    return add_option(l, buf);
}

static int take_text(lexer_t *l, const char *text)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *rest = copy, *line;
    while ((line = strsep(&rest, "\n")) != NULL) {
        l->line++;
        if (take_line(l, line) != 0)
            return -1;
    }
    return 0;
}

rb_fio_file_t *rb_fio_lex(const char *text, const char *file, const rb_fio_opts_t *opts,
                          rb_err_t *err)
{
    RB_AUTO(rb_fio_file_destroy) rb_fio_file_t *out = rb_calloc(1, sizeof(*out));
    lexer_t l = {.out = out, .opts = opts, .err = err};
    l.file = *RB_PUSH(out->files, out->nfiles) = rb_strdup(file);
    if (take_text(&l, text) != 0)
        return NULL;
    return RB_MOVE(out);
}

static void clear_line(rb_fio_line_t *line)
{
    free(line->key);
    free(line->value);
}

void rb_fio_file_destroy(rb_fio_file_t **file)
{
    rb_fio_file_t *f = *file;
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->nsections; i++) {
        for (size_t k = 0; k < f->sections[i].nlines; k++)
            clear_line(&f->sections[i].lines[k]);
        clear_line(&f->sections[i].head);
        free(f->sections[i].lines);
    }
    for (size_t i = 0; i < f->nfiles; i++)
        free(f->files[i]);
    free(f->sections);
    free(f->files);
    free(f);
    *file = NULL;
}
