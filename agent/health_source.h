/* health_source.h - the drives that a phase's subjects lie on, and one reading of each.
 *
 * A file lies on the drive under its file system, an array on its members; namespaces of one NVMe
 * controller are one drive here, as its counters are. Finding them reads sysfs (main thread, a
 * millisecond a drive); a reading of an NVMe drive sends it admin commands, which may block: in the
 * health thread alone.
 */
#pragma once

#include "agent/engine.h"

typedef struct {
    char *path; /* of the disk: "/dev/nvme0n1" */
    char *disk; /* its sysfs directory */
    char *key;  /* what makes it one drive: of its NVMe controller, else the disk's */
    size_t nplaces;
    rb_disk_place_t *places;         /* [nplaces] subjects that are on it */
    int fd;                          /* NVMe; -1: not open */
    bool no_smart, no_ocp, no_power; /* it refused before: a refusal is an entry in its error log */
} rb_health_source_t;

typedef struct {
    size_t n; /* at most RB_MAX_HEALTH_DRIVES; those beyond are not looked at */
    rb_health_source_t *items;
} rb_health_sources_t;

void rb_health_sources_find(rb_health_sources_t *sources, const rb_subject_t *subjects, size_t n);
void rb_health_sources_clear(rb_health_sources_t *sources);

/* Never fails: what is not known stays RB_HEALTH_UNKNOWN. The caller owns *ret. */
void rb_health_source_read(rb_health_source_t *source, rb_health_drive_t *ret);
