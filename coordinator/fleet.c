#include "coordinator/fleet.h"

#include "common/local.h"
#include "coordinator/hosts_file.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { END_WAIT_MS = 5000, KILL_WAIT_MS = 1000 };

/* ---- the agent program ---- */

/* Beside our own executable, in ../libexec/rackbench, then wherever PATH says. */
static char *find_agent(void)
{
    static const char *const places[] = {"", "../libexec/rackbench/"};
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash != NULL)
        slash[1] = '\0';
    for (size_t i = 0; i < RB_LEN(places); i++) {
        char *path = rb_asprintf("%s%srackbench-agent", self, places[i]);
        if (access(path, X_OK) == 0)
            return path;
        free(path);
    }
    return rb_strdup("rackbench-agent");
}

/* Owned by the caller; the strings are not. */
static const char **build_args(const rb_fleet_t *fleet, const rb_fleet_opts_t *opts,
                               const char *name, const char *scratch)
{
    const char *fixed[] = {"rackbench-agent", "--embedded", "--quiet",   "--join", fleet->url,
                           "--name",          name,         "--scratch", scratch};
    size_t n = 0, most = RB_LEN(fixed) + 2 * (opts->nallow_paths + opts->nallow_devices) + 2;
    const char **args = rb_calloc(most, sizeof(*args));
    for (size_t i = 0; i < RB_LEN(fixed); i++)
        args[n++] = fixed[i];
    for (size_t i = 0; i < opts->nallow_paths; i++) {
        args[n++] = "--allow-path";
        args[n++] = opts->allow_paths[i];
    }
    for (size_t i = 0; i < opts->nallow_devices; i++) {
        args[n++] = "--allow-device";
        args[n++] = opts->allow_devices[i];
    }
    if (opts->allow_wipe)
        args[n++] = "--allow-wipe";
    return args;
}

/* A process group of its own: Ctrl-C at the terminal is for us, who then stop the agents in order.
 */
static int spawn(const char *program, const char *const *args, pid_t *ret_pid)
{
    posix_spawnattr_t attr;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    int rc = posix_spawnp(ret_pid, program, NULL, &attr, (char *const *)(uintptr_t)args, environ);
    posix_spawnattr_destroy(&attr);
    return rc;
}

static int start_agent(rb_fleet_t *fleet, const rb_fleet_opts_t *opts, uint32_t number,
                       rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *program = find_agent();
    RB_AUTO(rb_free_str) char *name = rb_asprintf("local%u", number);
    RB_AUTO(rb_free_str) char *scratch = rb_asprintf("%s/local%u", opts->scratch, number);
    pid_t pid;
    if (rb_hostlist_add(fleet->list, name, "localhost", (uint16_t)number, err) != 0)
        return -1;
    const char **args = build_args(fleet, opts, name, scratch);
    int rc = spawn(program, args, &pid);
    free(args);
    if (rc != 0)
        return rb_err_set(
            err, RB_ERR_INPUT,
            "cannot start '%s': %s; it belongs beside the rackbench program or in PATH", program,
            strerror(rc));
    *RB_PUSH(fleet->pids, fleet->npids) = pid;
    return 0;
}

static int start_embedded(rb_fleet_t *fleet, const rb_fleet_opts_t *opts, rb_err_t *err)
{
    char template[] = "/tmp/rackbench-XXXXXX"; /* short: an ipc path ends at 107 bytes */
    if (mkdtemp(template) == NULL)
        return rb_err_errno(err, errno, "make a directory %s for the embedded agents", template);
    fleet->directory = rb_strdup(template);
    fleet->url = rb_asprintf("ipc://%s/hub", template);
    fleet->listen = fleet->url;
    fleet->embedded = true;
    for (uint32_t i = 1; i <= opts->local; i++)
        if (start_agent(fleet, opts, i, err) != 0)
            return -1;
    return 0;
}

/* ---- the hosts as the run wants them ---- */

