/* join_cost.c - how many parts of restores the coordinator takes a second: rows of kind 11 as they
 * come from the hosts, unpacked and joined by request. Arguments: hosts, requests. */
#include <time.h>

#include "common/units.h"
#include "coordinator/join.h"

enum { BATCH = 256 };

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Requests from `first` on, of which each host has a part that ends at another time. */
static rb_bytes_t row_of(uint32_t host, uint32_t hosts, uint32_t first, rb_kv_row_part_t *parts)
{
    for (uint32_t i = 0; i < BATCH; i++) {
        int64_t due_ns = (int64_t)(first + i) * 100000;
        parts[i] =
            (rb_kv_row_part_t){.request = first + i,
                               .part = RB_PART_MAIN,
                               .due_at_ns = due_ns,
                               .first_at_ns = due_ns + 100000,
                               .end_at_ns = due_ns + 1000000 + (first + i) * host % 977 * 1000,
                               .bytes = 1 << 20,
                               .blocks = 16,
                               .drives = hosts,
                               .hosts = hosts,
                               .tokens = 256 * hosts};
    }
    rb_row_t row = {.kind = RB_ROW_KV_PARTS, .kv_parts = {.nparts = BATCH, .parts = parts}};
    return rb_row_pack(&row);
}

static void take(rb_join_t *join, uint32_t host, const rb_bytes_t *bytes)
{
    rb_row_t row;
    rb_err_t err;
    RB_ASSERT(rb_row_unpack(bytes->data, bytes->size, &row, &err) == 0);
    for (size_t i = 0; i < row.kv_parts.nparts; i++)
        rb_join_add(join, host, &row.kv_parts.parts[i]);
    rb_row_clear(&row);
}

int main(int argc, char **argv)
{
    uint32_t hosts = argc > 1 ? (uint32_t)atoi(argv[1]) : 16;
    uint32_t requests = (argc > 2 ? (uint32_t)atoi(argv[2]) : 100000) / BATCH * BATCH;
    rb_kv_row_part_t parts[BATCH];
    rb_join_counts_t counts;
    double seconds = 0;
    RB_ASSERT(hosts > 0 && requests > 0);
    RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&(rb_join_opts_t){0});
    for (uint32_t first = 0; first < requests; first += BATCH)
        for (uint32_t host = 1; host <= hosts; host++) {
            rb_bytes_t bytes = row_of(host, hosts, first, parts);
            double begun = now_s();
            take(join, host, &bytes);
            seconds += now_s() - begun;
            rb_bytes_clear(&bytes);
        }
    rb_join_counts(join, &counts);
    RB_ASSERT(counts.requests == requests && counts.open == 0);
    printf("%u %.0f\n", hosts, (double)requests * hosts / seconds);
    return 0;
}
