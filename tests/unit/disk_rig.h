/* disk_rig.h - for tests of what lies on a disk: a loop device with direct I/O over a tmpfs, and
 * its data without it. */
#pragma once

#include <cmocka.h>

#include "tests/unit/scratch_disk.h"

#ifndef RB_TEST_DISK_BYTES
#define RB_TEST_DISK_BYTES (4 * 1024 * 1024)
#endif
enum { DISK = RB_TEST_DISK_BYTES };

static char dir[64];
static rb_test_loop_t loop = {.fd = -1};

static inline int set_up(void **state)
{
    (void)state;
    char image[96];
    snprintf(dir, sizeof(dir), "/dev/shm/rb-test-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(image, sizeof(image), "%s/image", dir);
    rb_test_image(image, DISK);
    rb_test_loop_up(&loop, image);
    RB_ASSERT(ioctl(loop.fd, LOOP_SET_DIRECT_IO, 1ul) == 0);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    rb_test_loop_down(&loop);
    rb_test_remove_tree(dir);
    return 0;
}

static inline void disk_io(ssize_t (*io)(int, void *, size_t, off_t), void *data, size_t size,
                           off_t at)
{
    int fd = open(loop.image, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(io(fd, data, size, at), size);
    close(fd);
}
