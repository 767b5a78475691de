#include "coordinator/options_rows.h"

#include "coordinator/result.h"
#include "proto/socket.h"

#include <getopt.h>

enum { OPT_FIRST = 256, JOURNAL_LEAST_BYTES = 65536 };
#define JOURNAL_MAX_BYTES 10000000000

static int take_hosts(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->hosts = value;
    return 0;
}

static int take_local(rb_options_t *o, const char *value, rb_err_t *err)
{
    uint64_t n;
    if (rb_parse_count(value, &n, err) != 0)
        return -1;
    if (n < 1 || n > 256)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' is not a number of agents from 1 to 256", value);
    o->local = (uint32_t)n;
    return 0;
}

static int take_listen(rb_options_t *o, const char *value, rb_err_t *err)
{
    o->listen = value;
    return rb_socket_check_url(value, err);
}

static int take_output(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->output = value;
    return 0;
}

static int take_scratch(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->scratch = value;
    return 0;
}

static int take_key(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->key = value;
    return 0;
}

static int take_known_hosts(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->known_hosts = value;
    return 0;
}

static int take_set(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    *RB_PUSH(o->sets, o->nsets) = value;
    return 0;
}

static int take_path(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    *RB_PUSH(o->paths, o->npaths) = value;
    return 0;
}

static int take_device(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    *RB_PUSH(o->devices, o->ndevices) = value;
    return 0;
}

static int take_watts(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    *RB_PUSH(o->watts, o->nwatts) = value;
    return 0;
}

static int take_format(rb_options_t *o, const char *value, rb_err_t *err)
{
    static const char *const names[] = {[RB_FORMAT_TEXT] = "text",
                                        [RB_FORMAT_JSON] = "json",
                                        [RB_FORMAT_CSV] = "csv",
                                        [RB_FORMAT_FIO_JSON] = "fio-json",
                                        [RB_FORMAT_FIO_JSON_PLUS] = "fio-json+"};
    for (size_t i = 0; i < RB_LEN(names); i++) {
        if (strcmp(value, names[i]) == 0) {
            o->format = (rb_format_t)i;
            return 0;
        }
    }
    return rb_err_set(err, RB_ERR_INPUT,
                      "unknown format '%s'; text, json, csv, fio-json and fio-json+ are there",
                      value);
}

static int take_units(rb_options_t *o, const char *value, rb_err_t *err)
{
    static const char *const words[][2] = {
        [RB_UNITS_BINARY] = {"MiB/s", "mib"}, [RB_UNITS_DECIMAL] = {"MB/s", "mb"}};
    for (size_t i = 0; i < RB_LEN(words); i++) {
        if (strcmp(value, words[i][0]) != 0 && strcmp(value, words[i][1]) != 0)
            continue;
        o->units = (rb_units_t)i;
        return 0;
    }
    return rb_err_set(err, RB_ERR_INPUT, "unknown unit '%s'; MiB/s (mib) or MB/s (mb)", value);
}

static int take_percentiles(rb_options_t *o, const char *value, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *list = rb_strdup(value);
    char *rest = NULL;
    o->quantiles = 0;
    for (char *word = strtok_r(list, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        int found = -1;
        for (int i = 0; i < RB_QUANTILES; i++)
            if (strcmp(word, rb_quantiles[i].title + (*word != 'p')) == 0)
                found = i;
        if (found < 0)
            return rb_err_set(
                err, RB_ERR_INPUT,
                "no percentile '%s'; 50, 90, 95, 99, 99.9, 99.99 and 99.999 are there", word);
        o->quantiles |= 1u << found;
    }
    if (o->quantiles == 0)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' names no percentile; 50,99,99.9 does", value);
    return 0;
}

static int take_host(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->host = value;
    return 0;
}

static int take_fio_logs(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)err;
    o->fio_logs = value;
    return 0;
}

static int take_timeout(rb_options_t *o, const char *value, rb_err_t *err)
{
    if (rb_parse_duration(value, &o->connect_timeout_ns, err) != 0)
        return -1;
    return o->connect_timeout_ns > 0 ? 0 : rb_err_set(err, RB_ERR_INPUT, "0 is no time to answer");
}

static int take_journal_max(rb_options_t *o, const char *value, rb_err_t *err)
{
    if (rb_parse_bytes(value, &o->journal_max_bytes, err) != 0)
        return -1;
    return o->journal_max_bytes >= JOURNAL_LEAST_BYTES
               ? 0
               : rb_err_set(err, RB_ERR_INPUT, "a journal takes 64 KiB at the least");
}

