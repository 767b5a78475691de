/* distribution.h - which blocks a random job prefers: fio's random_distribution, parsed.
 *
 *   random                       every block alike
 *   zipf:THETA[:CENTER]          rank r is drawn with probability ~ 1 / r^THETA; 0 < THETA < 100,
 *                                not 1 (as in fio)
 *   pareto:H[:CENTER]            the first H of the blocks get 1 - H of the accesses; 0 < H < 1
 *   normal:DEVIATION[:CENTER]    DEVIATION in percent of the space, above 0 and below 100
 *   zoned:ACCESS/RANGE:...       ACCESS percent of the accesses go to the next RANGE percent of the
 *                                space, evenly. Accesses make 100; ranges make 100 or less (the end
 *                                of the space is then left alone); a blank range is the rest
 *   zoned_abs:ACCESS/SIZE:...    the same with sizes (20G)
 *
 * CENTER is 0 to 1 of the space; `/` may stand before it instead of fio's `:`. What it does, and
 * what is done without it, is said in agent/workload/pattern.h. Unlike fio, zipf and pareto have no
 * default value, and normal:0 is refused (there it means a deviation of 8.3 %).
 *
 * Pure: the coordinator checks a plan by it, the agent draws by it. Any thread.
 * Source: fio 3.33 HOWTO, random_distribution, and options.c for the bounds.
 */
#pragma once

#include "common/share.h"

enum { RB_MAX_ZONES = 256 };

typedef enum {
    RB_DISTRIBUTION_RANDOM,
    RB_DISTRIBUTION_ZIPF,
    RB_DISTRIBUTION_PARETO,
    RB_DISTRIBUTION_NORMAL,
    RB_DISTRIBUTION_ZONED,
    RB_DISTRIBUTION_ZONED_ABS
} rb_distribution_kind_t;

typedef struct {
    rb_distribution_kind_t kind;
    double value;                       /* theta, h, or deviation [% of the space] */
    bool centered;                      /* a center was given */
    double center;                      /* [0, 1] */
    uint32_t nzones;                    /* zoned and zoned_abs: 1 to RB_MAX_ZONES */
    uint32_t access_ppm[RB_MAX_ZONES];  /* [nzones], sum RB_SHARE_WHOLE_PPM */
    uint32_t range_ppm[RB_MAX_ZONES];   /* [nzones], zoned */
    uint64_t range_bytes[RB_MAX_ZONES]; /* [nzones], zoned_abs */
} rb_distribution_t;

/* RB_ERR_INPUT, *ret untouched; the place is the caller's to put before the message. */
int rb_distribution_parse(const char *text, rb_distribution_t *ret, rb_err_t *err);
