/* text_parts.h - what the files of the text report share; nobody else includes this. */
#pragma once

#include "coordinator/report/text.h"
#include "coordinator/report/words.h"

typedef struct {
    FILE *out;
    const rb_result_t *result;
    rb_units_t units;
    uint32_t quantiles;               /* bit i: a column for rb_quantiles[i] */
    bool has_uncertain, has_censored; /* what the legend must explain */
} rb_text_t;

void rb_text_phase(rb_text_t *text, const rb_result_phase_t *phase);
/* A search's steps and its verdict. */
void rb_text_search(rb_text_t *text, const rb_result_search_t *search);
/* What a sweep shows: peak, knee, cliffs, latencies. */
void rb_text_curves(const rb_text_t *text, const rb_result_sweep_t *sweep);
/* The drives that are not like their peers: of a phase, or of all points together. */
void rb_text_stragglers(const rb_text_t *text, const rb_result_phase_t *phase);
void rb_text_sweep_stragglers(const rb_text_t *text, const rb_result_sweep_t *sweep);
/* A sweep: a line for each point and kind of operation. */
void rb_text_sweep(rb_text_t *text, const rb_result_sweep_t *sweep);
/* In full, and not in a table alone. */
bool rb_text_shows_phase(const rb_result_t *result, size_t index);
void rb_text_hosts(rb_text_t *text, const rb_result_phase_t *phase);
/* Where the workers ran, how busy the CPUs were, why the tool was the limit. */
void rb_text_cpu(rb_text_t *text, const rb_result_phase_t *phase);
/* Whether its drives came to rest, where that was asked for. */
void rb_text_steady(const rb_text_t *text, const rb_result_phase_t *phase);
/* The kernel's count of sectors against ours. */
void rb_text_witness(rb_text_t *text, const rb_result_phase_t *phase);
/* What requests of a KV cache waited for, and what its tier did; nothing without one. */
void rb_text_kv(rb_text_t *text, const rb_result_phase_t *phase);
/* The drives of the run, by model and firmware; nothing where none is known. */
void rb_text_drives(const rb_text_t *text);
/* The drives that are not well, and why: at most a few lines. */
void rb_text_trouble(const rb_text_t *text, const rb_result_phase_t *phase);
/* Power that the user read. */
void rb_text_watts(const rb_text_t *text, const rb_result_phase_t *phase);
/* How the drives of a phase were, and the processors. */
void rb_text_health(const rb_text_t *text, const rb_result_phase_t *phase);

/* Words, cleaned, from column `at` on, in lines of at most 100 columns. */
void rb_text_wrapped(FILE *out, const char *words, size_t at);
/* Of reads, writes and trims together: a sync moves no data. */
typedef struct {
    double iops, bytes_per_s;
} rb_text_rates_t;
rb_text_rates_t rb_text_rates(const rb_stats_t *stats);
double rb_text_mega(const rb_text_t *text, double bytes); /* in MiB or MB */
const char *rb_text_mega_unit(const rb_text_t *text);     /* "MiB/s" or "MB/s" */
/* A quantile with its marks into buf [RB_FMT_SIZE + 2]; i: index in rb_quantiles. */
const char *rb_text_quantile(rb_text_t *text, char *buf, const rb_lat_t *lat, int i);
