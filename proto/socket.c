#include "proto/socket.h"

#include "common/clock.h"
#include "proto/socket_guard.h"

#include <errno.h>
#include <zmq.h>

enum {
    Z85_SIZE = 41,
    LINGER_MS = 500,
    HANDSHAKE_MS = 1000,
    /* A connection whose far end is silent for so long is made anew: TCP itself would wait twice as
     * long with every attempt, and a cable that is back would not be noticed. */
    DEAD_MS = 3000,
    MAX_FDS = 4,
    OWN = 3,
    DEAF_MS = 100,
    AT_ONCE = 1000
};

struct rb_socket {
    void *context, *socket;
    void *monitor; /* what happens to connections */
    void *asker;   /* who may connect; NULL: nobody asks */
    rb_socket_opts_t opts;
    bool binds;
    rb_strangers_t strangers;
    zmq_msg_t frame; /* the last one received */
    char endpoint[RB_SOCKET_PEER];
    char refused_url[RB_SOCKET_PEER];
    rb_refusal_t refusal; /* of the last event */
};

static void from_z85(char hex[RB_KEY_SIZE], const char *z85)
{
    uint8_t bytes[RB_KEY_BYTES];
    RB_ASSERT(zmq_z85_decode(bytes, z85) != NULL);
    rb_key_from_bytes(hex, bytes);
}

void rb_key_make(rb_key_pair_t *ret)
{
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    int rc = zmq_curve_keypair(public_key, secret_key);
    RB_ASSERT(rc == 0);
    from_z85(ret->public_key, public_key);
    from_z85(ret->secret_key, secret_key);
    explicit_bzero(secret_key, sizeof(secret_key));
}

void rb_key_public(rb_key_pair_t *pair)
{
    uint8_t bytes[RB_KEY_BYTES];
    char public_key[Z85_SIZE], secret_key[Z85_SIZE];
    rb_key_to_bytes(bytes, pair->secret_key);
    zmq_z85_encode(secret_key, bytes, sizeof(bytes));
    int rc = zmq_curve_public(public_key, secret_key);
    RB_ASSERT(rc == 0);
    from_z85(pair->public_key, public_key);
    explicit_bzero(bytes, sizeof(bytes));
    explicit_bzero(secret_key, sizeof(secret_key));
}

static void set_int(void *socket, int option, int value)
{
    int rc = zmq_setsockopt(socket, option, &value, sizeof(value));
    RB_ASSERT(rc == 0);
}

static void set_text(void *socket, int option, const char *text)
{
    int rc = zmq_setsockopt(socket, option, text, strlen(text));
    RB_ASSERT(rc == 0);
}

static void set_key(void *socket, int option, const char *key)
{
    uint8_t bytes[RB_KEY_BYTES];
    rb_key_to_bytes(bytes, key);
    int rc = zmq_setsockopt(socket, option, bytes, sizeof(bytes));
    RB_ASSERT(rc == 0);
    explicit_bzero(bytes, sizeof(bytes));
}

static void set_options(void *socket, const rb_socket_opts_t *opts)
{
    int64_t max_size = RB_MAX_FRAME + 64; /* and our header */
    int rc = zmq_setsockopt(socket, ZMQ_MAXMSGSIZE, &max_size, sizeof(max_size));
    RB_ASSERT(rc == 0);
    if (opts->name != NULL)
        set_text(socket, ZMQ_ROUTING_ID, opts->name);
    set_int(socket, ZMQ_LINGER, LINGER_MS);
    set_int(socket, ZMQ_SNDHWM, opts->send_queue);
    set_int(socket, ZMQ_RCVHWM, opts->receive_queue);
    set_int(socket, ZMQ_IPV6, 1);
    set_int(socket, ZMQ_ROUTER_HANDOVER, 1);
    set_int(socket, ZMQ_ROUTER_MANDATORY, 1);
    set_int(socket, ZMQ_HANDSHAKE_IVL, HANDSHAKE_MS);
    set_int(socket, ZMQ_TCP_MAXRT, DEAD_MS);
    if (opts->connect_timeout_ms > 0)
        set_int(socket, ZMQ_CONNECT_TIMEOUT, opts->connect_timeout_ms);
}

