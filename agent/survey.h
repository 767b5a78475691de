/* survey.h - the inventory of this host as it is made: its drives are looked at one by one, each by
 * a probe, so that one that does not answer keeps nobody waiting for long.
 *
 * Main thread; does not block.
 */
#pragma once

#include "proto/wire.h"

enum { RB_SURVEY_PATIENCE_S = 2 }; /* for one drive */

typedef struct rb_survey rb_survey_t;

/* event_fd: an eventfd, readable when rb_survey_poll is to be called. Outlives the survey. */
rb_survey_t *rb_survey_new(int event_fd);
void rb_survey_destroy(rb_survey_t **survey);
/* Call it about once a second, too. The inventory once it is complete, else NULL; borrowed. A drive
 * that did not answer is in it with the reason in in_use. */
Rackbench__Inventory *rb_survey_poll(rb_survey_t *survey);
/* Which drive it is at, into buf [size], and for how long [ns]; "" where it is done. */
uint64_t rb_survey_at(const rb_survey_t *survey, char *buf, size_t size);
