/* rank_parts.h - what the files that show a ranking share; nobody else includes this. */
#pragma once

#include "coordinator/reference/rank_show.h"
#include "coordinator/report/words.h"

void rb_rank_text(FILE *out, const rb_ranking_t *ranking, rb_units_t units);
void rb_specs_text(FILE *out, const rb_reference_drive_t *a, const rb_reference_drive_t *b);
/* How much further the other is, or this is before it [percent of the one that is worse]. */
double rb_rank_gap(const rb_rank_row_t *row, double other);