/* Without a limit: an event that is dropped would never be made up for. */
static void open_monitor(rb_socket_t *s)
{
    static const char url[] = "inproc://monitor";
    int rc = zmq_socket_monitor(s->socket, url, ZMQ_EVENT_ALL);
    RB_ASSERT(rc == 0);
    s->monitor = zmq_socket(s->context, ZMQ_PAIR);
    RB_ASSERT(s->monitor != NULL);
    set_int(s->monitor, ZMQ_RCVHWM, 0);
    set_int(s->monitor, ZMQ_LINGER, 0);
    rc = zmq_connect(s->monitor, url);
    RB_ASSERT(rc == 0);
}

rb_socket_t *rb_socket_new(const rb_socket_opts_t *opts)
{
    rb_socket_t *s = rb_calloc(1, sizeof(*s));
    s->opts = *opts;
    s->context = zmq_ctx_new();
    s->socket = zmq_socket(s->context, ZMQ_ROUTER);
    RB_ASSERT(s->socket != NULL);
    zmq_msg_init(&s->frame);
    set_options(s->socket, opts);
    open_monitor(s);
    return s;
}

void rb_socket_destroy(rb_socket_t **socket)
{
    rb_socket_t *s = *socket;
    if (s == NULL)
        return;
    zmq_msg_close(&s->frame);
    zmq_socket_monitor(s->socket, NULL, 0);
    zmq_close(s->monitor);
    zmq_close(s->socket);
    if (s->asker != NULL)
        zmq_close(s->asker);
    zmq_ctx_term(s->context);
    rb_strangers_clear(&s->strangers);
    free(s);
    *socket = NULL;
}

static int bad_url(const char *url, const char *example, rb_err_t *err)
{
    bool bad = errno == EINVAL || errno == EPROTONOSUPPORT;
    return rb_err_set(err, RB_ERR_NET, "'%s': %s%s%s", url, zmq_strerror(errno),
                      bad ? "; an address looks like " : "", bad ? example : "");
}

int rb_socket_check_url(const char *url, rb_err_t *err)
{
    static const char tcp[] = "tcp://", ipc[] = "ipc://";
    if (strncmp(url, ipc, strlen(ipc)) == 0 && url[strlen(ipc)] != '\0')
        return 0;
    const char *host = url + strlen(tcp), *colon = strrchr(url, ':');
    if (strncmp(url, tcp, strlen(tcp)) != 0 || colon <= host || colon[1] == '\0')
        return rb_err_set(err, RB_ERR_INPUT,
                          "'%.200s' is no address; one looks like tcp://10.0.0.7:7411", url);
    const char *port = colon + 1;
    size_t digits = strspn(port, "0123456789");
    if (strcmp(port, "*") == 0 ||
        (port[digits] == '\0' && digits <= 5 && strtoul(port, NULL, 10) <= UINT16_MAX))
        return 0;
    return rb_err_set(err, RB_ERR_INPUT, "'%.200s': '%.20s' is no port; 0 to 65535 is right", url,
                      port);
}

/* The host as it was given: ZeroMQ would call 127.0.0.1 [::ffff:127.0.0.1]. The port as it is. */
static void name_endpoint(rb_socket_t *s, const char *url)
{
    char bound[RB_SOCKET_PEER];
    size_t size = sizeof(bound);
    const char *port = NULL;
    if (zmq_getsockopt(s->socket, ZMQ_LAST_ENDPOINT, bound, &size) == 0)
        port = strrchr(bound, ':');
    if (strncmp(url, "tcp://", 6) != 0 || port == NULL)
        snprintf(s->endpoint, sizeof(s->endpoint), "%s", url);
    else
        snprintf(s->endpoint, sizeof(s->endpoint), "%.*s%s", (int)(strrchr(url, ':') - url), url,
                 port);
}

int rb_socket_bind(rb_socket_t *s, const char *url, rb_err_t *err)
{
    s->binds = true;
    if (s->opts.key != NULL) {
        s->asker = rb_guard_open(s->context);
        set_int(s->socket, ZMQ_CURVE_SERVER, 1);
        set_key(s->socket, ZMQ_CURVE_SECRETKEY, s->opts.key->secret_key);
        set_text(s->socket, ZMQ_ZAP_DOMAIN, "rackbench");
    }
    if (zmq_bind(s->socket, url) != 0)
        return bad_url(url, "tcp://0.0.0.0:7411", err);
    name_endpoint(s, url);
    return 0;
}

