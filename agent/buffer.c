#include "agent/buffer.h"

#include <inttypes.h>
#include <sys/mman.h>

static void *map(size_t size_bytes, int flags)
{
    void *p =
        mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "rackbench: out of memory: %zu bytes of buffers\n", size_bytes);
        abort();
    }
    return p;
}

void *rb_buffer_new(size_t size_bytes)
{
    return map(size_bytes, MAP_POPULATE);
}

void *rb_buffer_new_lazy(size_t size_bytes)
{
    return map(size_bytes, 0);
}

void rb_buffer_free(void *buffer, size_t size_bytes)
{
    if (buffer != NULL)
        munmap(buffer, size_bytes);
}

/* A number of /proc/meminfo; 0: it has none. */
static uint64_t meminfo(const char *key)
{
    char line[128];
    uint64_t value = 0;
    size_t n = strlen(key);
    FILE *f = fopen("/proc/meminfo", "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        if (strncmp(line, key, n) == 0 && line[n] == ':')
            value = strtoull(line + n + 1, NULL, 10);
    if (f != NULL)
        fclose(f);
    return value;
}

void *rb_buffer_new_huge(size_t *size_bytes, rb_err_t *err)
{
    size_t page_bytes = meminfo("Hugepagesize") * 1024;
    if (page_bytes == 0) {
        rb_err_set(err, RB_ERR_INPUT, "this kernel has no huge pages");
        return NULL;
    }
    size_t pages = (*size_bytes + page_bytes - 1) / page_bytes;
    void *p = mmap(NULL, pages * page_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) {
        uint64_t free_pages = meminfo("HugePages_Free") - meminfo("HugePages_Rsvd");
        rb_err_set(err, RB_ERR_INPUT,
                   "the buffers of this worker need %zu huge pages of %zu KiB and %" PRIu64
                   " are free: %" PRIu64 " are missing (sysctl vm.nr_hugepages)",
                   pages, page_bytes / 1024, free_pages,
                   pages - RB_MIN(free_pages, (uint64_t)pages));
        return NULL;
    }
    *size_bytes = pages * page_bytes;
    return p;
}

uint64_t rb_memory_available_bytes(void)
{
    char line[128];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");
    while (f != NULL && kib == 0 && fgets(line, sizeof(line), f) != NULL)
        if (sscanf(line, "MemAvailable: %llu kB", &kib) != 1)
            kib = 0;
    if (f != NULL)
        fclose(f);
    return kib * RB_KIB;
}
