#include "coordinator/result_health.h"

const struct rb_result_warning rb_result_warnings[RB_WARNINGS] = {
    {RB_WARNING_TEMPERATURE, "temperature", "above its warning temperature"},
    {RB_WARNING_SPARE, "spare", "its spare blocks ran low"},
    {RB_WARNING_RELIABILITY, "reliability", "no longer reliable by its own word"},
    {RB_WARNING_READ_ONLY, "read_only", "read-only"},
    {RB_WARNING_BACKUP, "backup", "without its protection against power loss"},
};

const Rackbench__Drive *rb_fold_identity(const rb_fold_t *fold, uint32_t host, const char *path)
{
    const Rackbench__Inventory *inventory =
        host == 0 || host > fold->nhosts ? NULL : fold->hosts[host - 1].inventory;
    for (size_t i = 0; inventory != NULL && i < inventory->n_drives; i++)
        if (strcmp(inventory->drives[i]->path, path) == 0)
            return inventory->drives[i];
    return NULL;
}

static bool has_place(const rb_health_drive_t *drive, uint32_t target, uint32_t number)
{
    for (size_t i = 0; i < drive->nplaces; i++)
        if (drive->places[i].target == target && drive->places[i].drive == number)
            return true;
    return false;
}

/* Is each of its places on this drive alone? */
static bool is_alone(const rb_fold_health_t *health, size_t index)
{
    const rb_health_drive_t *drive = &health->drives[index].first;
    for (size_t i = 0; i < health->ndrives; i++)
        for (size_t k = 0; i != index && k < drive->nplaces; k++)
            if (has_place(&health->drives[i].first, drive->places[k].target,
                          drive->places[k].drive))
                return false;
    return true;
}

static uint64_t our_bytes(const rb_member_t *m, const rb_health_drive_t *drive, rb_op_t op)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->ntotals; i++) {
        const rb_total_t *t = &m->totals[i];
        if (t->op != op || !has_place(drive, t->target, t->drive))
            continue;
        bytes += t->bytes;
        for (int part = 0; part < RB_PART_COUNT; part++)
            bytes += t->outside[part].bytes;
    }
    return bytes;
}

static int64_t unit_bytes(const rb_fold_drive_t *drive, rb_health_figure_t figure)
{
    int64_t units = rb_health_delta(&drive->first, &drive->last, figure);
    return units == RB_HEALTH_UNKNOWN || units > INT64_MAX / RB_DATA_UNIT ? RB_HEALTH_UNKNOWN
                                                                          : units * RB_DATA_UNIT;
}

static void find_waf(const rb_fold_drive_t *drive, rb_result_drive_t *ret)
{
    int64_t physical = rb_health_delta(&drive->first, &drive->last, RB_HEALTH_PHYSICAL_WRITTEN);
    ret->has_waf = physical != RB_HEALTH_UNKNOWN &&
                   ret->written_bytes >= (int64_t)RB_WAF_LEAST_UNITS * RB_DATA_UNIT;
    if (ret->has_waf)
        ret->waf = (double)physical / (double)ret->written_bytes;
}

static int64_t throttled_s(const rb_fold_drive_t *drive)
{
    int64_t light = rb_health_delta(&drive->first, &drive->last, RB_HEALTH_THROTTLED_LIGHT);
    int64_t heavy = rb_health_delta(&drive->first, &drive->last, RB_HEALTH_THROTTLED_HEAVY);
    if (light == RB_HEALTH_UNKNOWN || heavy == RB_HEALTH_UNKNOWN || light > INT64_MAX - heavy)
        return RB_HEALTH_UNKNOWN;
    return light + heavy;
}

static void find_carried(const rb_member_t *m, rb_result_drive_t *ret)
{
    for (size_t d = 0; d < m->ndrives; d++)
        if (has_place(ret->begin, m->drives[d].target, m->drives[d].drive))
            *RB_PUSH(ret->carries, ret->ncarries) = m->drives[d].path;
}

rb_result_drive_t *rb_result_health(const rb_fold_t *fold, uint32_t phase, uint32_t host,
                                    size_t *ret_n)
{
    const rb_member_t *m = &fold->phases[phase].members[host - 1];
    rb_result_drive_t *list = rb_calloc(m->health.ndrives, sizeof(*list));
    for (size_t i = 0; i < m->health.ndrives; i++) {
        const rb_fold_drive_t *drive = &m->health.drives[i];
        list[i] = (rb_result_drive_t){
            .begin = &drive->first,
            .end = &drive->last,
            .identity = rb_fold_identity(fold, host, drive->first.path),
            .temperature_max = drive->temperature_max,
            .read_bytes = unit_bytes(drive, RB_HEALTH_UNITS_READ),
            .written_bytes = unit_bytes(drive, RB_HEALTH_UNITS_WRITTEN),
            .has_ours = is_alone(&m->health, i),
            .our_read_bytes = our_bytes(m, &drive->first, RB_OP_READ),
            .our_written_bytes = our_bytes(m, &drive->first, RB_OP_WRITE),
            .throttled_s = throttled_s(drive),
            .media_errors = rb_health_delta(&drive->first, &drive->last, RB_HEALTH_MEDIA_ERRORS),
            .used_percent = rb_health_delta(&drive->first, &drive->last, RB_HEALTH_USED),
            .warnings = drive->warnings,
            .link = drive->link};
        find_waf(drive, &list[i]);
        find_carried(m, &list[i]);
    }
    *ret_n = m->health.ndrives;
    return list;
}

void rb_result_health_free(rb_result_drive_t *drives, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(drives[i].carries);
    free(drives);
}

/* ---- marks of the series ---- */

/* The first reading that was not over before `ns`; nreadings: none. */
static size_t first_after(const rb_fold_health_t *health, int64_t ns)
{
    size_t low = 0, high = health->nreadings;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (health->readings[mid].at_ns < ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* A reading speaks of the time since the one before. */
static uint32_t marks_of(const rb_fold_health_t *health, int64_t start_ns, int64_t end_ns)
{
    uint32_t marks = 0;
    for (size_t i = first_after(health, start_ns); i < health->nreadings; i++) {
        const rb_fold_reading_t *r = &health->readings[i];
        if (i > 0 && health->readings[i - 1].at_ns >= end_ns)
            break;
        marks |= r->at_ns < end_ns ? RB_WINDOW_READ : 0u;
        marks |= i > 0 && r->throttled ? RB_WINDOW_THROTTLED : 0u;
    }
    return marks;
}

uint32_t rb_result_window_health(const rb_fold_t *fold, uint32_t phase, uint32_t host,
                                 const rb_window_t *window)
{
    const rb_fold_phase_t *p = &fold->phases[phase];
    uint64_t at_ns, length_ns;
    uint32_t marks = 0;
    rb_fold_window_time(fold, phase, window, &at_ns, &length_ns);
    for (size_t i = 0; i < p->nmembers; i++)
        if (host == 0 || i + 1 == host)
            marks |= marks_of(&p->members[i].health, (int64_t)at_ns, (int64_t)(at_ns + length_ns));
    return marks;
}