int rb_socket_dial(rb_socket_t *s, const char *url, const char *name, const char *key,
                   rb_err_t *err)
{
    if (key != NULL) {
        RB_ASSERT(s->opts.key != NULL);
        set_key(s->socket, ZMQ_CURVE_PUBLICKEY, s->opts.key->public_key);
        set_key(s->socket, ZMQ_CURVE_SECRETKEY, s->opts.key->secret_key);
        set_key(s->socket, ZMQ_CURVE_SERVERKEY, key);
    } else {
        set_int(s->socket, ZMQ_CURVE_SERVER, 0); /* back to plain */
    }
    set_text(s->socket, ZMQ_CONNECT_ROUTING_ID, name);
    if (zmq_connect(s->socket, url) != 0)
        return bad_url(url, "tcp://10.0.0.7:7410", err);
    snprintf(s->endpoint, sizeof(s->endpoint), "%s", url);
    return 0;
}

const char *rb_socket_endpoint(const rb_socket_t *s)
{
    return s->endpoint;
}

/* ---- connections ---- */

static rb_refusal_t refusal_of(uint16_t event, uint32_t value)
{
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
        return RB_REFUSED_KEY;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL &&
        value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH)
        return RB_REFUSED_MECHANISM;
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) /* value: errno */
        return value == EPIPE || value == ECONNRESET ? RB_REFUSED_CLOSED : RB_REFUSED_SILENT;
    return RB_REFUSED_NOT;
}

const char *rb_socket_why(rb_refusal_t refusal, const char *key)
{
    switch (refusal) {
    case RB_REFUSED_NOT:
        break;
    case RB_REFUSED_KEY:
        return "it does not accept our key: give the agent --authorize with our public key "
               "(rackbench keygen prints it)";
    case RB_REFUSED_MECHANISM:
        return key != NULL ? "we know a key of it, and it has none: start it with that key, or "
                             "forget the key and use --insecure"
                           : "it wants keys, and we have none of it: rackbench-agent --show-key "
                             "there prints it, for our known_hosts";
    case RB_REFUSED_CLOSED:
        return key != NULL ? "it ends the handshake: its key is not the one that we know of it; "
                             "rackbench-agent --show-key there prints it"
                           : "it ends the handshake: it wants keys, and we have none of it, or it "
                             "is no rackbench-agent";
    case RB_REFUSED_SILENT:
        return "it takes the connection and no handshake follows: is it a rackbench-agent?";
    }
    return "";
}

/* What was dialled as an IPv4 address is told as a mapped one after the first time. */
static void unmap(char *url)
{
    static const char mapped[] = "tcp://[::ffff:";
    char *end = strchr(url, ']');
    if (strncmp(url, mapped, strlen(mapped)) != 0 || end == NULL)
        return;
    memmove(end, end + 1, strlen(end));
    memmove(url + strlen("tcp://"), url + strlen(mapped), strlen(url + strlen(mapped)) + 1);
}

/* One event of the monitor: false if there is none. */
static bool next_event(rb_socket_t *s)
{
    struct __attribute__((packed)) {
        uint16_t event;
        uint32_t value;
    } head;
    char address[RB_SOCKET_PEER];
    if (zmq_recv(s->monitor, &head, sizeof(head), ZMQ_DONTWAIT) < 0)
        return false;
    int size = zmq_recv(s->monitor, address, sizeof(address) - 1, ZMQ_DONTWAIT);
    address[RB_MIN(RB_MAX(size, 0), (int)sizeof(address) - 1)] = '\0';
    if (s->binds) {
        rb_strangers_note(&s->strangers, head.event, (int)head.value, rb_clock_now_ns());
        return true;
    }
    s->refusal = refusal_of(head.event, head.value);
    unmap(address);
    snprintf(s->refused_url, sizeof(s->refused_url), "%s", address);
    return true;
}

