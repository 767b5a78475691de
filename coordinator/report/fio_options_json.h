/* fio_options_json.h - a job in fio's words, as "job options". Main thread. */
#pragma once

#include "rackbench.pb-c.h"

#include <jansson.h>

/* A new reference. */
json_t *rb_fio_options_json(const Rackbench__Plan *plan, const Rackbench__Job *job);
