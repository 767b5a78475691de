#include "agent/survey.h"

#include "agent/drives.h"
#include "agent/inventory.h"
#include "agent/probe.h"
#include "common/clock.h"

#define PATIENCE_NS (RB_SURVEY_PATIENCE_S * RB_NS_PER_S)

/* One drive: a probe works with it. */
typedef struct {
    char *path;
    Rackbench__Drive *drive; /* what was found */
} look_t;

struct rb_survey {
    int event_fd;
    char **paths; /* NULL at the end */
    size_t next;  /* of paths, the one that is looked at */
    uint64_t since_ns;
    rb_probe_t *probe; /* NULL: none is looked at */
    Rackbench__Inventory *inventory;
};

static void work(void *ctx)
{
    look_t *look = ctx;
    rb_probe_note(look->path);
    look->drive = rb_inventory_drive(look->path);
}

static void drop(void *ctx)
{
    look_t *look = ctx;
    rackbench__drive__free_unpacked(look->drive, NULL);
    free(look->path);
    free(look);
}

static void add(rb_survey_t *s, Rackbench__Drive *drive)
{
    *RB_PUSH(s->inventory->drives, s->inventory->n_drives) = drive;
    s->next++;
}

static void begin_next(rb_survey_t *s)
{
    rb_err_t err;
    const char *path = s->paths[s->next];
    look_t *look = rb_calloc(1, sizeof(*look));
    look->path = rb_strdup(path);
    s->since_ns = rb_clock_now_ns();
    s->probe = rb_probe_start(&(rb_probe_opts_t){work, drop, look, s->event_fd}, &err);
    if (s->probe != NULL)
        return;
    drop(look);
    add(s, rb_inventory_closed_drive(path, &err));
}

static void take(rb_survey_t *s)
{
    look_t *look = rb_probe_take(&s->probe);
    add(s, RB_MOVE(look->drive));
    drop(look);
}

static void give_up(rb_survey_t *s)
{
    rb_err_t err;
    rb_probe_abandon(&s->probe);
    rb_err_set(&err, RB_ERR_IO, "%s: did not answer within %d s; nothing is known of it",
               s->paths[s->next], RB_SURVEY_PATIENCE_S);
    add(s, rb_inventory_closed_drive(s->paths[s->next], &err));
}

rb_survey_t *rb_survey_new(int event_fd)
{
    rb_survey_t *s = rb_calloc(1, sizeof(*s));
    s->event_fd = event_fd;
    s->inventory = rb_inventory_new();
    s->paths = rb_drive_list();
    return s;
}

void rb_survey_destroy(rb_survey_t **survey)
{
    rb_survey_t *s = *survey;
    if (s == NULL)
        return;
    rb_probe_abandon(&s->probe);
    rb_inventory_destroy(&s->inventory);
    rb_drive_list_destroy(&s->paths);
    free(s);
    *survey = NULL;
}

Rackbench__Inventory *rb_survey_poll(rb_survey_t *s)
{
    for (;;) {
        if (s->probe != NULL && rb_probe_done(s->probe))
            take(s);
        else if (s->probe != NULL && rb_clock_now_ns() > s->since_ns + PATIENCE_NS)
            give_up(s);
        else if (s->probe != NULL)
            return NULL;
        if (s->paths[s->next] == NULL)
            return s->inventory;
        begin_next(s);
    }
}

uint64_t rb_survey_at(const rb_survey_t *s, char *buf, size_t size)
{
    buf[0] = '\0';
    return s->probe != NULL ? rb_probe_at(s->probe, buf, size) : 0;
}
