#include "agent/privilege.h"
#include "agent/probe.h"
#include "agent/shell.h"
#include "common/clock.h"
#include "common/local.h"
#include "common/log.h"
#include "common/units.h"
#include "common/wall_clock.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const char usage[] =
    "Usage: rackbench-agent [OPTIONS]\n"
    "Drives this host's storage for a rackbench coordinator. Serves one run after another until\n"
    "it gets SIGTERM or SIGINT.\n"
    "\n"
    "  --listen URL         wait for coordinators here (default tcp://127.0.0.1:7411)\n"
    "  --join URL           dial out to a coordinator that was started with --listen\n"
    "  --name NAME          with --join: the name that its host list has for us (default: "
    "hostname)\n"
    "  --authorize KEY      listen to the coordinator with this public key alone (repeatable; or "
    "a\n"
    "                       file of such keys); `rackbench keygen` prints it\n"
    "  --coordinator-key KEY  with --join: the public key of the coordinator\n"
    "  --key FILE           our own key, made if it is not there (default "
    "/etc/rackbench/agent.key)\n"
    "  --show-key           print 'NAME KEY', as a coordinator's known_hosts wants it, and end\n"
    "  --insecure           without keys, needed to listen on or dial beyond this machine: "
    "whoever\n"
    "                       reaches the port can have files written in the scratch directory and "
    "in\n"
    "                       every --allow-path, and drives of --allow-device overwritten\n"
    "  --scratch DIR        where files go if the plan names no directory (default "
    "/var/tmp/rackbench)\n"
    "  --allow-path DIR     plans may lay out files under DIR too (repeatable)\n"
    "  --allow-device GLOB  plans may write to these block devices (repeatable): '/dev/nvme*n1'.\n"
    "                       A drive that is in use is refused all the same\n"
    "  --reserve SIZE       free space that files leave on a file system (default a twentieth of "
    "it, at\n"
    "                       most 1 GiB)\n"
    "  --allow-wipe         plans may overwrite signatures (file systems, partition tables) on "
    "drives\n"
    "                       whose serial numbers they list under wipe\n"
    "  --quiet, --verbose   fewer or more messages on stderr\n"
    "  --version, --help\n"
    "\n"
    "Examples:\n"
    "  rackbench-agent --listen tcp://0.0.0.0:7411 --authorize /etc/rackbench/coordinators\n"
    "  rackbench-agent --listen tcp://0.0.0.0:7411 --insecure\n"
    "  rackbench-agent --listen tcp://10.0.0.7:7411 --insecure --allow-device '/dev/nvme[1-8]n1'\n";

enum {
    OPT_INSECURE = 256,
    OPT_EMBEDDED,
    OPT_KEY,
    OPT_AUTHORIZE,
    OPT_COORDINATOR_KEY,
    OPT_SHOW_KEY,
    OPT_ALLOW_WIPE,
    OPT_RESERVE,
    OPT_TEST_CLOCK
};

static const struct option options[] = {
    {"listen", required_argument, NULL, 'l'},
    {"join", required_argument, NULL, 'j'},
    {"name", required_argument, NULL, 'n'},
    {"insecure", no_argument, NULL, OPT_INSECURE},
    {"embedded", no_argument, NULL, OPT_EMBEDDED},
    {"key", required_argument, NULL, OPT_KEY},
    {"authorize", required_argument, NULL, OPT_AUTHORIZE},
    {"coordinator-key", required_argument, NULL, OPT_COORDINATOR_KEY},
    {"show-key", no_argument, NULL, OPT_SHOW_KEY},
    {"allow-wipe", no_argument, NULL, OPT_ALLOW_WIPE},
    {"reserve", required_argument, NULL, OPT_RESERVE},
    {"test-clock", required_argument, NULL, OPT_TEST_CLOCK},
    {"scratch", required_argument, NULL, 's'},
    {"allow-path", required_argument, NULL, 'p'},
    {"allow-device", required_argument, NULL, 'd'},
    {"quiet", no_argument, NULL, 'q'},
    {"verbose", no_argument, NULL, 'v'},
    {"version", no_argument, NULL, 'V'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0}};

typedef struct {
    rb_shell_opts_t shell;
    char hostname[RB_MAX_NAME + 1];
    const char **paths, **devices;
    size_t npaths, ndevices;
    bool insecure, show_key;
    const char *key_path;
    rb_key_pair_t key;
    rb_key_list_t authorized;
    const char *test_clock; /* not on the first page: only a test wants it */
    rb_log_level_t level;
} args_t;