static int take_insecure(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->insecure = true;
    return 0;
}

static int take_allow_wipe(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->allow_wipe = true;
    return 0;
}

static int take_yes(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->yes = true;
    return 0;
}

static int take_quiet(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->quiet = true;
    return 0;
}

static int take_json_lines(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->json_lines = true;
    return 0;
}

static int take_collect(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->collect = true;
    return 0;
}

static int take_lenient(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->lenient = true;
    return 0;
}

static int take_specs(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->specs = true;
    return 0;
}

static int take_help(rb_options_t *o, const char *value, rb_err_t *err)
{
    (void)value, (void)err;
    o->help = true;
    return 0;
}

static const rb_option_row_t rows[] = {
    {"hosts", "LIST",
     "agents to use: a,b  node[01-16]  10.77.0.[1-4]  host:port  @file  hosts.yaml", take_hosts,
     RB_FOR_FLEET | RB_FOR_STOP},
    {"local", "N", "no hosts: start N agents on this machine (run: 4, with devices 1)", take_local,
     RB_FOR_FLEET},
    {"listen", "URL", "wait here for agents that --join, instead of dialling the hosts",
     take_listen, RB_FOR_FLEET},
    {"key", "FILE", "our own key (default ~/.config/rackbench/key)", take_key,
     RB_FOR_FLEET | RB_FOR_RESUME | RB_FOR_STOP | RB_FOR_KEYGEN},
    {"known-hosts", "FILE",
     "keys of agents, lines of NAME KEY (default ~/.config/rackbench/known_hosts)",
     take_known_hosts, RB_FOR_FLEET | RB_FOR_RESUME | RB_FOR_STOP},
    {"insecure", NULL, "talk to agents beyond this machine without keys", take_insecure,
     RB_FOR_FLEET | RB_FOR_STOP},
    {"connect-timeout", "TIME", "how long an agent may take to answer at first (default 5s)",
     take_timeout, RB_FOR_FLEET | RB_FOR_RESUME | RB_FOR_STOP},
    {"set", "KEY=VALUE", "override a plan key: phases.0.jobs.0.iodepth=64 (repeatable)", take_set,
     RB_FOR_RUN | RB_FOR_CHECK | RB_FOR_CLEAN},
    {"lenient", NULL, "of a fio job file: go on without what has no equivalent, with a warning",
     take_lenient, RB_FOR_RUN | RB_FOR_CHECK | RB_FOR_CLEAN | RB_FOR_PLAN},
    {"output", "DIR", "run directory (default ./NAME-YYYYMMDDTHHMMSSZ-ID)", take_output,
     RB_FOR_RUN},
    {"journal-max", "SIZE", "with interval: auto, windows merge to keep it so small (default 10GB)",
     take_journal_max, RB_FOR_RUN | RB_FOR_RESUME},
    {"scratch", "DIR", "files of --local agents (default ./rackbench-scratch)", take_scratch,
     RB_FOR_FLEET},
    {"allow-path", "DIR", "--local agents may lay out files under DIR (repeatable)", take_path,
     RB_FOR_FLEET},
    {"allow-device", "GLOB", "--local agents may write to these devices (repeatable)", take_device,
     RB_FOR_FLEET},
    {"allow-wipe", NULL, "--local agents may overwrite signatures where the plan's wipe says so",
     take_allow_wipe, RB_FOR_FLEET},
    {"format", "WORD", "text (default), json, csv, fio-json or fio-json+ on standard output",
     take_format, RB_FOR_RESULT | RB_FOR_STATUS | RB_FOR_SIZE | RB_FOR_RANK},
    {"host", "NAME", "with fio-json: this host alone, as fio on it would write it", take_host,
     RB_FOR_RESULT},
    {"fio-logs", "DIR", "also write the series as fio's bw, iops, clat, lat and slat logs",
     take_fio_logs, RB_FOR_RESULT},
    {"percentiles", "LIST", "columns of the text table, of 50,90,95,99,99.9,99.99,99.999",
     take_percentiles, RB_FOR_RESULT},
    {"units", "UNIT", "MiB/s (default, or mib) or MB/s (mb), in table and live line", take_units,
     RB_FOR_RESULT | RB_FOR_RANK},
    {"watts", "FILE",
     "power read by a meter of yours: CSV time,host,scope,watts, or Redfish *.json (repeatable)",
     take_watts, RB_FOR_RUN | RB_FOR_REPORT},
    {"yes", NULL, "do not ask before a drive is overwritten", take_yes, RB_FOR_RUN},
    {"quiet", NULL, "no live line", take_quiet, RB_FOR_LIVE},
    {"json-lines", NULL, "live view as one JSON object a line, on standard output", take_json_lines,
     RB_FOR_LIVE},
    {"collect", NULL, "fetch rows only: a phase that still runs is stopped, none is started",
     take_collect, RB_FOR_RESUME},
    {"specs", NULL, "compare two drives of the published tables, by name", take_specs, RB_FOR_RANK},
    {"help", NULL, "this help", take_help, RB_FOR_ALL},
};

