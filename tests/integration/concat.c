/* concat.c - the percentiles of all samples of a phase, counted one by one: `concat JOURNAL PHASE`
 * prints "OP WHICH NAME NS" for service and response over all hosts, and how many samples there
 * were.
 *
 * For tests, and without the fold, the merge or the quantiles of the program under test: each
 * sample is its bucket's highest value, they are sorted together, and the nearest rank is picked.
 */
#include "coordinator/journal.h"
#include "proto/sample.h"

#include <math.h>

typedef struct {
    uint64_t value_ns, count;
} sample_t;

typedef struct {
    size_t n;
    sample_t *samples;
    uint64_t count, max_ns;
} samples_t;

typedef struct {
    uint32_t phase;
    samples_t service[RB_OP_COUNT], response[RB_OP_COUNT];
} concat_t;

static void add(samples_t *s, const rb_hist_sparse_t *hist)
{
    for (size_t i = 0; i < hist->npairs; i++) {
        *RB_PUSH(s->samples, s->n) =
            (sample_t){rb_hist_highest(hist->pairs[i].index), hist->pairs[i].count};
        s->count += hist->pairs[i].count;
    }
    if (hist->count > 0)
        s->max_ns = RB_MAX(s->max_ns, hist->max);
}

static int record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    concat_t *c = ctx;
    rb_row_t row;
    (void)host;
    if (rb_row_unpack(data, size, &row, err) != 0)
        return -1;
    bool counts = row.kind == RB_ROW_WINDOW && row.window.phase == c->phase &&
                  row.window.part == RB_PART_MAIN;
    for (size_t i = 0; counts && i < row.window.ncells; i++) {
        add(&c->service[row.window.cells[i].op], &row.window.cells[i].service);
        add(&c->response[row.window.cells[i].op], &row.window.cells[i].response);
    }
    rb_row_clear(&row);
    return 0;
}

static int by_value(const void *a, const void *b)
{
    const sample_t *x = a, *y = b;
    return (x->value_ns > y->value_ns) - (x->value_ns < y->value_ns);
}

static void print(samples_t *s, const char *op, const char *which)
{
    static const struct {
        const char *name; /* in result.json */
        double q;
    } quantiles[] = {{"p50", 0.5},  {"p90", 0.9},     {"p95", 0.95},
                     {"p99", 0.99}, {"p99_9", 0.999}, {"p99_99", 0.9999}};
    if (s->n == 0)
        return;
    qsort(s->samples, s->n, sizeof(sample_t), by_value);
    printf("%s %s count %llu\n", op, which, (unsigned long long)s->count);
    for (size_t q = 0; q < RB_LEN(quantiles); q++) {
        uint64_t rank = (uint64_t)ceil(quantiles[q].q * (double)s->count), seen = 0;
        size_t i = 0;
        while ((seen += s->samples[i].count) < rank)
            i++;
        printf("%s %s %s %llu\n", op, which, quantiles[q].name,
               (unsigned long long)RB_MIN(s->samples[i].value_ns, s->max_ns));
    }
    free(s->samples);
}

int main(int argc, char **argv)
{
    concat_t c = {0};
    rb_journal_info_t info;
    rb_err_t err = {0};
    if (argc != 3)
        return RB_ERR_INPUT;
    c.phase = (uint32_t)strtoul(argv[2], NULL, 10);
    if (rb_journal_read(argv[1], record, &c, &info, &err) != 0) {
        fprintf(stderr, "concat: %s\n", err.text);
        return (int)err.code;
    }
    for (int op = 0; op < RB_OP_COUNT; op++) {
        print(&c.service[op], rb_op_names[op], "service");
        print(&c.response[op], rb_op_names[op], "response");
    }
    return 0;
}
