#include "coordinator/hub.h"

#include "common/clock.h"

enum { SEND_QUEUE = 1000, RECEIVE_QUEUE = 100000, CONNECT_TIMEOUT_MS = 2000 };

typedef struct {
    const char *text; /* borrowed from the host list, or one of urls */
    uint32_t host;
} name_t;

struct rb_hub {
    rb_socket_t *socket;
    const rb_hostlist_t *hosts;
    rb_key_list_t keys;   /* of hosts that join, by name */
    char **peers;         /* [hosts->nitems] as the host calls itself; NULL: not heard yet */
    bool *disputed;       /* [hosts->nitems] a rival of it was told of */
    name_t *names, *urls; /* [hosts->nitems], sorted; urls only of those we dial */
    size_t nurls;
    Rackbench__ToCoordinator *message;
    rb_err_t broken;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const name_t *)a)->text, ((const name_t *)b)->text);
}

static uint32_t find(const name_t *names, size_t n, const char *text)
{
    name_t key = {text, 0};
    const name_t *found = n > 0 ? bsearch(&key, names, n, sizeof(key), compare) : NULL;
    return found != NULL ? found->host : 0;
}

/* The id is ours to choose before the connection stands, so a message can be queued at once. */
static int dial(rb_hub_t *hub, uint32_t host, rb_err_t *err)
{
    const rb_hostlist_item_t *item = &hub->hosts->items[host - 1];
    bool v6 = strchr(item->address, ':') != NULL;
    char *url = rb_asprintf("tcp://%s%s%s:%u", v6 ? "[" : "", item->address, v6 ? "]" : "",
                            (unsigned)item->port);
    hub->urls[hub->nurls++] = (name_t){url, host};
    if (rb_socket_dial(hub->socket, url, item->name, item->key, err) != 0)
        return rb_err_wrap(err, "host %s", item->name);
    return 0;
}

static int connect_all(rb_hub_t *hub, const rb_hub_opts_t *opts, rb_err_t *err)
{
    if (opts->listen != NULL)
        return rb_socket_bind(hub->socket, opts->listen, err) == 0 ? 0
                                                                   : rb_err_wrap(err, "--listen");
    for (uint32_t host = 1; host <= hub->hosts->nitems; host++)
        if (dial(hub, host, err) != 0)
            return -1;
    qsort(hub->urls, hub->nurls, sizeof(name_t), compare);
    return 0;
}

rb_hub_t *rb_hub_new(const rb_hub_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_hub_destroy) rb_hub_t *hub = rb_calloc(1, sizeof(*hub));
    size_t n = opts->hosts->nitems;
    rb_socket_opts_t socket = {.name = opts->name,
                               .send_queue = SEND_QUEUE,
                               .receive_queue = RECEIVE_QUEUE,
                               .connect_timeout_ms = CONNECT_TIMEOUT_MS,
                               .key = opts->key,
                               .allowed = &hub->keys};
    hub->hosts = opts->hosts;
    hub->peers = rb_calloc(n, sizeof(char *));
    hub->disputed = rb_calloc(n, sizeof(bool));
    hub->names = rb_calloc(n, sizeof(name_t));
    hub->urls = rb_calloc(n, sizeof(name_t));
    for (size_t i = 0; i < n; i++) {
        const rb_hostlist_item_t *item = &opts->hosts->items[i];
        hub->names[i] = (name_t){item->name, (uint32_t)i + 1};
        if (item->key != NULL)
            rb_key_list_add(&hub->keys, item->name, item->key);
    }
    qsort(hub->names, n, sizeof(name_t), compare);
    hub->socket = rb_socket_new(&socket);
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
    rb_socket_destroy(&hub->socket);
    rb_key_list_clear(&hub->keys);
    for (size_t i = 0; i < hub->nurls; i++)
        free((char *)(uintptr_t)hub->urls[i].text);
    for (size_t i = 0; i < hub->hosts->nitems; i++)
        free(hub->peers[i]);
    free(hub->peers);
    free(hub->disputed);
    free(hub->urls);
    free(hub->names);
    free(hub);
    *hub_p = NULL;
}

static void send_frame(rb_hub_t *hub, uint32_t host, const rb_bytes_t *frame)
{
    const char *peer = hub->peers[host - 1];
    rb_socket_send(hub->socket, peer != NULL ? peer : hub->hosts->items[host - 1].name, frame->data,
                   frame->size);
}