rb_refusal_t rb_socket_refused(rb_socket_t *s, const char **ret_url)
{
    s->refusal = RB_REFUSED_NOT;
    while (!s->binds && s->refusal == RB_REFUSED_NOT && next_event(s))
        continue;
    *ret_url = s->refused_url;
    return s->refusal;
}

/* At most so many of each at a time: frames of peers come first. */
static void look_after(rb_socket_t *s)
{
    if (!s->binds)
        return;
    for (int i = 0; i < AT_ONCE && s->asker != NULL; i++)
        if (!rb_guard_answer(s->asker, s->opts.allowed))
            break;
    for (int i = 0; i < AT_ONCE; i++)
        if (!next_event(s))
            break;
    rb_strangers_limit(&s->strangers, rb_clock_now_ns());
}

void rb_socket_wait(rb_socket_t *s, int timeout_ms, const int *fds, size_t nfds, bool *ret_ready)
{
    zmq_pollitem_t items[OWN + MAX_FDS] = {{s->socket, 0, ZMQ_POLLIN, 0}};
    size_t index[MAX_FDS];
    int n = 1;
    RB_ASSERT(nfds <= MAX_FDS);
    if (s->binds) /* else nobody reads it here: it would end every wait at once */
        items[n++] = (zmq_pollitem_t){s->monitor, 0, ZMQ_POLLIN, 0};
    if (s->asker != NULL)
        items[n++] = (zmq_pollitem_t){s->asker, 0, ZMQ_POLLIN, 0};
    for (size_t i = 0; i < nfds; i++) {
        ret_ready[i] = false;
        index[i] = (size_t)n;
        if (fds[i] >= 0)
            items[n++] = (zmq_pollitem_t){NULL, fds[i], ZMQ_POLLIN, 0};
    }
    if (s->strangers.deaf && (timeout_ms < 0 || timeout_ms > DEAF_MS))
        timeout_ms = DEAF_MS;
    if (zmq_poll(items, n, timeout_ms) > 0)
        for (size_t i = 0; i < nfds; i++)
            ret_ready[i] = fds[i] >= 0 && (items[index[i]].revents & ZMQ_POLLIN) != 0;
    look_after(s);
}

/* ---- frames ---- */

static bool next_part(rb_socket_t *s)
{
    zmq_msg_close(&s->frame);
    zmq_msg_init(&s->frame);
    return zmq_msg_recv(&s->frame, s->socket, ZMQ_DONTWAIT) >= 0;
}

/* Under CURVE the guard gave a peer whose key has a name this name: it may use no other. */
static bool may_be(zmq_msg_t *msg, const char *peer)
{
    const char *user = zmq_msg_gets(msg, "User-Id");
    if (user == NULL || user[0] == '\0')
        return true;
    size_t n = strlen(user);
    return strncmp(user, peer, n) == 0 && (peer[n] == '\0' || peer[n] == RB_SOCKET_INSTANCE);
}

static bool take_name(zmq_msg_t *msg, char peer[RB_SOCKET_PEER])
{
    size_t size = zmq_msg_size(msg);
    if (size == 0 || size >= RB_SOCKET_PEER || memchr(zmq_msg_data(msg), 0, size) != NULL)
        return false;
    memcpy(peer, zmq_msg_data(msg), size);
    peer[size] = '\0';
    return true;
}

bool rb_socket_receive(rb_socket_t *s, char peer[RB_SOCKET_PEER], const void **ret_data,
                       size_t *ret_size)
{
    while (next_part(s)) {
        bool named = take_name(&s->frame, peer);
        size_t parts = 1;
        while (zmq_msg_more(&s->frame) && next_part(s))
            parts++;
        if (!named || parts != 2 || !may_be(&s->frame, peer))
            continue;
        *ret_data = zmq_msg_data(&s->frame);
        *ret_size = zmq_msg_size(&s->frame);
        return true;
    }
    return false;
}

bool rb_socket_send(rb_socket_t *s, const char *peer, const void *data, size_t size)
{
    if (zmq_send(s->socket, peer, strlen(peer), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
        return errno != EHOSTUNREACH;
    zmq_send(s->socket, data, size, ZMQ_DONTWAIT);
    return true;
}
