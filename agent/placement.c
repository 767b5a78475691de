#include "agent/placement.h"

#include <linux/mempolicy.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
    const rb_placement_opts_t *o;
    const rb_topology_t *t;
    uint32_t cpu_load[RB_MAX_CPUS];  /* workers bound to it alone; by index in the topology */
    uint32_t core_load[RB_MAX_CPUS]; /* by core */
    uint32_t node_load[RB_MAX_CPUS]; /* by the index of the node's first CPU, as node_at has it */
    uint16_t node_at[RB_MAX_CPUS];
    bool listed[RB_MAX_CPUS]; /* a job's list shares it out */
    uint16_t main_core;       /* UINT16_MAX: not known */
} plan_t;

/* ---- what comes out ---- */

/* Counts, and names the one CPU and the one node. */
static void finish(const rb_topology_t *t, rb_place_how_t how, int32_t drive_node,
                   rb_place_t *place)
{
    enum { NONE_YET = -2 };
    int32_t node = NONE_YET;
    place->how = how;
    place->drive_node = drive_node;
    place->ncpus = 0;
    for (size_t i = 0; i < t->ncpus; i++) {
        const rb_topology_cpu_t *c = &t->cpus[i];
        if (!CPU_ISSET(c->cpu, &place->cpus))
            continue;
        place->ncpus++;
        place->cpu = c->cpu;
        node = node == NONE_YET || node == c->node ? c->node : -1;
    }
    place->node = RB_MAX(node, -1);
    if (place->ncpus != 1)
        place->cpu = -1;
}

static void place_any(const plan_t *p, const rb_place_want_t *want, rb_place_t *place)
{
    CPU_ZERO(&place->cpus);
    for (size_t i = 0; i < p->t->ncpus; i++)
        CPU_SET(p->t->cpus[i].cpu, &place->cpus);
    finish(p->t, RB_PLACE_ANY, want->node, place);
}

static void place_one(plan_t *p, const rb_place_want_t *want, size_t at, rb_place_how_t how,
                      rb_place_t *place)
{
    const rb_topology_cpu_t *c = &p->t->cpus[at];
    p->cpu_load[at]++;
    p->core_load[c->core]++;
    p->node_load[p->node_at[at]]++;
    CPU_ZERO(&place->cpus);
    CPU_SET(c->cpu, &place->cpus);
    finish(p->t, how, want->node, place);
}

/* ---- list, split ---- */

/* Indices in the topology of what the list and this host have in common. */
static size_t common_cpus(const plan_t *p, const rb_cpu_list_t *list, uint16_t *ret_at)
{
    size_t n = 0;
    for (size_t i = 0, k = 0; i < p->t->ncpus && k < list->n;) {
        if (p->t->cpus[i].cpu == list->cpu[k])
            ret_at[n++] = (uint16_t)i;
        bool below = p->t->cpus[i].cpu <= list->cpu[k];
        k += p->t->cpus[i].cpu >= list->cpu[k];
        i += below;
    }
    return n;
}

static int place_listed(plan_t *p, const rb_place_want_t *want, rb_place_t *place, rb_err_t *err)
{
    uint16_t at[RB_MAX_CPUS];
    size_t n = common_cpus(p, want->list, at);
    if (n == 0) {
        char have[80];
        rb_place_t any;
        place_any(p, want, &any);
        return rb_err_set(err, RB_ERR_INPUT, "this agent may use none of them, only %s",
                          rb_placement_cpus(&any.cpus, have, sizeof(have)));
    }
    if (want->how == RB_PLACE_SPLIT) {
        place_one(p, want, at[want->ordinal % n], RB_PLACE_SPLIT, place);
        return 0;
    }
    CPU_ZERO(&place->cpus);
    for (size_t i = 0; i < n; i++) {
        CPU_SET(p->t->cpus[at[i]].cpu, &place->cpus);
        p->listed[at[i]] = true;
    }
    finish(p->t, RB_PLACE_LIST, want->node, place);
    return 0;
}

/* ---- auto ---- */

/* What speaks against a CPU, the weightiest first. Without a known node the nodes share out. */
enum { NOBJECTIONS = 6 };
static void object(const plan_t *p, const rb_place_want_t *want, size_t at, uint32_t *ret)
{
    const rb_topology_cpu_t *c = &p->t->cpus[at];
    bool elsewhere = want->node >= 0 && c->node != want->node;
    ret[0] = p->cpu_load[at];
    ret[1] = p->listed[at];
    ret[2] = elsewhere;
    ret[3] = p->core_load[c->core];
    ret[4] = want->node < 0 ? p->node_load[p->node_at[at]] : 0;
    ret[5] = c->core == p->main_core;
}

static bool is_better(const uint32_t *a, const uint32_t *b)
{
    for (int i = 0; i < NOBJECTIONS; i++)
        if (a[i] != b[i])
            return a[i] < b[i];
    return false;
}

static size_t best_cpu(const plan_t *p, const rb_place_want_t *want)
{
    uint32_t best[NOBJECTIONS], next[NOBJECTIONS];
    size_t at = 0;
    object(p, want, 0, best);
    for (size_t i = 1; i < p->t->ncpus; i++) {
        object(p, want, i, next);
        if (!is_better(next, best))
            continue;
        memcpy(best, next, sizeof(best));
        at = i;
    }
    return at;
}

typedef struct {
    bool anywhere;
    uint32_t number;
    size_t at;
} turn_t;

