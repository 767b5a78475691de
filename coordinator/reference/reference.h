/* reference.h - figures that were published of drives: what reviews measured, what vendors rate.
 *
 * Compiled in from drives.json, whose head names the origin. Main thread.
 * Units: a rate is kept as it was printed, with its unit; rb_reference_rate gives bytes per second.
 * The reviews print "MB/s" for fio and mean MiB/s: in the file they carry what is meant. Ratings
 * are decimal.
 */
#pragma once

#include "common/err.h"

typedef struct {
    const char *test;   /* "rand_read_4K", "gdsio_write_128K" */
    const char *metric; /* "bandwidth", "peak_iops", "latency_avg" */
    const char *unit;   /* "MiB/s", "kIOPS", "us" */
    bool is_range;      /* only value_min and value_max were printed */
    double value;
    uint32_t iodepth, numjobs, threads; /* 0: not told */
    char *sources;                      /* "A,B,E" */
} rb_reference_result_t;

typedef struct {
    const char *name; /* "rated_seq_read_128k", "power_active_typ" */
    const char *unit;
    double value;
} rb_reference_spec_t; /* those that are one number */

typedef struct {
    const char *id, *vendor, *model, *part_number; /* part_number: "" if not told */
    double capacity_tb;
    size_t nresults, nspecs;
    rb_reference_result_t *results;
    rb_reference_spec_t *specs;
} rb_reference_drive_t;

typedef struct rb_reference rb_reference_t;

rb_reference_t *rb_reference_new(void);
void rb_reference_destroy(rb_reference_t **reference);
/* [*ret_n], borrowed. */
const rb_reference_drive_t *rb_reference_drives(const rb_reference_t *reference, size_t *ret_n);

/* The drive that a person names: its id, or the one whose model has the word in it, in any case.
 * RB_ERR_INPUT: none has, or several have. */
const rb_reference_drive_t *rb_reference_find(const rb_reference_t *reference, const char *name,
                                              rb_err_t *err);
/* The drive that an inventory knows by model and size; NULL: it is not in the tables. */
const rb_reference_drive_t *rb_reference_of(const rb_reference_t *reference, const char *model,
                                            uint64_t size_bytes);
/* NULL: it has none of that name. */
const rb_reference_spec_t *rb_reference_spec(const rb_reference_drive_t *drive, const char *name);

/* Bytes per second of "MiB/s", "GiB/s", "MB/s", "GB/s" or, with bs, "kIOPS"; 0: it is no rate. */
double rb_reference_rate(double value, const char *unit, uint64_t bs_bytes);
