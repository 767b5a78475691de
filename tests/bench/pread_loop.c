/* pread_loop.c - the fastest that one thread can read by system calls: random 4 KiB of TARGET, with
 * O_DIRECT, for SECONDS, and a look at the clock every 256. Prints reads a second.
 */
#include <fcntl.h>
#include <unistd.h>

#include "agent/buffer.h"
#include "common/clock.h"
#include "common/rng.h"

int main(int argc, char **argv)
{
    rb_rng_t rng;
    int fd = argc == 3 ? open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC) : -1;
    off_t size_bytes = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (size_bytes < 4096) {
        fprintf(stderr, "usage: pread_loop TARGET SECONDS\n");
        return RB_ERR_INPUT;
    }
    void *buffer = rb_buffer_new(4096);
    uint64_t blocks = (uint64_t)size_bytes / 4096, n = 0, now_ns = rb_clock_now_ns();
    uint64_t start_ns = now_ns, until_ns = now_ns + strtoull(argv[2], NULL, 10) * RB_NS_PER_S;
    rb_rng_seed(&rng, 1, 0, 0);
    for (; n % 256 != 0 || (now_ns = rb_clock_now_ns()) < until_ns; n++)
        if (pread(fd, buffer, 4096, (off_t)(rb_rng_below(&rng, blocks) * 4096)) != 4096)
            return RB_ERR_IO;
    printf("%.0f\n", (double)n * 1e9 / (double)(now_ns - start_ns));
    rb_buffer_free(buffer, 4096);
    close(fd);
    return RB_OK;
}
