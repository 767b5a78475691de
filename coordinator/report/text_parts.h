/* text_parts.h - what the files of the text report share; nobody else includes this. */
#pragma once

#include "coordinator/report/text.h"

typedef struct {
    FILE *out;
    const rb_result_t *result;
    rb_units_t units;
    uint32_t quantiles;                                /* bit i: a column for rb_quantiles[i] */
    bool has_uncertain, has_censored, has_closed_loop; /* what the legend must explain */
} rb_text_t;

void rb_text_phase(rb_text_t *text, const rb_result_phase_t *phase);
void rb_text_hosts(rb_text_t *text, const rb_result_phase_t *phase);
/* The kernel's count of sectors against ours. */
void rb_text_witness(rb_text_t *text, const rb_result_phase_t *phase);

double rb_text_mega(const rb_text_t *text, double bytes); /* in MiB or MB */
const char *rb_text_mega_unit(const rb_text_t *text);     /* "MiB/s" or "MB/s" */
/* A quantile with its marks into buf [RB_FMT_SIZE + 2]; i: index in rb_quantiles. */
const char *rb_text_quantile(rb_text_t *text, char *buf, const rb_lat_t *lat, int i);
