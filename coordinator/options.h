/* options.h - the command line that all subcommands share: one table drives parser and help. */
#pragma once

#include "common/err.h"
#include "common/units.h"
#include "coordinator/size_kv.h"

typedef enum {
    RB_FORMAT_TEXT,
    RB_FORMAT_JSON,
    RB_FORMAT_CSV,
    RB_FORMAT_FIO_JSON,
    RB_FORMAT_FIO_JSON_PLUS
} rb_format_t;

/* The commands that an option is for. */
typedef enum {
    RB_FOR_RUN = 1,
    RB_FOR_CHECK = 2,
    RB_FOR_REPORT = 4,
    RB_FOR_HOSTS = 8,
    RB_FOR_CLEAN = 16,
    RB_FOR_PLAN = 32,
    RB_FOR_STATUS = 64,
    RB_FOR_ATTACH = 128,
    RB_FOR_STOP = 256,
    RB_FOR_RESUME = 512,
    RB_FOR_SIZE = 1 << 16,
    RB_FOR_KEYGEN = 1 << 20,
    RB_FOR_RANK = 1 << 22,
    RB_FOR_FLEET = RB_FOR_RUN | RB_FOR_CHECK | RB_FOR_HOSTS | RB_FOR_CLEAN,
    RB_FOR_LIVE = RB_FOR_RUN | RB_FOR_RESUME | RB_FOR_ATTACH,
    RB_FOR_RESULT = RB_FOR_RUN | RB_FOR_RESUME | RB_FOR_REPORT | RB_FOR_ATTACH,
    RB_FOR_ALL = 0xffffff
} rb_for_t;

typedef struct {
    const char *hosts, *listen, *output, *scratch, *key, *known_hosts, *host, *fio_logs;
    uint32_t local; /* 0: not said */
    rb_format_t format;
    rb_units_t units;
    uint32_t quantiles; /* bit i: rb_quantiles[i] (result.h); 0: not said */
    uint64_t connect_timeout_ns, journal_max_bytes;
    bool insecure, allow_wipe, yes, quiet, json_lines, collect, lenient, specs, help;
    size_t nsets, npaths, ndevices, nwatts, nargs;
    const char **sets, **paths, **devices, **watts, **args;
    rb_size_opts_t size;
} rb_options_t;

/* argv[0] is the subcommand; what is no option goes to args. Options may stand anywhere.
 * RB_ERR_INPUT. */
int rb_options_parse(rb_options_t *options, rb_for_t command, int argc, char **argv, rb_err_t *err);
void rb_options_clear(rb_options_t *options);
/* The options of a command, as --help shows them. */
void rb_options_help(FILE *out, rb_for_t command);
