#include "common/guard.h"

static bool is_its_own(const rb_use_t *use)
{
    return use->relation == RB_RELATION_SELF || use->relation == RB_RELATION_PARTITION;
}

/* A signature does not mind being read, nor what may wipe it. */
static bool counts(const rb_guard_facts_t *facts, const rb_use_t *use)
{
    return use->kind != RB_USE_SIGNATURE || (facts->write && !(facts->wipe && is_its_own(use)));
}

static const rb_use_t *most_telling(const rb_guard_facts_t *facts)
{
    const rb_use_t *best = NULL;
    for (size_t i = 0; i < facts->nuses; i++)
        if (counts(facts, &facts->uses[i]) && (best == NULL || facts->uses[i].kind < best->kind))
            best = &facts->uses[i];
    return best;
}

static char *say_who(const rb_use_t *use)
{
    switch (use->relation) {
    case RB_RELATION_SELF:
        return rb_asprintf("it");
    case RB_RELATION_PARTITION:
        return rb_asprintf("partition %s", use->device);
    case RB_RELATION_PARENT:
        return rb_asprintf("its disk %s", use->device);
    case RB_RELATION_HOLDER:
        return rb_asprintf("%s, built on it,", use->device);
    case RB_RELATION_LOOP:
        return rb_asprintf("loop device %s, backed by it,", use->device);
    case RB_RELATION_BACKING:
        return rb_asprintf("%s, which backs it,", use->device);
    case RB_RELATION_TWIN:
        return rb_asprintf("%s, a loop device over the same file,", use->device);
    case RB_RELATION_MEMBER:
        return rb_asprintf("its member %s", use->device);
    }
    return NULL;
}

/* What nobody but the user of the drive knows, its signature may tell: ZFS and an idle bcache show
 * no holder. A partition table tells least. */
static const rb_use_t *own_signature(const rb_guard_facts_t *facts)
{
    const rb_use_t *found = NULL;
    for (size_t i = 0; i < facts->nuses; i++) {
        const rb_use_t *use = &facts->uses[i];
        if (use->kind == RB_USE_SIGNATURE && is_its_own(use) &&
            (found == NULL || strstr(found->what, "partition table") != NULL))
            found = use;
    }
    return found;
}

static char *say_exclusive(const rb_guard_facts_t *facts)
{
    const rb_use_t *signature = own_signature(facts);
    if (signature == NULL)
        return rb_asprintf("is opened exclusively by the kernel or a program");
    RB_AUTO(rb_free_str) char *who = say_who(signature);
    return rb_asprintf("is opened exclusively by the kernel or a program, and %s is signed (%s)",
                       who, signature->what);
}

static char *say_fact(const rb_guard_facts_t *facts, const rb_use_t *use)
{
    switch (use->kind) {
    case RB_USE_MOUNT:
        return rb_asprintf("is mounted at %s", use->what);
    case RB_USE_SWAP:
        return rb_asprintf("is in use as swap");
    case RB_USE_PATH:
        return rb_asprintf("is a path of multipath device %s", use->what);
    case RB_USE_HOLDER:
        return rb_asprintf("is held by %s", use->what);
    case RB_USE_LOOP:
        return rb_asprintf("is behind loop device %s", use->what);
    case RB_USE_EXCLUSIVE:
        return say_exclusive(facts);
    case RB_USE_SIGNATURE:
        return rb_asprintf("is signed (%s)", use->what);
    case RB_USE_NEIGHBOUR:
        return rb_asprintf("also carries %s", use->what);
    }
    return NULL;
}

static char *say_wipe(const rb_guard_facts_t *facts, const rb_use_t *use)
{
    if (!is_its_own(use) || facts->id == NULL || facts->id[0] == '\0')
        return rb_asprintf("run wipefs -a %s if its data can go", use->device);
    return rb_asprintf("run wipefs -a %s if its data can go, or say wipe: [\"%s\"] in the plan and "
                       "--allow-wipe on the agent",
                       use->device, facts->id);
}

static char *say_advice(const rb_guard_facts_t *facts, const rb_use_t *use)
{
    switch (use->kind) {
    case RB_USE_MOUNT:
        return rb_asprintf("unmount it");
    case RB_USE_SWAP:
        return rb_asprintf("run swapoff %s", use->device);
    case RB_USE_PATH:
        return rb_asprintf("name that one");
    case RB_USE_HOLDER:
        return rb_asprintf("take that apart");
    case RB_USE_LOOP:
        return rb_asprintf("run losetup -d %s", use->what);
    case RB_USE_EXCLUSIVE:
        return rb_asprintf("stop what uses it");
    case RB_USE_SIGNATURE:
        return say_wipe(facts, use);
    case RB_USE_NEIGHBOUR:
        break;
    }
    return NULL;
}

static void say_use(const rb_guard_facts_t *facts, const rb_use_t *use, rb_guard_verdict_t *v)
{
    RB_AUTO(rb_free_str) char *who = say_who(use);
    RB_AUTO(rb_free_str) char *fact = say_fact(facts, use);
    RB_AUTO(rb_free_str) char *advice = say_advice(facts, use);
    if (v->outcome == RB_GUARD_REFUSED)
        snprintf(v->text, sizeof(v->text), "%s: %s %s; %s or choose another drive", facts->path,
                 who, fact, advice);
    else
        snprintf(
            v->text, sizeof(v->text),
            "%s: %s %s; that use will show in the figures, choose another drive for clean ones",
            facts->path, who, fact);
}

rb_guard_verdict_t rb_guard_judge(const rb_guard_facts_t *facts)
{
    rb_guard_verdict_t v = {.outcome = RB_GUARD_ALLOWED};
    const rb_use_t *use = most_telling(facts);
    bool is_used = use != NULL && use->kind != RB_USE_NEIGHBOUR;
    if (is_used) {
        v.outcome = facts->write || facts->sets_power ? RB_GUARD_REFUSED : RB_GUARD_WARNED;
        say_use(facts, use, &v);
    } else if (facts->write && facts->read_only) {
        v.outcome = RB_GUARD_REFUSED;
        snprintf(
            v.text, sizeof(v.text),
            "%s: it is read-only and a job writes to it; make it writable (blockdev --setrw) or "
            "choose another drive",
            facts->path);
    } else if (facts->write && !facts->destructive) {
        v.outcome = RB_GUARD_REFUSED;
        snprintf(v.text, sizeof(v.text),
                 "%s: a job writes to it and the phase does not say `destructive: true`; add it if "
                 "the drive's data can go",
                 facts->path);
    } else if (facts->write && !facts->allowed) {
        v.outcome = RB_GUARD_REFUSED;
        snprintf(v.text, sizeof(v.text),
                 "%s: the agent does not allow writing to it; start the agent with --allow-device "
                 "%s",
                 facts->path, facts->path);
    } else if (facts->sets_power && !facts->allowed) {
        v.outcome = RB_GUARD_REFUSED;
        snprintf(v.text, sizeof(v.text),
                 "%s: a job sets its power_state, and the agent does not allow changing it; start "
                 "the agent with --allow-device %s",
                 facts->path, facts->path);
    } else if (use != NULL) {
        v.outcome = RB_GUARD_WARNED;
        say_use(facts, use, &v);
    }
    return v;
}
