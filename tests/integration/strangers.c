/* strangers.c - what nobody invited, for test_keys.sh: connections to a port that never become
 * peers.
 *
 * strangers garbage|half|huge PORT N SECONDS: opens N connections to 127.0.0.1:PORT as fast as it
 * can; each sends bytes of no protocol, half a handshake of ZMTP 3 under CURVE, or a plain
 * handshake and the head of a frame of 2^31 bytes; holds them for SECONDS. Prints how many were
 * accepted. strangers relay LISTEN PORT FILE: passes one connection on, keeps what its client sends
 * in FILE. strangers replay PORT FILE: sends FILE, and prints how many bytes came back.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base.h"

enum { MAX_OPEN = 12000, BUFFER = 65536, REPLAY_WAIT_MS = 1500, TURN_MS = 50 };

static struct sockaddr_in address(const char *port)
{
    return (struct sockaddr_in){.sin_family = AF_INET,
                                .sin_port = htons((uint16_t)atoi(port)),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static int dial(const char *port, int flags)
{
    struct sockaddr_in to = address(port);
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS)
        return fd;
    close(fd);
    return -1;
}

/* RFC 23: signature, version 3.1, mechanism, as-server, filler; for `huge` READY and a long frame.
 */
static size_t opening(const char *kind, uint8_t *bytes)
{
    static const uint8_t ready[] = "\x04\x19\x05READY\x0bSocket-Type\0\0\0\x03REQ";
    static const uint8_t frame[] = {0x02, 0, 0, 0, 0, 0x80, 0, 0, 0};
    memset(bytes, 0x5a, 256);
    if (strcmp(kind, "garbage") == 0)
        return 256;
    memset(bytes, 0, 256);
    bytes[0] = 0xff;
    bytes[9] = 0x7f;
    bytes[10] = 3;
    bytes[11] = 1;
    if (strcmp(kind, "half") == 0) {
        memcpy(bytes + 12, "CURVE", 5);
        return 64;
    }
    memcpy(bytes + 12, "NULL", 4);
    memcpy(bytes + 64, ready, sizeof(ready) - 1);
    memcpy(bytes + 64 + sizeof(ready) - 1, frame, sizeof(frame));
    return 64 + sizeof(ready) - 1 + sizeof(frame);
}

static int flood(const char *kind, const char *port, int n, int seconds)
{
    static struct pollfd fds[MAX_OPEN];
    uint8_t bytes[256];
    size_t size = opening(kind, bytes);
    int accepted = 0, open = 0;
    while (open < n && (fds[open].fd = dial(port, SOCK_NONBLOCK)) >= 0)
        fds[open++].events = POLLOUT;
    for (int left_ms = seconds * 1000; left_ms > 0; left_ms -= TURN_MS) {
        poll(fds, (nfds_t)open, 0);
        for (int i = 0; i < open; i++) {
            if (fds[i].events != POLLOUT || !(fds[i].revents & POLLOUT))
                continue;
            accepted += send(fds[i].fd, bytes, size, MSG_NOSIGNAL) == (ssize_t)size;
            fds[i].events = 0;
        }
        usleep(TURN_MS * 1000);
    }
    printf("%d of %d\n", accepted, n);
    return open == n ? 0 : 1;
}

static void copy_all(int from, int to, FILE *record)
{
    char buffer[BUFFER];
    struct pollfd fds[2] = {{from, POLLIN, 0}, {to, POLLIN, 0}};
    while (poll(fds, 2, -1) > 0) {
        for (int i = 0; i < 2; i++) {
            if (fds[i].revents == 0)
                continue;
            ssize_t got = read(fds[i].fd, buffer, sizeof(buffer));
            if (got <= 0 || send(fds[1 - i].fd, buffer, (size_t)got, MSG_NOSIGNAL) != got)
                return;
            if (i == 0)
                fwrite(buffer, 1, (size_t)got, record);
        }
    }
}

static int relay(const char *listen_port, const char *port, const char *path)
{
    struct sockaddr_in at = address(listen_port);
    int one = 1, server = socket(AF_INET, SOCK_STREAM, 0);
    FILE *record = fopen(path, "w");
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (record == NULL || bind(server, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(server, 1) != 0)
        return 1;
    puts("relaying");
    fflush(stdout);
    copy_all(accept(server, NULL, NULL), dial(port, 0), record);
    return fclose(record) == 0 ? 0 : 1;
}

static int replay(const char *port, const char *path)
{
    char buffer[BUFFER];
    size_t got, back = 0;
    ssize_t n = 1;
    FILE *record = fopen(path, "r");
    struct pollfd in = {dial(port, 0), POLLIN, 0};
    if (record == NULL || in.fd < 0)
        return 1;
    while ((got = fread(buffer, 1, sizeof(buffer), record)) > 0)
        if (send(in.fd, buffer, got, MSG_NOSIGNAL) < 0)
            break;
    while (n > 0 && poll(&in, 1, REPLAY_WAIT_MS) > 0) {
        n = read(in.fd, buffer, sizeof(buffer));
        back += n > 0 ? (size_t)n : 0;
    }
    printf("%zu\n", back);
    return 0;
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (argc == 5 && strcmp(argv[1], "relay") == 0)
        return relay(argv[2], argv[3], argv[4]);
    if (argc == 4 && strcmp(argv[1], "replay") == 0)
        return replay(argv[2], argv[3]);
    if (argc == 5)
        return flood(argv[1], argv[2], RB_MIN(atoi(argv[3]), (int)MAX_OPEN), atoi(argv[4]));
    fputs("usage: strangers garbage|half|huge PORT N SECONDS\n", stderr);
    return 1;
}
