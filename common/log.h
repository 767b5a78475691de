/* log.h - one line a message on stderr: "rackbench-agent: warning: ...".
 *
 * Program name and level are the one global of the product: set once by main, before any thread,
 * and only read from then on. Any thread: a line is one write(2), so lines never mix. Blocks as
 * stderr does: never between ARM and the end of a phase in a worker. errno is kept. A line is cut
 * at RB_LOG_LINE bytes; control characters and what is no UTF-8, which may come from
 * afar, are shown as \xNN.
 */
#pragma once

#include "common/base.h"

enum { RB_LOG_LINE = 1024 };

typedef enum { RB_LOG_ERROR, RB_LOG_WARN, RB_LOG_INFO, RB_LOG_DEBUG } rb_log_level_t;

/* Messages above level are dropped. program is borrowed for good: argv[0]'s last part or a literal.
 * Before this call: "rackbench" and RB_LOG_INFO. */
void rb_log_init(const char *program, rb_log_level_t level);

void rb_log_error(const char *fmt, ...) RB_PRINTF(1, 2);
void rb_log_warn(const char *fmt, ...) RB_PRINTF(1, 2);
void rb_log_info(const char *fmt, ...) RB_PRINTF(1, 2);
void rb_log_debug(const char *fmt, ...) RB_PRINTF(1, 2);
