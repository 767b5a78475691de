/* Any bytes as a log of acknowledged writes: what is read, lost and torn add up to the file, and
 * of each block there is one write. */
#include "agent/verify_log.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const rb_log_t *log, size_t size)
{
    RB_ASSERT(log->head.ndrives > 0 && log->head.ndrives <= RB_MAX_DRIVES);
    RB_ASSERT(log->rest.torn_bytes + log->rest.lost_bytes + log->writes * RB_LOG_RECORD <= size);
    RB_ASSERT(strlen(log->head.run_id) < RB_LOG_ID);
    for (size_t i = 0; i < log->head.ndrives; i++) {
        const rb_log_blocks_t *b = rb_log_of_drive(log, log->head.drives[i]);
        RB_ASSERT(b != NULL && b->n <= log->writes);
        for (size_t k = 1; k < b->n; k++)
            RB_ASSERT(b->blocks[k - 1].offset_bytes < b->blocks[k].offset_bytes);
    }
}

static void read_bytes(const void *data, size_t size)
{
    rb_err_t err;
    int fd = memfd_create("log", MFD_CLOEXEC);
    RB_ASSERT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    RB_ASSERT(lseek(fd, 0, SEEK_SET) == 0);
    rb_log_t *log = rb_log_read_fd(fd, "log", &err);
    if (log != NULL)
        check(log, size);
    rb_log_destroy(&log);
}

/* The bytes as the records of batches whose hashes are right, which no fuzzer guesses. */
static void read_records(const uint8_t *data, size_t size)
{
    static uint8_t text[1 << 16];
    char *drives[] = {"/dev/a", "/dev/b"};
    rb_log_head_t head = {.run = 1, .bs_bytes = 512, .ndrives = 2, .drives = drives};
    rb_log_record_t r[16];
    uint8_t *packed;
    size_t at;
    rb_err_t err;
    RB_ASSERT(rb_log_head_pack(&head, &packed, &at, &err) == 0);
    memcpy(text, packed, at);
    free(packed);
    while (size > 0 && at + RB_LOG_BATCH_HEAD + 16 * RB_LOG_RECORD <= sizeof(text)) {
        uint32_t n = 1 + *data % RB_LEN(r);
        size_t bytes = RB_MIN(size - 1, n * sizeof(r[0]));
        memset(r, 0, sizeof(r));
        if (bytes > 0)
            memcpy(r, data + 1, bytes);
        at += rb_log_batch_pack(r, n, head.run, at, text + at);
        data += 1 + bytes;
        size -= 1 + bytes;
    }
    read_bytes(text, at);
    if (at > 200)
        text[at / 2] ^= 1; /* damage, and whole batches around it */
    read_bytes(text, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    read_records(data, size);
    return 0;
}
