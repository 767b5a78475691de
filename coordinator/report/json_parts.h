/* json_parts.h - what the JSON reporters share; nobody else includes this. Main thread. */
#pragma once

#include "coordinator/result.h"

#include <jansson.h>

/* New references. Text that is not UTF-8 has its odd bytes replaced by '?'. */
json_t *rb_json_text(const char *text); /* NULL: null */
json_t *rb_json_u64(uint64_t n);        /* capped at INT64_MAX, JSON's integers here */
/* Sets a key that comes from outside; takes the reference. */
void rb_json_set(json_t *object, const char *key, json_t *value);

json_t *rb_json_stats(const rb_stats_t *stats);
json_t *rb_json_named(const rb_named_stats_t *list, size_t n);
json_t *rb_json_event(const rb_result_event_t *event);
/* Sets cpu, client_bound and placement of a host, where they were told. */
void rb_json_set_cpu(json_t *object, const rb_result_host_t *host);
/* A phase; a prepare that is no fill has neither interval, start nor series. */
json_t *rb_json_phase(const rb_result_t *result, const rb_result_phase_t *phase);
json_t *rb_json_prepare(const rb_result_t *result, const rb_result_phase_t *phase);
/* What drives and processors said of themselves, by host. */
json_t *rb_json_health(const rb_result_phase_t *phase);
/* Power that the user read: a list. */
json_t *rb_json_watts(const rb_result_phase_t *phase);
json_t *rb_json_series(const rb_result_t *result, const rb_result_phase_t *phase);
/* How each drive came to rest, or not. */
json_t *rb_json_steady(const rb_result_t *result, const rb_steady_t *steady);
/* What a sweep shows; the drives of a phase that are not like their peers. */
json_t *rb_json_sweep(const rb_result_t *result, const rb_result_sweep_t *sweep);
json_t *rb_json_stragglers(const rb_result_phase_t *phase);
json_t *rb_json_search(const rb_result_search_t *search);
/* What requests of a KV cache waited for, and what its tier did. */
json_t *rb_json_kv(const rb_result_kv_t *kv);
/* One window: at_ns, length_ns, ramp and an object per operation kind. */
json_t *rb_json_window(const rb_fold_t *fold, uint32_t phase, const rb_window_t *window);
