#include "agent/buffer.h"

#include <sys/mman.h>

void *rb_buffer_new(size_t size_bytes)
{
    void *p = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "rackbench: out of memory: %zu bytes of buffers\n", size_bytes);
        abort();
    }
    return p;
}

void rb_buffer_free(void *buffer, size_t size_bytes)
{
    if (buffer != NULL)
        munmap(buffer, size_bytes);
}

void rb_buffer_fill(void *buffer, size_t size_bytes, rb_rng_t *rng)
{
    uint64_t *word = buffer;
    for (size_t i = 0; i < size_bytes / sizeof(*word); i++)
        word[i] = rb_rng_next(rng);
}