static int by_turn(const void *a, const void *b)
{
    const turn_t *x = a, *y = b;
    if (x->anywhere != y->anywhere)
        return x->anywhere ? 1 : -1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Those whose drive has a node choose before those that may go anywhere. */
static void place_auto(plan_t *p, rb_place_t *places)
{
    size_t n = 0;
    turn_t *turns = rb_calloc(p->o->n + 1, sizeof(*turns));
    for (size_t i = 0; i < p->o->n; i++) {
        const rb_place_want_t *w = &p->o->wants[i];
        if (w->how == RB_PLACE_AUTO)
            turns[n++] = (turn_t){w->node < 0, w->number, i};
    }
    if (n > 0)
        qsort(turns, n, sizeof(*turns), by_turn);
    for (size_t i = 0; i < n; i++) {
        const rb_place_want_t *want = &p->o->wants[turns[i].at];
        rb_place_t *place = &places[turns[i].at];
        if (n > p->t->ncpus)
            place_any(p, want, place);
        else
            place_one(p, want, best_cpu(p, want), RB_PLACE_AUTO, place);
    }
    free(turns);
}

/* ---- near ---- */

static uint32_t cores_of(const rb_topology_t *t, int32_t node)
{
    bool seen[RB_MAX_CPUS] = {false};
    uint32_t n = 0;
    for (size_t i = 0; i < t->ncpus; i++) {
        const rb_topology_cpu_t *c = &t->cpus[i];
        n += c->node == node && !seen[c->core];
        seen[c->core] |= c->node == node;
    }
    return n;
}

static uint32_t wanted_of(const plan_t *p, int32_t node)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->o->n; i++) {
        rb_place_how_t how = p->o->wants[i].how;
        n += p->o->wants[i].node == node && (how == RB_PLACE_NEAR || how == RB_PLACE_AUTO);
    }
    return n;
}

static void place_near(const plan_t *p, const rb_place_want_t *want, rb_place_t *place)
{
    if (p->t->nnodes < 2 || want->node < 0 || wanted_of(p, want->node) > cores_of(p->t, want->node))
        return place_any(p, want, place);
    CPU_ZERO(&place->cpus);
    for (size_t i = 0; i < p->t->ncpus; i++)
        if (p->t->cpus[i].node == want->node)
            CPU_SET(p->t->cpus[i].cpu, &place->cpus);
    finish(p->t, RB_PLACE_NEAR, want->node, place);
}

/* ---- all ---- */

static uint16_t first_of_node(const rb_topology_t *t, int16_t node)
{
    uint16_t at = 0;
    while (t->cpus[at].node != node)
        at++;
    return at;
}

static void begin(plan_t *p, const rb_placement_opts_t *opts)
{
    *p = (plan_t){.o = opts, .t = opts->topology, .main_core = UINT16_MAX};
    for (size_t i = 0; i < p->t->ncpus; i++) {
        p->node_at[i] = first_of_node(p->t, p->t->cpus[i].node);
        if ((int32_t)p->t->cpus[i].cpu == opts->main_cpu)
            p->main_core = p->t->cpus[i].core;
    }
}

/* What leaves no choice goes first. */
int rb_placement_choose(const rb_placement_opts_t *opts, rb_place_t *places, size_t *ret_at,
                        rb_err_t *err)
{
    plan_t p;
    begin(&p, opts);
    for (size_t i = 0; i < opts->n; i++) {
        const rb_place_want_t *want = &opts->wants[i];
        *ret_at = i;
        if ((want->how == RB_PLACE_LIST || want->how == RB_PLACE_SPLIT) &&
            place_listed(&p, want, &places[i], err) < 0)
            return -1;
        if (want->how == RB_PLACE_ANY)
            place_any(&p, want, &places[i]);
        if (want->how == RB_PLACE_NEAR)
            place_near(&p, want, &places[i]);
    }
    place_auto(&p, places);
    return 0;
}

const char *rb_placement_cpus(const cpu_set_t *set, char *buf, size_t size)
{
    enum { MORE = sizeof(",1023-1023,...") };
    size_t length = 0;
    buf[0] = '\0';
    for (unsigned from = 0, to; from < RB_MAX_CPUS; from = to + 1) {
        to = from;
        if (!CPU_ISSET(from, set))
            continue;
        const char *comma = length > 0 ? "," : "";
        if (length + MORE > size) {
            snprintf(buf + length, size - length, "%s...", comma);
            break;
        }
        while (to + 1 < RB_MAX_CPUS && CPU_ISSET(to + 1, set))
            to++;
        length += (size_t)snprintf(buf + length, size - length, to > from ? "%s%u-%u" : "%s%u",
                                   comma, from, to);
    }
    return buf;
}

/* Where this is not permitted, the first touch by a thread that is bound has the same effect. */
static void prefer_memory_of(int32_t node)
{
    enum { BITS = 8 * sizeof(unsigned long), NODES = 1024 };
    unsigned long mask[NODES / BITS] = {0};
    if (node < 0 || node >= NODES)
        return;
    mask[node / (int)BITS] = 1ul << (node % (int)BITS);
    (void)syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, NODES + 1);
}

int rb_placement_apply(const rb_place_t *place, rb_err_t *err)
{
    char cpus[80];
    if (place->how == RB_PLACE_ANY)
        return 0;
    int rc = pthread_setaffinity_np(pthread_self(), sizeof(place->cpus), &place->cpus);
    if (rc != 0)
        return rb_err_set(err, RB_ERR_INTERNAL, "bind a worker to CPU %s: %s",
                          rb_placement_cpus(&place->cpus, cpus, sizeof(cpus)), strerror(rc));
    prefer_memory_of(place->node);
    return 0;
}
