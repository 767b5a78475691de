#include "coordinator/hub.h"

#include "common/clock.h"

#include <errno.h>
#include <zmq.h>

enum { SEND_QUEUE = 1000, RECEIVE_QUEUE = 100000, LINGER_MS = 500, CONNECT_TIMEOUT_MS = 2000 };

typedef struct {
    const char *name; /* borrowed from the host list */
    uint32_t host;
} name_t;

struct rb_hub {
    void *context, *socket;
    const rb_hostlist_t *hosts;
    name_t *names; /* [hosts->nitems], sorted */
    zmq_msg_t frame;
    Rackbench__ToCoordinator *message;
    rb_err_t broken;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const name_t *)a)->name, ((const name_t *)b)->name);
}

static void set_int(void *socket, int option, int value)
{
    int rc = zmq_setsockopt(socket, option, &value, sizeof(value));
    RB_ASSERT(rc == 0);
}

static void set_options(void *socket, const char *run_id)
{
    int64_t max_size = RB_MAX_FRAME + 64; /* and our header */
    int rc = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max_size, sizeof(max_size));
    RB_ASSERT(rc == 0);
    zmq_setsockopt(socket, ZMQ_ROUTING_ID, run_id, strlen(run_id));
    set_int(socket, ZMQ_LINGER, LINGER_MS);
    set_int(socket, ZMQ_SNDHWM, SEND_QUEUE);
    set_int(socket, ZMQ_RCVHWM, RECEIVE_QUEUE);
    set_int(socket, ZMQ_IPV6, 1);
    set_int(socket, ZMQ_ROUTER_HANDOVER, 1);
    set_int(socket, ZMQ_ROUTER_MANDATORY, 1);
    set_int(socket, ZMQ_CONNECT_TIMEOUT, CONNECT_TIMEOUT_MS);
    set_int(socket, ZMQ_HANDSHAKE_IVL, 1000);
}

/* The id is ours to choose before the connection stands, so a message can be queued at once. */
static int dial(rb_hub_t *hub, const rb_hostlist_item_t *item, rb_err_t *err)
{
    bool v6 = strchr(item->address, ':') != NULL;
    RB_AUTO(rb_free_str)
    char *url = rb_asprintf("tcp://%s%s%s:%u", v6 ? "[" : "", item->address, v6 ? "]" : "",
                            (unsigned)item->port);
    zmq_setsockopt(hub->socket, ZMQ_CONNECT_ROUTING_ID, item->name, strlen(item->name));
    if (zmq_connect(hub->socket, url) != 0)
        return rb_err_set(err, RB_ERR_NET, "host %s: %s: %s", item->name, url, zmq_strerror(errno));
    return 0;
}

static int connect_all(rb_hub_t *hub, const rb_hub_opts_t *opts, rb_err_t *err)
{
    if (opts->listen != NULL) {
        if (zmq_bind(hub->socket, opts->listen) != 0)
            return rb_err_set(err, RB_ERR_NET, "--listen '%s': %s%s", opts->listen,
                              zmq_strerror(errno),
                              errno == EINVAL || errno == EPROTONOSUPPORT
                                  ? "; an address looks like tcp://0.0.0.0:7410"
                                  : "");
        return 0;
    }
    for (size_t i = 0; i < opts->hosts->nitems; i++)
        if (dial(hub, &opts->hosts->items[i], err) != 0)
            return -1;
    return 0;
}

rb_hub_t *rb_hub_new(const rb_hub_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_hub_destroy) rb_hub_t *hub = rb_calloc(1, sizeof(*hub));
    size_t n = opts->hosts->nitems;
    zmq_msg_init(&hub->frame);
    hub->context = zmq_ctx_new();
    zmq_ctx_set(hub->context, ZMQ_MAX_SOCKETS, 16);
    hub->socket = zmq_socket(hub->context, ZMQ_ROUTER);
    RB_ASSERT(hub->socket != NULL);
    hub->hosts = opts->hosts;
    hub->names = rb_calloc(n, sizeof(name_t));
    for (size_t i = 0; i < n; i++)
        hub->names[i] = (name_t){opts->hosts->items[i].name, (uint32_t)i + 1};
    qsort(hub->names, n, sizeof(name_t), compare);
    set_options(hub->socket, opts->run_id);
    if (connect_all(hub, opts, err) != 0)
        return NULL;
    return RB_MOVE(hub);
}

