#include "coordinator/merge_health.h"

int64_t rb_health_delta(const rb_health_drive_t *from, const rb_health_drive_t *to,
                        rb_health_figure_t figure)
{
    int64_t a = from->figure[figure], b = to->figure[figure];
    if (a == RB_HEALTH_UNKNOWN || b == RB_HEALTH_UNKNOWN || a < 0 || b < a)
        return RB_HEALTH_UNKNOWN;
    return b - a;
}

static bool is_same(const rb_health_drive_t *a, const rb_health_drive_t *b)
{
    return strcmp(a->path, b->path) == 0 && strcmp(a->serial, b->serial) == 0;
}

static bool slowed_down(const rb_health_drive_t *from, const rb_health_drive_t *to)
{
    static const rb_health_figure_t figures[] = {
        RB_HEALTH_THROTTLED_LIGHT, RB_HEALTH_THROTTLED_HEAVY, RB_HEALTH_THROTTLES_LIGHT,
        RB_HEALTH_THROTTLES_HEAVY};
    for (size_t i = 0; i < RB_LEN(figures); i++)
        if (rb_health_delta(from, to, figures[i]) > 0)
            return true;
    return false;
}

static uint32_t least(uint32_t before, uint32_t now)
{
    return before == 0 || (now != 0 && now < before) ? now : before;
}

static void add_extremes(rb_fold_drive_t *drive, const rb_health_drive_t *now)
{
    int64_t warning = now->figure[RB_HEALTH_WARNING];
    drive->temperature_max =
        RB_MAX(drive->temperature_max,
               RB_MAX(now->figure[RB_HEALTH_TEMPERATURE], now->figure[RB_HEALTH_SENSOR_MAX]));
    drive->warnings |= warning == RB_HEALTH_UNKNOWN ? 0 : warning;
    drive->link = (rb_fold_link_t){least(drive->link.mts, now->link_mts),
                                   least(drive->link.width, now->link_width),
                                   RB_MAX(drive->link.max_mts, now->link_max_mts),
                                   RB_MAX(drive->link.max_width, now->link_max_width)};
}

/* Returns whether it slowed itself down since its reading before. */
static bool add_drive(rb_fold_health_t *health, rb_health_drive_t *from)
{
    rb_fold_drive_t *drive = NULL;
    bool throttled = false;
    for (size_t i = 0; i < health->ndrives && drive == NULL; i++)
        if (is_same(&health->drives[i].last, from))
            drive = &health->drives[i];
    if (drive == NULL) {
        drive = RB_PUSH(health->drives, health->ndrives);
        drive->temperature_max = RB_HEALTH_UNKNOWN;
        add_extremes(drive, from);
        drive->first = *from;
        drive->last = *from;
        drive->last.path = rb_strdup(from->path);
        drive->last.serial = rb_strdup(from->serial);
        drive->last.firmware = rb_strdup(from->firmware);
        drive->last.places = NULL; /* of the first alone */
        drive->last.nplaces = 0;
        *from = (rb_health_drive_t){0};
    } else {
        throttled = slowed_down(&drive->last, from);
        add_extremes(drive, from);
        rb_health_drive_clear(&drive->last);
        drive->last = *from;
        *from = (rb_health_drive_t){0};
    }
    return throttled;
}

static void add_host(rb_fold_health_t *health, const rb_row_health_t *row)
{
    if (row->cpu_mhz != RB_HEALTH_UNKNOWN && row->cpu_mhz > 0 && row->cpu_mhz < INT32_MAX) {
        health->mhz_min = health->nmhz == 0 ? row->cpu_mhz : RB_MIN(health->mhz_min, row->cpu_mhz);
        health->mhz_max = RB_MAX(health->mhz_max, row->cpu_mhz);
        health->mhz_sum += row->cpu_mhz;
        health->nmhz++;
    }
    /* Energy counts from the phase's first reading. */
    if (row->energy_uj != RB_HEALTH_UNKNOWN && row->energy_uj > 0 && health->nreadings > 0) {
        health->energy_uj = row->energy_uj;
        health->energy_ns = row->at_ns - health->readings[0].at_ns;
    }
}

int rb_fold_health_add(rb_fold_health_t *health, rb_row_health_t *row, rb_err_t *err)
{
    const rb_fold_reading_t *last =
        health->nreadings > 0 ? &health->readings[health->nreadings - 1] : NULL;
    bool throttled = false;
    if (last != NULL && row->at_ns < last->at_ns)
        return rb_err_set(err, RB_ERR_NET, "a reading of health is older than the one before");
    for (size_t i = 0; i < row->ndrives; i++)
        throttled |= add_drive(health, &row->drives[i]);
    add_host(health, row);
    if (health->nreadings < RB_MAX_FOLD_READINGS)
        *RB_PUSH(health->readings, health->nreadings) =
            (rb_fold_reading_t){row->when, row->at_ns, row->took_ns, throttled};
    return 0;
}

void rb_fold_health_clear(rb_fold_health_t *health)
{
    for (size_t i = 0; i < health->ndrives; i++) {
        rb_health_drive_clear(&health->drives[i].first);
        rb_health_drive_clear(&health->drives[i].last);
    }
    free(health->drives);
    free(health->readings);
    *health = (rb_fold_health_t){0};
}
