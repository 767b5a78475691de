/* rank.h - the drives of a run among those that reviews have measured, and against their ratings.
 *
 * Pure, main thread. Compared is the same test (direction, pattern, block size) at the same point
 * (iodepth, numjobs), or peak with peak and worst latency with worst latency where several points
 * were measured; throughput in bytes per second, latency as the mean of response. What is not
 * comparable is no row: it is told why.
 *
 * Source: measurement.md 4, 6, 7; the reviews' method is in drives.json.
 */
#pragma once

#include "common/units.h"
#include "coordinator/reference/reference.h"
#include "coordinator/result.h"

typedef enum {
    RB_RANK_RATE,
    RB_RANK_LATENCY,
    RB_RANK_PEAK,
    RB_RANK_WORST,
    RB_RANKS
} rb_rank_kind_t;
extern const char *const rb_rank_names[RB_RANKS]; /* "throughput", "latency", "peak", ... */

typedef struct {
    const char *test;
    rb_rank_kind_t kind;
    uint64_t bs_bytes;
    uint32_t iodepth, numjobs; /* where it was measured */
    double value;              /* [bytes/s], or of latencies [ns] */
    size_t rank, of;           /* from 1, the best; of the published ones and this one */
    const rb_reference_drive_t *ahead, *behind; /* the next better and worse; NULL: none */
    double ahead_value, behind_value;
} rb_rank_row_t;

typedef struct {
    const rb_reference_spec_t *spec;
    const char *test;
    bool is_latency; /* spec in us, at iodepth 1 and numjobs 1; else a rate whose point is
                        not published */
    bool in_grid;    /* the rated point, or of a rate the test, was measured */
    uint64_t bs_bytes;
    uint32_t iodepth, numjobs; /* of the best that was measured */
    bool at_edge;              /* no more outstanding I/O was measured: there may be more */
    double value, rated;       /* [bytes/s] or [ns] */
} rb_rating_t;

typedef struct {
    const char *host, *drive, *model;
    const rb_reference_drive_t *known; /* NULL: it is not in the tables */
    size_t nrows, nratings, nreasons;
    rb_rank_row_t *rows;
    rb_rating_t *ratings;
    char **reasons; /* [nreasons] owned: what was measured and cannot be compared, and why */
} rb_ranked_t;

typedef struct {
    size_t ndrives;
    rb_ranked_t *drives;
} rb_ranking_t;

/* Borrows from both. */
rb_ranking_t *rb_ranking_new(const rb_result_t *result, const rb_reference_t *reference);
void rb_ranking_destroy(rb_ranking_t **ranking);

/* Why the figures of a drive in a phase cannot be held against the reviews': words, owned by the
 * caller; "" where they can. */
char *rb_rank_reasons(const rb_result_t *result, const rb_result_phase_t *phase,
                      const rb_result_host_t *host, const char *path);
/* "rand_read_4K" into buf [RB_FMT_SIZE]; NULL: the reviews have no such kind of job. */
const char *rb_rank_test(char *buf, const Rackbench__Job *job);