static int bad(const char *text)
{
    fprintf(stderr, "rackbench-agent: %s; see rackbench-agent --help\n", text);
    return RB_ERR_INPUT;
}

static int fail(const rb_err_t *err)
{
    fprintf(stderr, "rackbench-agent: %s\n", err->text);
    return (int)err->code;
}

static int authorize(args_t *a, const char *what)
{
    rb_err_t err;
    return rb_key_list_take(&a->authorized, what, &err) == 0 ? -1 : fail(&err);
}

static int take_reserve(args_t *a, const char *text)
{
    rb_err_t err;
    uint64_t bytes;
    if (rb_parse_bytes(text, &bytes, &err) == 0) {
        a->shell.allowances.reserve_bytes = RB_MAX(bytes, 1u);
        return -1;
    }
    rb_err_wrap(&err, "--reserve");
    return fail(&err);
}

/* -1: go on, else the exit status. */
static int take_option(args_t *a, int opt)
{
    switch (opt) {
    case 'l':
        a->shell.link.listen = optarg;
        return -1;
    case 'j':
        a->shell.link.join = optarg;
        return -1;
    case 'n':
        a->shell.link.name = optarg;
        return -1;
    case 's':
        a->shell.allowances.scratch = optarg;
        return -1;
    case 'p':
        *RB_PUSH(a->paths, a->npaths) = optarg;
        return -1;
    case 'd':
        *RB_PUSH(a->devices, a->ndevices) = optarg;
        return -1;
    case OPT_INSECURE:
        a->insecure = true;
        return -1;
    case OPT_KEY:
        a->key_path = optarg;
        return -1;
    case OPT_AUTHORIZE:
        return authorize(a, optarg);
    case OPT_COORDINATOR_KEY:
        a->shell.link.coordinator_key = optarg;
        return rb_key_valid(optarg) ? -1 : bad("--coordinator-key wants 64 hexadecimal digits");
    case OPT_SHOW_KEY:
        a->show_key = true;
        return -1;
    case OPT_EMBEDDED:
        a->shell.allowances.embedded = true;
        return -1;
    case OPT_RESERVE:
        return take_reserve(a, optarg);
    case OPT_ALLOW_WIPE:
        a->shell.allowances.allow_wipe = true;
        return -1;
    case OPT_TEST_CLOCK:
        a->test_clock = optarg;
        return -1;
    case 'q':
        a->level = RB_LOG_WARN;
        return -1;
    case 'v':
        a->level = RB_LOG_DEBUG;
        return -1;
    case 'V':
        puts("rackbench-agent " RB_VERSION);
        return RB_OK;
    case 'h':
        fputs(usage, stdout);
        return RB_OK;
    default:
        return bad("unknown option or missing value");
    }
}

static int show_key(const args_t *a)
{
    printf("%s %s\n", a->shell.link.name, a->key.public_key);
    return RB_OK;
}

/* -1: go on, else the exit status. */
static int take_key(args_t *a)
{
    rb_link_opts_t *link = &a->shell.link;
    bool keyed = a->authorized.nkeys > 0 || link->coordinator_key != NULL;
    rb_err_t err;
    if (a->authorized.nkeys > 0 && link->join != NULL)
        return bad("--authorize is for --listen; with --join say --coordinator-key");
    if (link->coordinator_key != NULL && link->join == NULL)
        return bad("--coordinator-key is for --join; with --listen say --authorize");
    if ((keyed || a->show_key) && rb_link_key(a->key_path, &a->key, &err) != 0)
        return fail(&err);
    if (a->show_key)
        return show_key(a);
    if (keyed) {
        link->key = &a->key;
        link->authorized = &a->authorized;
        return -1;
    }
    if (a->insecure || rb_local_url(link->join != NULL ? link->join : link->listen))
        return -1;
    fputs(
        "rackbench-agent: refusing to talk beyond this machine without keys: whoever reaches the\n"
        "port could write to this host's files and drives. --authorize KEY lets one coordinator "
        "in\n"
        "(rackbench keygen prints its key). If this network is yours alone, say --insecure here "
        "and\n"
        "on the coordinator.\n",
        stderr);
    return RB_ERR_UNSAFE;
}

