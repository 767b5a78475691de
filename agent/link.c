#include "agent/link.h"

#include "common/clock.h"

#include <errno.h>
#include <zmq.h>

#define COORDINATOR "coordinator" /* what we call the one we dialled */

enum { SEND_QUEUE = 20000, RECEIVE_QUEUE = 10000, LINGER_MS = 500, MAX_FDS = 4 };

struct rb_link {
    void *context, *socket;
    zmq_msg_t frame; /* the last one received */
    char endpoint[256];
};

static void set_int(void *socket, int option, int value)
{
    int rc = zmq_setsockopt(socket, option, &value, sizeof(value));
    RB_ASSERT(rc == 0);
}

static void set_options(void *socket)
{
    int64_t max_size = RB_MAX_FRAME + 64; /* and our header */
    int rc = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max_size, sizeof(max_size));
    RB_ASSERT(rc == 0);
    set_int(socket, ZMQ_LINGER, LINGER_MS);
    set_int(socket, ZMQ_SNDHWM, SEND_QUEUE);
    set_int(socket, ZMQ_RCVHWM, RECEIVE_QUEUE);
    set_int(socket, ZMQ_IPV6, 1);
    set_int(socket, ZMQ_ROUTER_HANDOVER, 1);
    set_int(socket, ZMQ_ROUTER_MANDATORY, 1);
    set_int(socket, ZMQ_HANDSHAKE_IVL, 1000);
}

static int dial(rb_link_t *link, const rb_link_opts_t *opts)
{
    zmq_setsockopt(link->socket, ZMQ_ROUTING_ID, opts->name, strlen(opts->name));
    zmq_setsockopt(link->socket, ZMQ_CONNECT_ROUTING_ID, COORDINATOR, strlen(COORDINATOR));
    return zmq_connect(link->socket, opts->join);
}

rb_link_t *rb_link_new(const rb_link_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_link_destroy) rb_link_t *link = rb_calloc(1, sizeof(*link));
    zmq_msg_init(&link->frame);
    link->context = zmq_ctx_new();
    link->socket = zmq_socket(link->context, ZMQ_ROUTER);
    RB_ASSERT(link->socket != NULL);
    set_options(link->socket);
    int rc = opts->join != NULL ? dial(link, opts) : zmq_bind(link->socket, opts->listen);
    const char *url = opts->join != NULL ? opts->join : opts->listen;
    if (rc != 0) {
        bool bad_url = errno == EINVAL || errno == EPROTONOSUPPORT;
        rb_err_set(err, RB_ERR_NET, "%s '%s': %s%s", opts->join != NULL ? "--join" : "--listen",
                   url, zmq_strerror(errno),
                   bad_url ? "; an address looks like tcp://0.0.0.0:7411" : "");
        return NULL;
    }
    size_t size = sizeof(link->endpoint);
    snprintf(link->endpoint, sizeof(link->endpoint), "%s", url);
    if (strchr(url, '*') != NULL) /* the kernel chose the port */
        zmq_getsockopt(link->socket, ZMQ_LAST_ENDPOINT, link->endpoint, &size);
    return RB_MOVE(link);
}

void rb_link_destroy(rb_link_t **link_p)
{
    rb_link_t *link = *link_p;
    if (link == NULL)
        return;
    zmq_msg_close(&link->frame);
    zmq_close(link->socket);
    zmq_ctx_term(link->context);
    free(link);
    *link_p = NULL;
}

const char *rb_link_endpoint(const rb_link_t *link)
{
    return link->endpoint;
}

void rb_link_wait(rb_link_t *link, int timeout_ms, const int *fds, size_t nfds, bool *ret_ready)
{
    zmq_pollitem_t items[1 + MAX_FDS] = {{link->socket, 0, ZMQ_POLLIN, 0}};
    size_t index[MAX_FDS];
    size_t n = 1;
    RB_ASSERT(nfds <= MAX_FDS);
    for (size_t i = 0; i < nfds; i++) {
        ret_ready[i] = false;
        index[i] = n;
        if (fds[i] >= 0)
            items[n++] = (zmq_pollitem_t){NULL, fds[i], ZMQ_POLLIN, 0};
    }
    if (zmq_poll(items, (int)n, timeout_ms) <= 0)
        return;
    for (size_t i = 0; i < nfds; i++)
        ret_ready[i] = fds[i] >= 0 && (items[index[i]].revents & ZMQ_POLLIN) != 0;
}

/* The rest of a message whose shape is wrong. */
static void drop_rest(rb_link_t *link)
{
    while (zmq_msg_more(&link->frame)) {
        zmq_msg_close(&link->frame);
        zmq_msg_init(&link->frame);
        if (zmq_msg_recv(&link->frame, link->socket, ZMQ_DONTWAIT) < 0)
            return;
    }
}

static bool copy_name(zmq_msg_t *msg, char peer[RB_LINK_PEER])
{
    size_t size = zmq_msg_size(msg);
    if (size == 0 || size >= RB_LINK_PEER || memchr(zmq_msg_data(msg), 0, size) != NULL)
        return false;
    memcpy(peer, zmq_msg_data(msg), size);
    peer[size] = '\0';
    return true;
}

/* 1: a frame, 0: something else was dropped, -1: nothing there. */
static int receive_one(rb_link_t *link, char peer[RB_LINK_PEER])
{
    zmq_msg_close(&link->frame);
    zmq_msg_init(&link->frame);
    if (zmq_msg_recv(&link->frame, link->socket, ZMQ_DONTWAIT) < 0)
        return -1;
    bool named = copy_name(&link->frame, peer);
    if (!named || !zmq_msg_more(&link->frame)) {
        drop_rest(link);
        return 0;
    }
    zmq_msg_close(&link->frame);
    zmq_msg_init(&link->frame);
    if (zmq_msg_recv(&link->frame, link->socket, ZMQ_DONTWAIT) < 0)
        return -1;
    if (!zmq_msg_more(&link->frame))
        return 1;
    drop_rest(link);
    return 0;
}

bool rb_link_receive(rb_link_t *link, char peer[RB_LINK_PEER], const void **ret_data,
                     size_t *ret_size)
{
    int got = 0;
    while (got == 0)
        got = receive_one(link, peer);
    if (got < 0)
        return false;
    *ret_data = zmq_msg_data(&link->frame);
    *ret_size = zmq_msg_size(&link->frame);
    return true;
}

void rb_link_send(rb_link_t *link, const char *peer, const void *data, size_t size)
{
    const char *name = peer != NULL ? peer : COORDINATOR;
    if (zmq_send(link->socket, name, strlen(name), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        zmq_send(link->socket, data, size, ZMQ_DONTWAIT);
}
