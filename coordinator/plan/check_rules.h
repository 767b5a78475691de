/* check_rules.h - what the tables of rules in check*.c share. */
#pragma once

#include "coordinator/plan/check.h"
#include "coordinator/plan/schema.h"

/* Where a rule is asked. Pointers below the level in question are NULL. */
typedef struct {
    const Rackbench__Plan *plan;
    const Rackbench__Target *target; /* in job rules: the job's target */
    const Rackbench__Phase *phase;
    const Rackbench__Job *job;
    char path[64]; /* of the target, phase or job; "" for the plan */
    const rb_places_t *places;
    rb_err_t *err;
} rb_scope_t;

/* 0, or rb_rule_fail's -1. */
typedef int rb_rule_t(const rb_scope_t *s);

/* Largest file, region and offset: sums of two stay far below 64 bits. */
#define RB_MAX_RANGE_BYTES (1ull << 60)
/* What direct I/O needs at least; an agent knows what its drive needs. */
enum { RB_SECTOR_BYTES = 512 };
enum { RB_MAX_LOG_PATH = 512 }; /* [bytes] of verify_log */

/* A number that must lie in [min, max] where it is set; of a list or a text max is that of its
 * entries or bytes. */
typedef struct {
    const char *key;
    uint64_t min, max;
} rb_range_t;

/* Sets err at the place of the scope's key (NULL: of the scope itself). Returns -1. */
int rb_rule_fail(const rb_scope_t *s, const char *key, const char *fmt, ...) RB_PRINTF(3, 4);
int rb_rules_ask(const rb_scope_t *s, rb_rule_t *const *rules, size_t n);
int rb_ranges_ask(const rb_scope_t *s, const ProtobufCMessage *msg, const rb_range_t *ranges,
                  size_t n);
/* The `name`s in a list of messages: none is empty, no two are equal. what is the kind of thing:
 * "job". */
int rb_unique_ask(const rb_scope_t *s, rb_slot_t list, const char *what);
/* ... and each is good by rb_name_ask, too. */
int rb_names_ask(const rb_scope_t *s, rb_slot_t list, const char *what);
/* A name is not empty, without '/' and control characters, not . or ..
 */
int rb_name_ask(const rb_scope_t *s, const char *key, const char *what, const char *name);
const Rackbench__Target *rb_target_find(const Rackbench__Plan *plan, const char *name);

/* Ranges and rules of one job; s->target may be NULL. */
int rb_check_job(const rb_scope_t *s);
/* Its part of where and for how long: offset_increment, percents, loops, start_delay. */
int rb_check_region(const rb_scope_t *s);
/* Its part of what comes next: mix, syncs, distribution, sizes. */
int rb_check_pattern(const rb_scope_t *s);
/* Its part of verify, verify_only and verify_log. s->target is not NULL. */
int rb_check_verify(const rb_scope_t *s);
/* Its part of how and when it is done, and with which data. s->target is not NULL. */
int rb_check_io(const rb_scope_t *s);
/* Its KV cache. */
int rb_check_kv(const rb_scope_t *s);
/* Its search for a rate; of a phase: at most one job searches; of the plan: its steps. */
int rb_check_search(const rb_scope_t *s);
int rb_check_searches(const rb_scope_t *s);
int rb_check_step_count(const rb_scope_t *s);
/* A phase's sweep, before its points are made. */
int rb_check_sweep(const rb_scope_t *s);
/* What is written before a phase, and of the phase that it is for: whether its jobs allow that. */
int rb_check_precondition(const rb_scope_t *s);
int rb_check_filled(const rb_scope_t *s);
/* A phase's steady_state; and whether the jobs of the phase as it is run have rounds. */
int rb_check_steady(const rb_scope_t *s);
int rb_check_rounds(const rb_scope_t *s);
/* Where the sweep sets this field for the scope's phase, which is a point; NULL: it does not. Owned
 * by the caller. */
char *rb_sweep_place(const rb_scope_t *s, const char *key);
