/* units.h - text to number and back: sizes, counts, durations, fractions, rates.
 *
 * Any thread; no state; not for hot paths.
 *
 * Parsers: 0, or -1 with RB_ERR_INPUT and *ret untouched. The message says what is wrong and what
 * would be right; the place (file, line, key) is the caller's to put before it with rb_err_wrap.
 * A number may have a fraction (1.5GiB) if the result is whole, and blanks before its unit. Signs
 * and exponents are refused, and so is what does not fit in 64 bits.
 */
#pragma once

#include "common/err.h"

/* Size [bytes]: k, K, KiB = 1024; kB, KB = 1000; M m, G g, T t, P p likewise; B or no unit = bytes.
 */
int rb_parse_bytes(const char *text, uint64_t *ret_bytes, rb_err_t *err);
/* Count: k or K = 1000, M, G, T, P likewise. */
int rb_parse_count(const char *text, uint64_t *ret_count, rb_err_t *err);
/* Duration [ns]: ns us ms s m h d, each number with its unit; sums in falling order: 1m30s. Only 0
 * needs no unit. */
int rb_parse_duration(const char *text, uint64_t *ret_ns, rb_err_t *err);
/* Fraction [ppm], at most 1000000: 20000, 20000ppm or 2%. */
int rb_parse_ppm(const char *text, uint64_t *ret_ppm, rb_err_t *err);

/* Formatters write into buf [size] and return it, so that a call can stand in a printf's arguments.
 * RB_FMT_SIZE is room enough for each. Those for people round to 3 or 4 digits and blank off the
 * unit; the exact ones are read back by the parser to the same number. */
enum { RB_FMT_SIZE = 48 };

typedef enum {
    RB_UNITS_BINARY, /* KiB, MiB, ... */
    RB_UNITS_DECIMAL /* kB, MB, ... */
} rb_units_t;

/* The unit of a rate that is shown as a plain number: bytes of one, and "MiB/s" or "MB/s". */
double rb_units_mega_bytes(rb_units_t units);
const char *rb_units_mega_per_s(rb_units_t units);

/* "4 KiB", "1536 MiB" where a whole number below 10000 of a unit is exact; else "1.42 GiB". */
const char *rb_fmt_bytes(char *buf, size_t size, uint64_t bytes);
/* "4KiB", "1537B": exact. */
const char *rb_fmt_bytes_exact(char *buf, size_t size, uint64_t bytes);
/* "950", "123.4k", "1.20M". */
const char *rb_fmt_count(char *buf, size_t size, uint64_t count);
/* Of a count per second, whose part below one matters while it is small: "0.33", "41.7", "123.4k".
 */
const char *rb_fmt_rate_count(char *buf, size_t size, double per_s);
/* A latency: "950 ns", "86.2 us", "1.24 ms", "12.5 s"; seconds are the largest unit. */
const char *rb_fmt_ns(char *buf, size_t size, uint64_t ns);
/* An instant and how long ago that is: "2026-11-30 12:03:11 UTC (4m)", to the second in the first
 * minute. Both since 1970 [ns]. */
const char *rb_fmt_since(char *buf, size_t size, uint64_t then_wall_ns, uint64_t now_wall_ns);
/* A length of time: "1m30s", "2h", "2.5s", "0s": exact. */
const char *rb_fmt_duration(char *buf, size_t size, uint64_t ns);