void rb_hub_destroy(rb_hub_t **hub_p)
{
    rb_hub_t *hub = *hub_p;
    if (hub == NULL)
        return;
    rb_to_coordinator_destroy(&hub->message);
    zmq_msg_close(&hub->frame);
    zmq_close(hub->socket);
    zmq_ctx_term(hub->context);
    free(hub->names);
    free(hub);
    *hub_p = NULL;
}

void rb_hub_send(rb_hub_t *hub, uint32_t host, const Rackbench__ToAgent *msg)
{
    const char *name = hub->hosts->items[host - 1].name;
    rb_bytes_t frame = rb_wire_pack_to_agent(msg);
    if (zmq_send(hub->socket, name, strlen(name), ZMQ_SNDMORE | ZMQ_DONTWAIT) >= 0)
        zmq_send(hub->socket, frame.data, frame.size, ZMQ_DONTWAIT);
    rb_bytes_clear(&frame);
}

bool rb_hub_wait(rb_hub_t *hub, int timeout_ms, int fd)
{
    zmq_pollitem_t items[2] = {{hub->socket, 0, ZMQ_POLLIN, 0}, {NULL, fd, ZMQ_POLLIN, 0}};
    zmq_poll(items, fd >= 0 ? 2 : 1, timeout_ms);
    return fd >= 0 && (items[1].revents & ZMQ_POLLIN) != 0;
}

static bool next_part(rb_hub_t *hub)
{
    zmq_msg_close(&hub->frame);
    zmq_msg_init(&hub->frame);
    return zmq_msg_recv(&hub->frame, hub->socket, ZMQ_DONTWAIT) >= 0;
}

static uint32_t host_of(const rb_hub_t *hub, zmq_msg_t *id)
{
    char text[RB_MAX_NAME + 1];
    size_t size = zmq_msg_size(id);
    if (size >= sizeof(text))
        return 0;
    memcpy(text, zmq_msg_data(id), size);
    text[size] = '\0';
    name_t key = {text, 0};
    const name_t *found = bsearch(&key, hub->names, hub->hosts->nitems, sizeof(name_t), compare);
    return found != NULL ? found->host : 0;
}

static void decode(rb_hub_t *hub, rb_hub_event_t *ev)
{
    rb_frame_t frame;
    rb_to_coordinator_destroy(&hub->message);
    ev->kind = RB_HUB_BROKEN;
    ev->text = hub->broken.text;
    if (rb_wire_parse(zmq_msg_data(&hub->frame), zmq_msg_size(&hub->frame), &frame, &hub->broken) !=
        0)
        return;
    if (frame.kind == RB_FRAME_ROW) {
        ev->kind = RB_HUB_ROW;
        ev->row = frame.payload;
        ev->row_size = frame.size;
        return;
    }
    hub->message = rb_wire_to_coordinator(&frame, &hub->broken);
    if (hub->message == NULL)
        return;
    ev->kind = RB_HUB_MESSAGE;
    ev->message = hub->message;
}

bool rb_hub_receive(rb_hub_t *hub, rb_hub_event_t *ret)
{
    while (next_part(hub)) {
        uint32_t host = host_of(hub, &hub->frame);
        size_t parts = 1;
        while (zmq_msg_more(&hub->frame) && next_part(hub))
            parts++;
        if (host == 0 || parts != 2)
            continue;
        *ret = (rb_hub_event_t){.now_ns = rb_clock_now_ns(), .host = host};
        decode(hub, ret);
        return true;
    }
    return false;
}
