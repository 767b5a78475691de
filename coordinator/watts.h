/* watts.h - readings of power that the user brings: of a CSV file, or Redfish answers that were
 * saved. Main thread.
 *
 * rackbench asks no meter and no BMC itself, and makes no HTTP calls. A reading becomes a WATTS row
 * of the coordinator's own, so that a replay has it, too.
 */
#pragma once

#include "coordinator/merge.h"

enum { RB_MAX_WATTS = 1000000 }; /* readings of one file or directory */

/* Zeroed at the start. */
typedef struct {
    const rb_fold_t *fold; /* whose hosts they are of; borrowed */
    size_t n;
    rb_watts_reading_t *items; /* [n] as they were read */
    uint32_t last_host;        /* where the search for a name begins */
} rb_watts_t;
void rb_watts_clear(rb_watts_t *watts);

/* A file, CSV or by its name *.json Redfish, or a directory of the latter. RB_ERR_INPUT names file
 * and line, RB_ERR_IO. */
int rb_watts_read(rb_watts_t *watts, const char *path, rb_err_t *err);

/* The header "time,host,scope,watts", then lines of it: time in RFC 3339 or seconds since 1970; the
 * host's name or * for all together; package, drive, chassis or pdu. `name` is for messages. */
int rb_watts_csv(rb_watts_t *watts, FILE *in, const char *name, rb_err_t *err);

/* One answer; `name` is its file's: HOST.json or HOST@TIME.json, else it is of mtime_ns.
 * What is taken: Power (the first PowerControl), EnvironmentMetrics (PowerWatts), Sensor in W.
 * Source: DMTF Redfish Schema Bundle 2023.1. */
int rb_watts_redfish(rb_watts_t *watts, const char *name, const char *text, uint64_t mtime_ns,
                     rb_err_t *err);

/* Adds one. `host` NULL or "*": all together. */
typedef struct {
    const char *host, *time; /* time NULL: wall_ns says it */
    uint64_t wall_ns;
    const char *scope;
    double watts;
} rb_watts_told_t;
int rb_watts_add(rb_watts_t *watts, const rb_watts_told_t *told, rb_err_t *err);

/* "2026-11-30T21:00:00.5+01:00" or "1796072400.5" to ns since 1970. RB_ERR_INPUT. */
int rb_watts_time(const char *text, uint64_t *ret_ns, rb_err_t *err);

/* Reads a path and puts its rows into the fold, and behind the journal where that is not NULL (no
 * process may write to it). Nothing is added if anything is wrong. */
int rb_watts_feed(rb_fold_t *fold, const char *journal_path, const char *path, rb_err_t *err);
