/* base.h - what every file may use: ownership, assertions, allocation, the limits of the product.
 *
 * Ownership (see CONTRIBUTING.md): rb_X_new() makes, rb_X_destroy(rb_X_t **) ends; an owning local
 * is `RB_AUTO(rb_X_destroy) rb_X_t *x = NULL;` and leaves by `return RB_MOVE(x);`.
 * Any thread. Out of memory aborts the program.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RB_AUTO(destroy) __attribute__((cleanup(destroy)))
#define RB_MOVE(x)                                                                                 \
    __extension__({                                                                                \
        __typeof__(x) rb_moved_ = (x);                                                             \
        (x) = NULL;                                                                                \
        rb_moved_;                                                                                 \
    })
#define RB_LEN(array)      (sizeof(array) / sizeof((array)[0]))
#define RB_MIN(a, b)       ((a) < (b) ? (a) : (b))
#define RB_MAX(a, b)       ((a) > (b) ? (a) : (b))
#define RB_PRINTF(fmt, va) __attribute__((format(printf, fmt, va)))

/* A programmer's error: named and fatal, in release builds too. */
#define RB_ASSERT(cond) ((cond) ? (void)0 : rb_assert_failed(#cond, __FILE__, __LINE__))
__attribute__((noreturn)) void rb_assert_failed(const char *cond, const char *file, int line);

void *rb_calloc(size_t count, size_t size); /* zeroed; never NULL */
void *rb_realloc(void *p, size_t size);     /* never NULL */
char *rb_strdup(const char *s);
char *rb_strndup(const char *s, size_t n);
char *rb_asprintf(const char *fmt, ...) RB_PRINTF(1, 2);
void rb_free_str(char **s); /* for RB_AUTO on a char * */

/* Grow an array by one zeroed element and return it: items = RB_PUSH(items, count). */
#define RB_PUSH(items, count)                                                                      \
    __extension__({                                                                                \
        (items) = rb_grow((items), (count), sizeof(*(items)));                                     \
        &(items)[(count)++];                                                                       \
    })
void *rb_grow(void *items, size_t count, size_t size); /* room for count + 1, doubling */

#define RB_NS_PER_US 1000ull
#define RB_NS_PER_MS 1000000ull
#define RB_NS_PER_S  1000000000ull
#define RB_KIB       1024ull
#define RB_MIB       (1024ull * 1024)
#define RB_GIB       (1024ull * 1024 * 1024)

/* Limits of the product: every queue, list and message has one. */
enum {
    RB_MAX_HOSTS = 4096,
    RB_MAX_PHASES = 4096,
    RB_MAX_JOBS = 64,      /* per phase */
    RB_MAX_TARGETS = 256,  /* per plan */
    RB_MAX_DRIVES = 1024,  /* files or devices per target and host */
    RB_MAX_WORKERS = 4096, /* threads per agent and phase */
    RB_MAX_IODEPTH = 4096,
    RB_MAX_NAME = 255,               /* bytes of a host, target, job, phase name */
    RB_MAX_TEXT = 500,               /* bytes of an error or event text */
    RB_MAX_FRAME = 64 * 1024 * 1024, /* bytes of a frame's payload */
    RB_MAX_CELLS = 1024, /* of one window row: jobs x drives x kinds of operation on a host */
    RB_MAX_OUTBOX = 64 * 1024 * 1024 /* bytes of rows an agent holds unacknowledged */
};
