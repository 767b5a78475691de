#include "proto/socket_guard.h"

#include "common/log.h"
#include "proto/socket.h"

#include <errno.h>
#include <linux/filter.h>
#include <sys/socket.h>
#include <zmq.h>

#define ASK_URL "inproc://zeromq.zap.01"

enum { MAX_PART = 256, MAX_FD = 1 << 20 };

/* The parts of a question that matter to us. */
enum { VERSION, REQUEST, DOMAIN_, ADDRESS, IDENTITY, MECHANISM, KEY, PARTS };

typedef struct {
    size_t size;
    uint8_t data[MAX_PART];
} part_t;

void *rb_guard_open(void *context)
{
    void *asker = zmq_socket(context, ZMQ_REP);
    RB_ASSERT(asker != NULL);
    int linger = 0;
    zmq_setsockopt(asker, ZMQ_LINGER, &linger, sizeof(linger));
    int rc = zmq_bind(asker, ASK_URL);
    RB_ASSERT(rc == 0);
    return asker;
}

static const rb_key_entry_t *find(const rb_key_list_t *allowed, const part_t *key)
{
    char text[RB_KEY_SIZE];
    if (allowed == NULL || key->size != RB_KEY_BYTES)
        return NULL;
    rb_key_from_bytes(text, key->data);
    for (size_t i = 0; i < allowed->nkeys; i++)
        if (strcmp(allowed->keys[i].key, text) == 0)
            return &allowed->keys[i];
    return NULL;
}

static void reply(void *asker, const part_t *request, const rb_key_entry_t *entry)
{
    const char *code = entry != NULL ? "200" : "400";
    const char *user = entry != NULL && entry->name != NULL ? entry->name : "";
    zmq_send(asker, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(asker, request->data, request->size, ZMQ_SNDMORE);
    zmq_send(asker, code, 3, ZMQ_SNDMORE);
    zmq_send(asker, "", 0, ZMQ_SNDMORE);
    zmq_send(asker, user, strlen(user), ZMQ_SNDMORE);
    zmq_send(asker, "", 0, 0);
}

static bool part_is(const part_t *part, const char *text)
{
    return part->size == strlen(text) && memcmp(part->data, text, part->size) == 0;
}

bool rb_guard_answer(void *asker, const rb_key_list_t *allowed)
{
    part_t parts[PARTS] = {0};
    int more = 1;
    size_t n = 0, size = sizeof(more);
    while (more != 0) {
        part_t rest, *part = n < PARTS ? &parts[n] : &rest;
        int got = zmq_recv(asker, part->data, MAX_PART, n == 0 ? ZMQ_DONTWAIT : 0);
        if (got < 0)
            return false;
        part->size = RB_MIN((size_t)got, (size_t)MAX_PART);
        n++;
        zmq_getsockopt(asker, ZMQ_RCVMORE, &more, &size);
    }
    bool curve = n == PARTS && part_is(&parts[MECHANISM], "CURVE");
    const rb_key_entry_t *entry = curve ? find(allowed, &parts[KEY]) : NULL;
    if (entry == NULL)
        rb_log_warn("refused a peer at %.*s: its key is not authorized", (int)parts[ADDRESS].size,
                    (const char *)parts[ADDRESS].data);
    reply(asker, &parts[REQUEST], entry);
    return true;
}

/* ---- strangers ---- */

/* Who has not shaken hands by then has been cut off. */
#define SETTLED_NS (1200 * RB_NS_PER_MS)

static void forget(rb_strangers_t *p, int fd)
{
    if (fd < 0 || (size_t)fd >= p->nfds || p->since_ns[fd] == 0)
        return;
    p->since_ns[fd] = 0;
    p->count--;
    p->shaken = RB_MIN(p->shaken, p->count);
}

static void remember(rb_strangers_t *p, int fd, uint64_t now_ns)
{
    if (fd < 0 || fd >= MAX_FD)
        return;
    forget(p, fd);
    while (p->nfds <= (size_t)fd)
        *RB_PUSH(p->since_ns, p->nfds) = 0;
    p->since_ns[fd] = now_ns;
    p->count++;
}

/* ZeroMQ does not say who has shaken hands, only that somebody has. */
void rb_strangers_note(rb_strangers_t *p, uint16_t event, int fd, uint64_t now_ns)
{
    if (event == ZMQ_EVENT_LISTENING)
        p->listen_fd = fd + 1;
    else if (event == ZMQ_EVENT_ACCEPTED)
        remember(p, fd, now_ns);
    else if (event == ZMQ_EVENT_DISCONNECTED || event == ZMQ_EVENT_CLOSED)
        forget(p, fd);
    else if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED && p->shaken < p->count)
        p->shaken++;
}

/* Who is still connected after SETTLED_NS is no stranger. */
static void settle(rb_strangers_t *p, uint64_t now_ns)
{
    for (size_t fd = 0; fd < p->nfds; fd++) {
        if (p->since_ns[fd] == 0 || now_ns < p->since_ns[fd] + SETTLED_NS)
            continue;
        p->shaken -= p->shaken > 0;
        forget(p, (int)fd);
    }
}

/* The filter of a listening socket sees the packets that would open a connection, and no other. */
static void set_deaf(rb_strangers_t *p, bool deaf)
{
    static struct sock_filter drop = BPF_STMT(BPF_RET | BPF_K, 0);
    struct sock_fprog program = {1, &drop};
    int none = 0, fd = p->listen_fd - 1;
    int rc = deaf ? setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program))
                  : setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof(none));
    if (rc != 0 && !p->told)
        rb_log_warn("the listening socket takes no filter (%s): strangers are not limited",
                    strerror(errno));
    p->told = p->told || rc != 0;
    if (rc != 0)
        return;
    if (deaf)
        rb_log_warn("%zu connections without a handshake: new ones are not heard for a while",
                    p->count - p->shaken);
    p->deaf = deaf;
}

void rb_strangers_limit(rb_strangers_t *p, uint64_t now_ns)
{
    if (p->listen_fd == 0 || (!p->deaf && p->count <= RB_MAX_PENDING))
        return;
    settle(p, now_ns);
    size_t strangers = p->count - p->shaken;
    if (!p->deaf && strangers > RB_MAX_PENDING)
        set_deaf(p, true);
    else if (p->deaf && strangers < RB_MAX_PENDING / 4)
        set_deaf(p, false);
}

void rb_strangers_clear(rb_strangers_t *p)
{
    free(p->since_ns);
    *p = (rb_strangers_t){0};
}
