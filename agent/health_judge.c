#include "agent/health_judge.h"

#include <inttypes.h>
#include <stdarg.h>

typedef struct {
    const rb_health_drive_t *before, *now;
    rb_health_event_fn *emit;
    void *ctx;
} judge_t;

__attribute__((format(printf, 3, 4))) static void tell(const judge_t *j, const char *kind,
                                                       const char *format, ...)
{
    char what[256], text[RB_MAX_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    if (j->now->serial != NULL && j->now->serial[0] != '\0')
        snprintf(text, sizeof(text), "%.120s (S/N %.40s): %s", j->now->path, j->now->serial, what);
    else
        snprintf(text, sizeof(text), "%.160s: %s", j->now->path, what);
    j->emit(j->ctx, kind, text);
}

/* By how much a counter rose; 0 where it is not known, or there is nothing to compare with. */
static int64_t risen(const judge_t *j, rb_health_figure_t figure)
{
    int64_t now = j->now->figure[figure];
    int64_t before = j->before == NULL ? RB_HEALTH_UNKNOWN : j->before->figure[figure];
    return now == RB_HEALTH_UNKNOWN || before == RB_HEALTH_UNKNOWN || now < before ? 0
                                                                                   : now - before;
}

static bool warns(const rb_health_drive_t *drive, int64_t bits)
{
    int64_t warning = drive == NULL ? RB_HEALTH_UNKNOWN : drive->figure[RB_HEALTH_WARNING];
    return warning != RB_HEALTH_UNKNOWN && (warning & bits) != 0;
}

static bool begins_to_warn(const judge_t *j, int64_t bits)
{
    return warns(j->now, bits) && !warns(j->before, bits);
}

static void judge_heat(const judge_t *j)
{
    int64_t minutes = risen(j, RB_HEALTH_WARM_MINUTES) + risen(j, RB_HEALTH_HOT_MINUTES);
    bool began = begins_to_warn(j, RB_WARNING_TEMPERATURE);
    /* Between two readings: the minutes tell what the moment does not. */
    if (!began && (minutes == 0 || warns(j->before, RB_WARNING_TEMPERATURE)))
        return;
    if (j->now->figure[RB_HEALTH_TEMPERATURE] == RB_HEALTH_UNKNOWN)
        tell(j, "hot", "above its warning temperature");
    else
        tell(j, "hot", "above its warning temperature; now %" PRId64 " C",
             j->now->figure[RB_HEALTH_TEMPERATURE]);
}

static void judge_throttle(rb_health_memory_t *memory, const judge_t *j)
{
    int64_t light = risen(j, RB_HEALTH_THROTTLED_LIGHT);
    int64_t heavy = risen(j, RB_HEALTH_THROTTLED_HEAVY);
    bool throttling = light > 0 || heavy > 0 || risen(j, RB_HEALTH_THROTTLES_LIGHT) > 0 ||
                      risen(j, RB_HEALTH_THROTTLES_HEAVY) > 0;
    if (throttling && !memory->throttling)
        tell(j, "throttled",
             "it slows itself down to cool (%" PRId64 " s since the reading before, %" PRId64
             " s of them heavily): what follows measures that",
             light + heavy, heavy);
    memory->throttling = throttling;
}

static void judge_medium(const judge_t *j)
{
    int64_t errors = risen(j, RB_HEALTH_MEDIA_ERRORS);
    if (errors > 0)
        tell(j, "media_errors", "%" PRId64 " more media errors, %" PRId64 " in its life", errors,
             j->now->figure[RB_HEALTH_MEDIA_ERRORS]);
    if (begins_to_warn(j, RB_WARNING_SPARE))
        tell(j, "wear",
             "its spare blocks are down to %" PRId64 " %%, below its threshold of %" PRId64 " %%",
             j->now->figure[RB_HEALTH_SPARE], j->now->figure[RB_HEALTH_SPARE_THRESHOLD]);
    if (risen(j, RB_HEALTH_USED) > 0)
        tell(j, "wear", "%" PRId64 " %% of its rated life are used, %" PRId64 " %% before",
             j->now->figure[RB_HEALTH_USED], j->before->figure[RB_HEALTH_USED]);
    if (begins_to_warn(j, RB_WARNING_RELIABILITY))
        tell(j, "failing", "it says that it is no longer reliable; replace it");
    if (begins_to_warn(j, RB_WARNING_READ_ONLY))
        tell(j, "failing", "it has become read-only; replace it");
    if (begins_to_warn(j, RB_WARNING_BACKUP))
        tell(j, "failing", "its protection against power loss has failed; replace it");
}

static void judge_link(const judge_t *j)
{
    const rb_health_drive_t *now = j->now, *before = j->before;
    if (now->link_width == 0 || now->link_mts == 0)
        return; /* not known */
    bool same = before != NULL && before->link_width == now->link_width &&
                before->link_mts == now->link_mts;
    if (same)
        return;
    if (before != NULL && before->link_width != 0 && before->link_mts != 0)
        tell(j, "link", "its PCIe link is x%u at %.1f GT/s now, x%u at %.1f GT/s before",
             now->link_width, now->link_mts / 1e3, before->link_width, before->link_mts / 1e3);
    else if (now->link_width < now->link_max_width || now->link_mts < now->link_max_mts)
        tell(j, "link", "its PCIe link runs at x%u of x%u, %.1f of %.1f GT/s", now->link_width,
             RB_MAX(now->link_max_width, now->link_width), now->link_mts / 1e3,
             RB_MAX(now->link_max_mts, now->link_mts) / 1e3);
}

static bool differs(const char *a, const char *b)
{
    return a != NULL && b != NULL && a[0] != '\0' && b[0] != '\0' && strcmp(a, b) != 0;
}

void rb_health_judge(rb_health_memory_t *memory, const rb_health_drive_t *before,
                     const rb_health_drive_t *now, rb_health_event_fn *emit, void *ctx)
{
    judge_t j = {before, now, emit, ctx};
    if (before != NULL && differs(before->serial, now->serial)) {
        tell(&j, "drive", "it is another drive than before, which was S/N %.40s", before->serial);
        *memory = (rb_health_memory_t){0};
        j.before = NULL; /* its counters have nothing to do with the other's */
    }
    if (j.before != NULL && differs(before->firmware, now->firmware))
        tell(&j, "firmware", "its firmware is %.40s now, %.40s before", now->firmware,
             before->firmware);
    judge_link(&j);
    judge_heat(&j);
    judge_throttle(memory, &j);
    judge_medium(&j);
}
