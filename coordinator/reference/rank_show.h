/* rank_show.h - a ranking and a comparison of specifications, as text and as JSON. Main thread. */
#pragma once

#include "coordinator/options.h"
#include "coordinator/reference/rank.h"

/* RB_ERR_IO. */
int rb_rank_show(FILE *out, const rb_ranking_t *ranking, const rb_options_t *options,
                 rb_err_t *err);
/* Each number that both have under one name and unit: from a to b. RB_ERR_IO. */
int rb_specs_show(FILE *out, const rb_reference_drive_t *a, const rb_reference_drive_t *b,
                  const rb_options_t *options, rb_err_t *err);