void rb_hub_send(rb_hub_t *hub, uint32_t host, const Rackbench__ToAgent *msg)
{
    rb_bytes_t frame = rb_wire_pack_to_agent(msg);
    send_frame(hub, host, &frame);
    rb_bytes_clear(&frame);
}

bool rb_hub_wait(rb_hub_t *hub, int timeout_ms, int fd)
{
    bool ready = false;
    rb_socket_wait(hub->socket, timeout_ms, &fd, 1, &ready);
    return ready;
}

static bool refuse(rb_hub_t *hub, const char *peer, const char *text)
{
    rb_bytes_t frame = rb_wire_pack_refusal(text);
    bool there = rb_socket_send(hub->socket, peer, frame.data, frame.size);
    rb_bytes_clear(&frame);
    return there;
}

static uint32_t find_host(const rb_hub_t *hub, const char *peer)
{
    char name[RB_SOCKET_PEER];
    size_t n = strcspn(peer, (char[]){RB_SOCKET_INSTANCE, '\0'});
    snprintf(name, sizeof(name), "%.*s", (int)n, peer);
    return find(hub->names, hub->hosts->nitems, name);
}

/* Is another one this host, and there? Whoever it was is told; one that is gone has an heir. */
static bool is_rival(rb_hub_t *hub, uint32_t host, const char *peer)
{
    char **owner = &hub->peers[host - 1];
    if (*owner != NULL && strcmp(*owner, peer) == 0)
        return false;
    if (*owner != NULL &&
        refuse(hub, *owner, "another agent joins by the name of this one, and is not let in"))
        return true;
    free(*owner);
    *owner = rb_strdup(peer);
    return false;
}

/* True if it is news. */
static bool turn_away(rb_hub_t *hub, const char *peer, rb_hub_event_t *ret)
{
    bool known = hub->disputed[ret->host - 1];
    char text[RB_MAX_TEXT];
    snprintf(text, sizeof(text),
             "the name %s is taken by another agent: give this one another --name",
             hub->hosts->items[ret->host - 1].name);
    refuse(hub, peer, text);
    hub->disputed[ret->host - 1] = true;
    ret->kind = RB_HUB_RIVAL;
    ret->text = "another agent joins by its name: it was not let in; give it another --name";
    return !known;
}

static void decode(rb_hub_t *hub, const void *data, size_t size, rb_hub_event_t *ev)
{
    rb_frame_t frame;
    rb_to_coordinator_destroy(&hub->message);
    bool parsed = rb_wire_parse(data, size, &frame, &hub->broken) == 0;
    if (parsed && frame.kind == RB_FRAME_ROW) {
        ev->kind = RB_HUB_ROW;
        ev->row = frame.payload;
        ev->row_size = frame.size;
        return;
    }
    bool refused = parsed && frame.kind == RB_FRAME_REFUSAL;
    if (refused)
        rb_wire_refusal(data, size, &hub->broken);
    else if (parsed)
        hub->message = rb_wire_to_coordinator(&frame, &hub->broken);
    ev->kind = hub->message != NULL ? RB_HUB_MESSAGE : RB_HUB_BROKEN;
    ev->message = hub->message;
    ev->text = hub->broken.text;
    if (ev->kind == RB_HUB_BROKEN && !refused)
        refuse(hub, hub->peers[ev->host - 1], hub->broken.text);
}

static bool receive_refusal(rb_hub_t *hub, rb_hub_event_t *ret)
{
    const char *url;
    rb_refusal_t refusal;
    uint32_t host = 0;
    while (host == 0 && (refusal = rb_socket_refused(hub->socket, &url)) != RB_REFUSED_NOT)
        host = find(hub->urls, hub->nurls, url);
    if (host == 0)
        return false;
    *ret = (rb_hub_event_t){RB_HUB_REFUSED, rb_clock_now_ns(), .host = host};
    ret->text = rb_socket_why(refusal, hub->hosts->items[host - 1].key);
    return true;
}

bool rb_hub_receive(rb_hub_t *hub, rb_hub_event_t *ret)
{
    char peer[RB_SOCKET_PEER];
    const void *data;
    size_t size;
    while (rb_socket_receive(hub->socket, peer, &data, &size)) {
        uint32_t host = find_host(hub, peer);
        *ret = (rb_hub_event_t){.now_ns = rb_clock_now_ns(), .host = host};
        if (host == 0)
            continue;
        if (is_rival(hub, host, peer)) {
            if (turn_away(hub, peer, ret))
                return true;
            continue;
        }
        decode(hub, data, size, ret);
        return true;
    }
    return receive_refusal(hub, ret);
}
