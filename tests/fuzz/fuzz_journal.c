/* Any bytes as a journal: the records that are read and the torn rest add up to the file. */
#include "coordinator/journal.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAGIC_BYTES = 8, HEADER_BYTES = 12 };

typedef struct {
    uint64_t records, bytes;
    unsigned sum;
} seen_t;

static int see(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    seen_t *seen = ctx;
    (void)host;
    (void)err;
    for (size_t i = 0; i < size; i++) /* a sanitizer looks at each byte */
        seen->sum += ((const uint8_t *)data)[i];
    seen->records++;
    seen->bytes += HEADER_BYTES + size;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rb_err_t err;
    seen_t seen = {0};
    rb_journal_info_t info;
    char path[64];
    int fd = memfd_create("journal", MFD_CLOEXEC);
    RB_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (rb_journal_read(path, see, &seen, &info, &err) == 0) {
        RB_ASSERT(info.records == seen.records && info.end_bytes == MAGIC_BYTES + seen.bytes);
        RB_ASSERT(info.end_bytes + info.torn_bytes == size);
    }
    close(fd);
    return 0;
}
