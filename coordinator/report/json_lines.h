/* json_lines.h - one JSON object a line, for whoever follows a run with `--json-lines`. A door to
 * jansson. Main thread. */
#pragma once

#include "coordinator/result.h"

/* {"type":"state","state":...,"phase":...,"step":...}: what the run is doing; step 0: no search. */
void rb_json_line_state(FILE *out, const char *word, const char *phase, uint32_t step);
/* {"type":"window","phase":...,"wall_ns":...,"at_ns":...}: a cluster window that every host has
 * delivered. */
void rb_json_line_window(FILE *out, const rb_fold_t *fold, uint32_t phase,
                         const rb_window_t *window);
/* {"type":"event","host":...,"kind":...,"text":...}; at_ns is since T0 of its phase, and absent for
 * what the coordinator noted. */
void rb_json_line_event(FILE *out, const rb_fold_t *fold, const rb_fold_event_t *event);
/* {"type":"result","run":...,"exit_code":...,"text":...,"phases":[{"name","step","cluster"}]}: the
 * last line. text: the one error line, "" if none. */
void rb_json_line_result(FILE *out, const rb_result_t *result, int exit_code, const char *text);
