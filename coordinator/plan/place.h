/* place.h - where in the plan file each value stands, so that late errors can still name it.
 *
 * A path is field names and list indices with dots between: "phases.0.jobs.1.iodepth",
 * "phases.0.defaults.runtime_ns", "" for the plan as a whole. Single owner; adding is O(1), finding
 * O(values) and meant for the one error that ends a program.
 */
#pragma once

#include "common/err.h"

typedef struct rb_places rb_places_t;

/* file: as it shall stand in messages; copied. Never NULL. */
rb_places_t *rb_places_new(const char *file);
void rb_places_destroy(rb_places_t **places);
const char *rb_places_file(const rb_places_t *places);

/* line and column count from 1. A later entry for a path hides an earlier one. */
void rb_places_add(rb_places_t *places, const char *path, uint32_t line, uint32_t column);
/* The value of path, and all below it, came from elsewhere: origin ("--set a=b") stands for file,
 * line and column. O(values). */
void rb_places_add_origin(rb_places_t *places, const char *path, const char *origin);

/* "plan.yaml:12:5" of path; else of the same key at the job's phase, else of the nearest parent,
 * else the file alone. places may be NULL: "plan". Owned by the caller. */
char *rb_places_find(const rb_places_t *places, const char *path);

/* Sets RB_ERR_INPUT and "place of path: text"; returns -1. */
int rb_places_fail(const rb_places_t *places, const char *path, const char *text, rb_err_t *err);