static int set_clock(const args_t *a)
{
    rb_err_t err;
    if (a->test_clock != NULL && rb_clock_set_test_text(a->test_clock, &err) != 0)
        rb_err_wrap(&err, "--test-clock");
    else if (rb_wall_clock_set_test(getenv("RACKBENCH_TEST_WALL"), &err) != 0)
        rb_err_wrap(&err, "RACKBENCH_TEST_WALL");
    else
        return -1;
    return bad(err.text);
}

static int check_url(const char *option, const char *url)
{
    rb_err_t err;
    if (rb_socket_check_url(url, &err) == 0)
        return -1;
    rb_err_wrap(&err, "%s", option);
    return fail(&err);
}

static int want_absolute(const char *option, const char *path)
{
    if (path[0] == '/')
        return -1;
    fprintf(stderr,
            "rackbench-agent: %s: '%s' is no absolute path; begin it with /: see rackbench-agent "
            "--help\n",
            option, path);
    return RB_ERR_INPUT;
}

/* An agent that a coordinator starts shares its directory, and checks nothing of this: there, a
 * plan may name any directory. -1: go on, else the exit status. */
static int check_paths(const args_t *a)
{
    if (a->shell.allowances.embedded)
        return -1;
    int status = want_absolute("--scratch", a->shell.allowances.scratch);
    for (size_t i = 0; status < 0 && i < a->npaths; i++)
        status = want_absolute("--allow-path", a->paths[i]);
    for (size_t i = 0; status < 0 && i < a->ndevices; i++)
        status = want_absolute("--allow-device", a->devices[i]);
    for (size_t i = 0; status < 0 && i < a->npaths; i++)
        if (access(a->paths[i], F_OK) != 0)
            rb_log_warn("--allow-path %s: %s; no plan can use it until it is there", a->paths[i],
                        strerror(errno));
    return status;
}

static int check_args(args_t *a, int argc)
{
    rb_link_opts_t *link = &a->shell.link;
    if (optind < argc)
        return bad("takes no arguments, only options");
    if (link->listen != NULL && link->join != NULL)
        return bad("--listen and --join exclude each other");
    if (link->listen == NULL && link->join == NULL)
        link->listen = "tcp://127.0.0.1:7411";
    int status =
        link->join != NULL ? check_url("--join", link->join) : check_url("--listen", link->listen);
    if (status >= 0)
        return status;
    if (link->name == NULL)
        link->name = a->hostname;
    if (strlen(link->name) == 0 || strlen(link->name) > RB_MAX_NAME)
        return bad("--name must have 1 to 255 bytes");
    a->shell.allowances.allow_paths = a->paths;
    a->shell.allowances.nallow_paths = a->npaths;
    a->shell.allowances.allow_devices = a->devices;
    a->shell.allowances.nallow_devices = a->ndevices;
    if (status < 0)
        status = check_paths(a);
    if (status < 0)
        status = set_clock(a);
    return status < 0 ? take_key(a) : status;
}

/* A file, a ring and an event a worker: what the host allows, not what the shell happened to set.
 */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static int signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int main(int argc, char **argv)
{
    args_t a = {.shell.allowances.scratch = "/var/tmp/rackbench",
                .level = RB_LOG_INFO,
                .key_path = "/etc/rackbench/agent.key"};
    rb_err_t err = {0};
    int status = -1, opt;
    gethostname(a.hostname, sizeof(a.hostname) - 1);
    while (status < 0 && (opt = getopt_long(argc, argv, "h", options, NULL)) != -1)
        status = take_option(&a, opt);
    rb_log_init("rackbench-agent", a.level);
    if (status < 0)
        status = check_args(&a, argc);
    if (status < 0) {
        if (a.shell.allowances.embedded) /* the coordinator that started us is gone: so are we */
            prctl(PR_SET_PDEATHSIG, SIGTERM);
        raise_file_limit();
        rb_privilege_keep(RB_PRIVILEGE_MAIN);
        a.shell.signal_fd = signals();
        a.shell.health = rb_health_new("/sys", &err);
        bool served = a.shell.health != NULL && rb_shell_run(&a.shell, &err) == 0;
        rb_health_destroy(&a.shell.health);
        status = served ? RB_OK : (int)err.code;
        if (status != RB_OK)
            rb_log_error("%s", err.text);
    }
    rb_key_list_clear(&a.authorized);
    explicit_bzero(&a.key, sizeof(a.key));
    if (rb_probes_under_way() > 0) /* a drive keeps a thread, and that what it works with */
        _exit(status);
    free(a.paths);
    free(a.devices);
    return status;
}
