/* fio_phases.h - the jobs of a fio file in phases, and these into the plan. Any thread. */
#pragma once

#include "coordinator/plan/fio_job.h"

/* Moves the jobs, whose targets are set, into the plan. */
int rb_fio_phases(rb_fio_t *f);