/* A name that means nothing is told at once, not as a host that does not answer. */
static int check_names(const rb_fleet_t *fleet, rb_err_t *err)
{
    for (size_t i = 0; fleet->listen == NULL && i < fleet->list->nitems; i++) {
        const rb_hostlist_item_t *item = &fleet->list->items[i];
        struct addrinfo *found = NULL;
        int rc = getaddrinfo(item->address, NULL, NULL, &found);
        if (rc != 0)
            return rb_err_set(err, RB_ERR_NET, "host %s: '%s' cannot be resolved: %s", item->name,
                              item->address, gai_strerror(rc));
        freeaddrinfo(found);
    }
    return 0;
}

static int load_known(const char *path, rb_key_list_t *known, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *home = rb_key_home("known_hosts");
    if (path == NULL && access(home, F_OK) != 0)
        return 0;
    return rb_key_list_load(known, path != NULL ? path : home, err);
}

/* By the host file, else by the known hosts: first the name as spelled, then the address. */
static void find_keys(rb_fleet_t *fleet, const rb_key_list_t *known)
{
    for (size_t i = 0; i < fleet->list->nitems; i++) {
        rb_hostlist_item_t *item = &fleet->list->items[i];
        const char *key = rb_key_list_find(known, item->name);
        if (key == NULL)
            key = rb_key_list_find(known, item->address);
        if (item->key == NULL && key != NULL)
            item->key = rb_strdup(key);
    }
}

static int no_key(const rb_hostlist_item_t *item, rb_err_t *err)
{
    return rb_err_set(
        err, RB_ERR_UNSAFE,
        "host %s: refusing to talk beyond this machine without a key: anyone on the way could read "
        "or change what is sent. `rackbench-agent --show-key` there prints it; put it as '%s KEY' "
        "into ~/.config/rackbench/known_hosts, or as key: into hosts.yaml. If this network is "
        "yours "
        "alone, say --insecure",
        item->name, item->name);
}

/* Hosts with a key are reached with keys; others beyond this machine with --insecure alone. One
 * socket that binds is all with keys or all without. */
static int check_network(rb_fleet_t *fleet, const rb_fleet_opts_t *opts, rb_err_t *err)
{
    size_t with = 0;
    for (size_t i = 0; i < fleet->list->nitems; i++)
        with += fleet->list->items[i].key != NULL;
    bool all = with == fleet->list->nitems;
    for (size_t i = 0; i < fleet->list->nitems; i++) {
        const rb_hostlist_item_t *item = &fleet->list->items[i];
        bool local =
            opts->listen != NULL ? rb_local_url(opts->listen) : rb_local_address(item->address);
        if (item->key != NULL || local)
            continue;
        if (!opts->insecure)
            return no_key(item, err);
        fleet->insecure = true;
    }
    fleet->has_key = opts->listen != NULL ? all : with > 0;
    return 0;
}

static int load_key(rb_fleet_t *fleet, const rb_fleet_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *home = rb_key_home("key");
    const char *path = opts->key != NULL ? opts->key : home;
    if (!fleet->has_key)
        return 0;
    if (rb_key_pair_load(path, &fleet->key, err) != 0)
        return rb_err_wrap(err, "our own key (rackbench keygen makes one)");
    return 0;
}

static int take_keys(rb_fleet_t *fleet, const rb_fleet_opts_t *opts, rb_err_t *err)
{
    rb_key_list_t known = {0};
    if (fleet->embedded)
        return 0;
    int rc = load_known(opts->known_hosts, &known, err);
    find_keys(fleet, &known);
    rb_key_list_clear(&known);
    return rc != 0 || check_network(fleet, opts, err) != 0 ? -1 : load_key(fleet, opts, err);
}

