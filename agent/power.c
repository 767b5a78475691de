#include "agent/power.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "agent/nvme_id.h"

enum { STATE = 0x1f }; /* of the feature's value; above it stands the workload hint */

/* The job that has something to say of it; NULL: none. */
static const Rackbench__Job *find_job(const rb_power_wish_t *wish, const rb_subject_t *s)
{
    const char *target = wish->plan->targets[s->target]->name;
    for (size_t i = 0; i < wish->phase->n_jobs; i++) {
        const Rackbench__Job *job = wish->phase->jobs[i];
        if (job->has_power_state && job->target != NULL && strcmp(job->target, target) == 0)
            return job;
    }
    return NULL;
}

static int check_state(const rb_nvme_controller_t *c, const char *path, uint32_t wanted,
                       rb_err_t *err)
{
    if (wanted >= c->npower_states)
        return rb_err_set(err, RB_ERR_INPUT,
                          "power_state: %s has no state %u; the drive has states 0-%u", path,
                          wanted, c->npower_states - 1);
    if (c->power[wanted].idle)
        return rb_err_set(err, RB_ERR_INPUT,
                          "power_state: %s does no I/O in its state %u (non-operational); choose "
                          "one that rackbench hosts does not call idle",
                          path, wanted);
    return 0;
}

static int refused(const char *path, const char *what, int rc, rb_err_t *err)
{
    return rb_err_set(err, rc == -ENOTTY ? RB_ERR_INPUT : RB_ERR_IO, "power_state: %s: %s: %s",
                      path, what, rc == -ENOTTY ? "no NVMe drive" : strerror(-rc));
}

static int set_one(rb_power_t *power, const char *path, uint32_t wanted, rb_err_t *err)
{
    rb_nvme_controller_t controller;
    rb_power_item_t item = {.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (item.fd < 0)
        return rb_err_set(err, RB_ERR_IO, "power_state: open %s: %s", path, strerror(errno));
    item.path = rb_strdup(path);
    int rc = rb_nvme_get_power(item.fd, &item.before);
    if (rc == 0)
        rc = rb_nvme_ask_controller(item.fd, &controller);
    if (rc != 0 || check_state(&controller, path, wanted, err) != 0) {
        close(item.fd);
        free(item.path);
        return rc == 0 ? -1 : refused(path, "ask for its power states", rc, err);
    }
    item.changed = (item.before & STATE) != wanted;
    *RB_PUSH(power->items, power->n) = item;
    if (item.changed)
        rc = rb_nvme_set_power(item.fd, (item.before & ~(uint32_t)STATE) | wanted);
    return rc == 0 ? 0 : refused(path, "set its power state", rc, err);
}

/* What one namespace was set to, another of the same controller may have changed since. */
static int check_set(const rb_power_item_t *item, uint32_t wanted, rb_err_t *err)
{
    uint32_t now;
    int rc = rb_nvme_get_power(item->fd, &now);
    if (rc != 0)
        return refused(item->path, "ask for its power state", rc, err);
    if ((now & STATE) == wanted)
        return 0;
    return rb_err_set(err, RB_ERR_INPUT,
                      "power_state: %s is in state %u after it was set to %u; namespaces of one "
                      "drive have one state: give their jobs the same",
                      item->path, now & STATE, wanted);
}

int rb_power_set(rb_power_t *power, const rb_power_wish_t *wish, rb_err_t *err)
{
    size_t next = power->n;
    for (size_t i = 0; i < wish->nsubjects; i++) {
        const Rackbench__Job *job = find_job(wish, &wish->subjects[i]);
        if (job != NULL && set_one(power, wish->subjects[i].path, job->power_state, err) != 0)
            return -1;
    }
    for (size_t i = 0; i < wish->nsubjects; i++) {
        const Rackbench__Job *job = find_job(wish, &wish->subjects[i]);
        if (job != NULL && check_set(&power->items[next++], job->power_state, err) != 0)
            return -1;
    }
    return 0;
}

void rb_power_restore(rb_power_t *power, rb_power_tell_fn *tell, void *ctx)
{
    while (power->n > 0) {
        rb_power_item_t *item = &power->items[--power->n];
        int rc = item->changed ? rb_nvme_set_power(item->fd, item->before) : 0;
        if (rc != 0) {
            RB_AUTO(rb_free_str)
            char *text = rb_asprintf("%s: its power state could not be given back (%s): set it to "
                                     "%u by hand (nvme set-feature -f 2)",
                                     item->path, strerror(-rc), item->before & STATE);
            tell(ctx, text);
        }
        close(item->fd);
        free(item->path);
    }
    free(power->items);
    power->items = NULL;
}
