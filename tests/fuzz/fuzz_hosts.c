/* Any bytes as a hosts.yaml, as a list of hosts and as a file of keys (the first byte picks): what
 * is taken keeps to the limits and is unique. */
#include "coordinator/hosts_file.h"
#include "proto/keys.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check(const rb_hostlist_t *list)
{
    const char *names[RB_MAX_HOSTS];
    RB_ASSERT(list->nitems <= RB_MAX_HOSTS);
    for (size_t i = 0; i < list->nitems; i++) {
        const rb_hostlist_item_t *host = &list->items[i];
        names[i] = host->name;
        RB_ASSERT(strlen(host->name) <= RB_MAX_NAME && *host->name != '\0');
        RB_ASSERT(*host->address != '\0' && host->port != 0);
        RB_ASSERT(host->key == NULL || rb_key_valid(host->key));
    }
    qsort(names, list->nitems, sizeof(names[0]), compare);
    for (size_t i = 1; i < list->nitems; i++)
        RB_ASSERT(strcmp(names[i - 1], names[i]) != 0);
}

static void try_hosts(const char *text, size_t size)
{
    rb_err_t err;
    RB_AUTO(rb_hostlist_destroy)
    rb_hostlist_t *list = rb_hosts_parse(text, size, "hosts.yaml", &err);
    if (list != NULL)
        check(list);
}

static void try_list(const char *text, size_t size)
{
    rb_err_t err;
    RB_AUTO(rb_free_str) char *expression = rb_strndup(text, size);
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    (void)rb_hostlist_parse(list, expression, &err);
    check(list); /* what came before an error is in it */
}

static void try_keys(const char *text, size_t size)
{
    rb_err_t err;
    RB_AUTO(rb_key_list_clear) rb_key_list_t list = {0};
    char path[64];
    int fd = memfd_create("keys", MFD_CLOEXEC);
    RB_ASSERT(fd >= 0 && write(fd, text, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (rb_key_list_load(&list, path, &err) == 0)
        for (size_t i = 0; i < list.nkeys; i++)
            RB_ASSERT(rb_key_valid(list.keys[i].key));
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const char *, size_t) = {try_hosts, try_list, try_keys};
    if (size == 0 || memchr(data, '@', size) != NULL) /* @FILE reads whatever there is */
        return 0;
    tries[data[0] % RB_LEN(tries)]((const char *)data + 1, size - 1);
    return 0;
}
