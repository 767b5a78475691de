#include "agent/link.h"

#include "common/log.h"

#include <sys/random.h>
#include <unistd.h>

enum { SEND_QUEUE = 20000, RECEIVE_QUEUE = 10000 };

int rb_link_key(const char *path, rb_key_pair_t *ret, rb_err_t *err)
{
    if (access(path, F_OK) == 0)
        return rb_key_pair_load(path, ret, err);
    rb_key_make(ret);
    if (rb_key_pair_save(path, ret, err) != 0)
        return -1;
    rb_log_info("made a key of this agent's own in %s", path);
    return 0;
}

void rb_link_tell(rb_socket_t *link, const char *coordinator_key, const char **told)
{
    const char *url;
    rb_refusal_t refusal;
    while ((refusal = rb_socket_refused(link, &url)) != RB_REFUSED_NOT) {
        const char *why = rb_socket_why(refusal, coordinator_key);
        if (why != *told)
            rb_log_warn("%s: %s", url, why);
        *told = why;
    }
}

/* A process is told from another one of the same name. */
static int name_us(const char *name, char ret[RB_SOCKET_PEER], rb_err_t *err)
{
    uint32_t instance;
    ssize_t n = getrandom(&instance, sizeof(instance), 0);
    RB_ASSERT(n == sizeof(instance));
    int size = snprintf(ret, RB_SOCKET_PEER, "%s%c%08x", name, RB_SOCKET_INSTANCE, instance);
    if (size >= RB_SOCKET_PEER)
        return rb_err_set(err, RB_ERR_INPUT,
                          "--name has %zu bytes; with --join at most %d are right", strlen(name),
                          RB_SOCKET_PEER - 10);
    return 0;
}

rb_socket_t *rb_link_open(const rb_link_opts_t *opts, rb_err_t *err)
{
    char name[RB_SOCKET_PEER] = "";
    if (opts->join != NULL && name_us(opts->name, name, err) != 0)
        return NULL;
    rb_socket_opts_t o = {.name = opts->join != NULL ? name : NULL,
                          .send_queue = SEND_QUEUE,
                          .receive_queue = RECEIVE_QUEUE,
                          .key = opts->key,
                          .allowed = opts->authorized};
    RB_AUTO(rb_socket_destroy) rb_socket_t *link = rb_socket_new(&o);
    int rc = opts->join == NULL ? rb_socket_bind(link, opts->listen, err)
                                : rb_socket_dial(link, opts->join, RB_LINK_COORDINATOR,
                                                 opts->coordinator_key, err);
    if (rc != 0) {
        rb_err_wrap(err, "%s", opts->join != NULL ? "--join" : "--listen");
        return NULL;
    }
    return RB_MOVE(link);
}
