/* cmd.h - one function per subcommand, in cmd_NAME.c: wiring only, the work is in the rooms behind.
 *
 * Returns the exit status; err.text, if any, is the one line that main prints.
 */
#pragma once

#include "coordinator/options.h"

typedef int rb_cmd_fn(const rb_options_t *options, rb_err_t *err);

rb_cmd_fn cmd_run, cmd_resume, cmd_check, cmd_report, cmd_status, cmd_attach, cmd_hosts, cmd_stop,
    cmd_clean, cmd_plan, cmd_keygen, cmd_size, cmd_rank;
