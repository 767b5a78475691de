#include "coordinator/plan/place.h"

struct place {
    char *path;
    char *origin; /* NULL: line and column of the file */
    uint32_t line, column;
};

struct rb_places {
    char *file;
    size_t nitems;
    struct place *items; /* [nitems] */
};

rb_places_t *rb_places_new(const char *file)
{
    rb_places_t *p = rb_calloc(1, sizeof(*p));
    p->file = rb_strdup(file);
    return p;
}

void rb_places_destroy(rb_places_t **places)
{
    rb_places_t *p = *places;
    if (!p)
        return;
    for (size_t i = 0; i < p->nitems; i++) {
        free(p->items[i].path);
        free(p->items[i].origin);
    }
    free(p->items);
    free(p->file);
    free(p);
    *places = NULL;
}

const char *rb_places_file(const rb_places_t *places)
{
    return places->file;
}

static struct place *add(rb_places_t *places, const char *path)
{
    struct place *item = RB_PUSH(places->items, places->nitems);
    item->path = rb_strdup(path);
    return item;
}

void rb_places_add(rb_places_t *places, const char *path, uint32_t line, uint32_t column)
{
    struct place *item = add(places, path);
    item->line = line;
    item->column = column;
}

void rb_places_add_origin(rb_places_t *places, const char *path, const char *origin)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < places->nitems; i++) {
        char *below = places->items[i].path;
        if (strncmp(below, path, n) == 0 && below[n] == '.')
            snprintf(below, strlen(below) + 1, "?"); /* no path is spelled so */
    }
    add(places, path)->origin = rb_strdup(origin);
}

static const struct place *exact(const rb_places_t *places, const char *path)
{
    for (size_t i = places->nitems; i-- > 0;)
        if (strcmp(places->items[i].path, path) == 0)
            return &places->items[i];
    return NULL;
}

/* What a job's key inherited stands at its phase. */
static const struct place *inherited(const rb_places_t *places, const char *path)
{
    unsigned phase = 0;
    int key = 0;
    if (sscanf(path, "phases.%u.jobs.%*u.%n", &phase, &key) != 1 || key == 0)
        return NULL;
    RB_AUTO(rb_free_str) char *outer = rb_asprintf("phases.%u.defaults.%s", phase, path + key);
    return exact(places, outer);
}

static const struct place *nearest(const rb_places_t *places, const char *path)
{
    RB_AUTO(rb_free_str) char *rest = rb_strdup(path);
    for (;;) {
        const struct place *found = exact(places, rest);
        if (!found)
            found = inherited(places, rest);
        if (found || *rest == '\0')
            return found;
        char *dot = strrchr(rest, '.');
        *(dot ? dot : rest) = '\0';
    }
}

char *rb_places_find(const rb_places_t *places, const char *path)
{
    if (!places)
        return rb_strdup("plan");
    const struct place *found = nearest(places, path);
    if (!found)
        return rb_strdup(places->file);
    if (found->origin)
        return rb_strdup(found->origin);
    return rb_asprintf("%s:%u:%u", places->file, found->line, found->column);
}

int rb_places_fail(const rb_places_t *places, const char *path, const char *text, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *where = rb_places_find(places, path);
    return rb_err_set(err, RB_ERR_INPUT, "%s: %s", where, text);
}
