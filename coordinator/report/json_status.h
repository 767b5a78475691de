/* json_status.h - what a run is doing, as one JSON object: `rackbench status --format json`. A door
 * to jansson. Main thread. */
#pragma once

#include "coordinator/playback.h"

/* wall_ns: now, since 1970. alive: a process writes to the journal. RB_ERR_IO. */
int rb_json_status(FILE *out, const rb_playback_t *playback, uint64_t wall_ns, bool alive,
                   rb_err_t *err);
