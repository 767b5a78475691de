#include "common/local.h"

#include <arpa/inet.h>

bool rb_local_address(const char *address)
{
    struct in_addr v4;
    struct in6_addr v6;
    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    if (inet_pton(AF_INET6, address, &v6) == 1)
        return IN6_IS_ADDR_LOOPBACK(&v6);
    return strcmp(address, "localhost") == 0;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool rb_local_url(const char *url)
{
    if (begins(url, "ipc://") || begins(url, "inproc://"))
        return true;
    const char *port = strrchr(url, ':');
    if (!begins(url, "tcp://") || port < url + strlen("tcp://"))
        return false;
    const char *host = url + strlen("tcp://");
    bool bracketed = host[0] == '[' && port[-1] == ']';
    RB_AUTO(rb_free_str)
    char *address = rb_strndup(host + bracketed, (size_t)(port - host) - 2u * bracketed);
    return rb_local_address(address);
}