static void fill_hosts(rb_fleet_t *fleet)
{
    size_t n = fleet->list->nitems, nlabels = 0, at = 0;
    for (size_t i = 0; i < n; i++)
        nlabels += fleet->list->items[i].nlabels;
    fleet->hosts = rb_calloc(n, sizeof(*fleet->hosts));
    fleet->addresses = rb_calloc(n, sizeof(char *));
    fleet->labels = rb_calloc(nlabels, sizeof(Rackbench__Label));
    fleet->label_refs = rb_calloc(nlabels, sizeof(Rackbench__Label *));
    for (size_t i = 0; i < n; i++) {
        const rb_hostlist_item_t *item = &fleet->list->items[i];
        if (fleet->listen == NULL)
            fleet->addresses[i] = rb_asprintf("%s:%u%s%.8s%s", item->address, (unsigned)item->port,
                                              item->key ? " (key " : "", item->key ? item->key : "",
                                              item->key ? "...)" : "");
        fleet->hosts[i] = (rb_run_host_opts_t){item->name, fleet->addresses[i], item->nlabels,
                                               fleet->label_refs + at, item->key};
        for (size_t k = 0; k < item->nlabels; k++, at++) {
            rackbench__label__init(&fleet->labels[at]);
            fleet->labels[at].name = item->labels[k].key;
            fleet->labels[at].value = item->labels[k].value;
            fleet->label_refs[at] = &fleet->labels[at];
        }
    }
}

rb_fleet_t *rb_fleet_new(const rb_fleet_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_fleet_destroy) rb_fleet_t *fleet = rb_calloc(1, sizeof(*fleet));
    int rc;
    if (opts->hosts != NULL || opts->list != NULL) {
        fleet->list = opts->list != NULL ? opts->list : rb_hosts_load(opts->hosts, err);
        fleet->listen = opts->listen;
        rc = fleet->list != NULL ? 0 : -1;
    } else {
        fleet->list = rb_hostlist_new();
        rc = start_embedded(fleet, opts, err);
    }
    if (rc != 0 || take_keys(fleet, opts, err) != 0 || check_names(fleet, err) != 0)
        return NULL;
    fill_hosts(fleet);
    return RB_MOVE(fleet);
}

/* ---- the end of embedded agents ---- */

static bool gone(pid_t pid)
{
    return waitpid(pid, NULL, WNOHANG) != 0;
}

static void end_agents(rb_fleet_t *fleet)
{
    for (size_t i = 0; i < fleet->npids; i++)
        kill(fleet->pids[i], SIGTERM);
    for (size_t i = 0; i < fleet->npids; i++) {
        int waited_ms = 0;
        while (!gone(fleet->pids[i]) && waited_ms++ < END_WAIT_MS)
            usleep(1000);
        if (waited_ms > END_WAIT_MS) {
            kill(fleet->pids[i], SIGKILL);
            for (waited_ms = 0; !gone(fleet->pids[i]) && waited_ms < KILL_WAIT_MS; waited_ms++)
                usleep(1000); /* a drive that hangs may hold on to it for longer */
        }
    }
}

uint32_t rb_fleet_dead(const rb_fleet_t *fleet)
{
    for (size_t i = 0; i < fleet->npids; i++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)fleet->pids[i], &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0)
            return (uint32_t)i + 1;
    }
    return 0;
}

void rb_fleet_destroy(rb_fleet_t **fleet_p)
{
    rb_fleet_t *fleet = *fleet_p;
    if (fleet == NULL)
        return;
    end_agents(fleet);
    if (fleet->directory != NULL) {
        RB_AUTO(rb_free_str) char *hub = rb_asprintf("%s/hub", fleet->directory);
        unlink(hub);
        rmdir(fleet->directory);
    }
    for (size_t i = 0; fleet->addresses != NULL && i < fleet->list->nitems; i++)
        free(fleet->addresses[i]);
    rb_hostlist_destroy(&fleet->list);
    free(fleet->directory);
    free(fleet->url);
    free(fleet->pids);
    free(fleet->addresses);
    free(fleet->labels);
    free(fleet->label_refs);
    free(fleet->hosts);
    free(fleet);
    *fleet_p = NULL;
}
