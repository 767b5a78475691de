/* fleet.h - the hosts of a run: those of a host list, or embedded agents that we start on this
 * machine.
 *
 * An embedded agent is a real rackbench-agent process with a scratch directory of its own, which
 * joins over ipc://. It ends with the fleet, or with us. Main thread only.
 */
#pragma once

#include "common/hostlist.h"
#include "coordinator/run.h"
#include "proto/keys.h"

typedef struct {
    const char *hosts;              /* host list expression or hosts.yaml; NULL: embedded agents */
    rb_hostlist_t *list;            /* or the list itself, taken */
    uint32_t local;                 /* how many of them */
    const char *listen;             /* URL for agents that --join; NULL: dial the hosts */
    const char *scratch;            /* embedded: parent of the scratch directories */
    const char *const *allow_paths; /* [nallow_paths] handed to embedded agents */
    size_t nallow_paths;
    const char *const *allow_devices; /* [nallow_devices] likewise */
    size_t nallow_devices;
    bool allow_wipe; /* likewise */
    bool insecure;
    const char *key, *known_hosts; /* files; NULL: rb_key_home's `key` and `known_hosts` */
} rb_fleet_opts_t;

typedef struct {
    rb_hostlist_t *list;
    const char *listen;        /* URL for the hub to bind, or NULL */
    rb_run_host_opts_t *hosts; /* [list->nitems] for the run */
    bool embedded, insecure;   /* insecure: some host is reached over a network without keys */
    bool has_key;              /* some host is reached with keys; ours is `key` */
    rb_key_pair_t key;
    /* private */
    char *directory, *url;
    int *pids; /* [npids] */
    size_t npids;
    char **addresses; /* [list->nitems] */
    Rackbench__Label *labels;
    Rackbench__Label **label_refs;
} rb_fleet_t;

/* RB_ERR_INPUT: bad host list, bad key, agent program not found; RB_ERR_UNSAFE: beyond this machine
 * without keys and without --insecure. */
rb_fleet_t *rb_fleet_new(const rb_fleet_opts_t *opts, rb_err_t *err);
/* Ends embedded agents (SIGTERM, after 5 s SIGKILL) and waits for them. */
void rb_fleet_destroy(rb_fleet_t **fleet);
/* An embedded agent that has ended by itself; 0: none. */
uint32_t rb_fleet_dead(const rb_fleet_t *fleet);
