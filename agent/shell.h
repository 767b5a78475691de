/* shell.h - the agent around its pure session: link, engine and targets wired to events and
 * actions.
 *
 * One thread (the agent's main thread) runs rb_shell_run until a signal; workers have their own.
 */
#pragma once

#include "agent/health.h"
#include "agent/link.h"
#include "agent/targets.h"

typedef struct {
    rb_link_opts_t link;
    rb_allowances_t allowances;
    rb_health_t *health;
    int signal_fd; /* signalfd of SIGINT and SIGTERM: readable = end */
} rb_shell_opts_t; /* borrowed for the call */

/* Serves coordinators until a signal arrives, then stops I/O, drains and returns 0. */
int rb_shell_run(const rb_shell_opts_t *opts, rb_err_t *err);