enum { ROWS = RB_LEN(rows) + RB_SIZE_OPTIONS };

static const rb_option_row_t *row_of(size_t i)
{
    return i < RB_LEN(rows) ? &rows[i] : &rb_size_options[i - RB_LEN(rows)];
}

void rb_options_help(FILE *out, rb_for_t command)
{
    for (size_t i = 0; i < ROWS; i++) {
        const rb_option_row_t *row = row_of(i);
        if (!(row->commands & command))
            continue;
        char left[40];
        snprintf(left, sizeof(left), "--%s %s", row->name, row->value ? row->value : "");
        fprintf(out, "  %-24s %s\n", left, row->help);
    }
}

static void build_table(struct option *table)
{
    for (size_t i = 0; i < ROWS; i++)
        table[i] =
            (struct option){row_of(i)->name, row_of(i)->value ? required_argument : no_argument,
                            NULL, OPT_FIRST + (int)i};
    table[ROWS] = (struct option){0};
}

static int take_option(rb_options_t *o, const rb_option_row_t *row, rb_for_t command,
                       const char *name, rb_err_t *err)
{
    if (!(row->commands & command))
        return rb_err_set(err, RB_ERR_INPUT, "rackbench %s has no option --%s", name, row->name);
    if (row->take(o, optarg, err) != 0)
        return rb_err_wrap(err, "--%s", row->name);
    return 0;
}

int rb_options_parse(rb_options_t *o, rb_for_t command, int argc, char **argv, rb_err_t *err)
{
    struct option table[ROWS + 1];
    int opt;
    build_table(table);
    *o = (rb_options_t){.scratch = "rackbench-scratch",
                        .connect_timeout_ns = 5 * RB_NS_PER_S,
                        .journal_max_bytes = JOURNAL_MAX_BYTES};
    rb_size_opts_init(&o->size);
    optind = 1;
    opterr = 0;
    while ((opt = getopt_long(argc, argv, ":h", table, NULL)) != -1) {
        if (opt == 'h') {
            o->help = true;
        } else if (opt == '?' || opt == ':') {
            return rb_err_set(err, RB_ERR_INPUT, "%s '%s'; see rackbench %s --help",
                              opt == '?' ? "unknown option" : "a value is missing after",
                              argv[optind - 1], argv[0]);
        } else if (take_option(o, row_of((size_t)(opt - OPT_FIRST)), command, argv[0], err) != 0) {
            return -1;
        }
    }
    for (; optind < argc; optind++)
        *RB_PUSH(o->args, o->nargs) = argv[optind];
    if (o->json_lines && o->format != RB_FORMAT_TEXT)
        return rb_err_set(err, RB_ERR_INPUT, "--json-lines and --format exclude each other");
    if (o->host != NULL && o->format != RB_FORMAT_FIO_JSON && o->format != RB_FORMAT_FIO_JSON_PLUS)
        return rb_err_set(err, RB_ERR_INPUT, "--host needs --format fio-json or fio-json+");
    if (o->hosts != NULL && o->local > 0)
        return rb_err_set(err, RB_ERR_INPUT, "--hosts and --local exclude each other");
    if (o->listen != NULL && o->hosts == NULL)
        return rb_err_set(err, RB_ERR_INPUT,
                          "--listen needs --hosts with the names of the agents that will join");
    return 0;
}

void rb_options_clear(rb_options_t *o)
{
    free(o->sets);
    free(o->paths);
    free(o->devices);
    free(o->watts);
    free(o->args);
    *o = (rb_options_t){0};
}
