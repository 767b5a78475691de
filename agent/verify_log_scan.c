#include "agent/verify_log_scan.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define BATCH_MAGIC 0x424c4252u /* "RBLB" */

typedef struct {
    uint32_t magic, count;
    uint64_t hash;
} batch_t;
_Static_assert(sizeof(batch_t) == RB_LOG_BATCH_HEAD, "nor has a batch's");

typedef struct {
    uint64_t offset_bytes, sequence;
    uint32_t drive, zero;
} record_t;
_Static_assert(sizeof(record_t) == RB_LOG_RECORD, "nor has a record");

/* ---- pack ---- */

static uint64_t batch_hash(const void *records, uint32_t n, uint64_t run, uint64_t at_bytes)
{
    return XXH3_64bits_withSeed(records, n * sizeof(record_t), run + at_bytes);
}

size_t rb_log_batch_pack(const rb_log_record_t *records, uint32_t n, uint64_t run,
                         uint64_t at_bytes, uint8_t *buf)
{
    batch_t batch = {BATCH_MAGIC, n, 0};
    RB_ASSERT(n > 0 && n <= RB_LOG_BATCH);
    for (uint32_t i = 0; i < n; i++) {
        record_t r = {records[i].write.offset_bytes, records[i].write.sequence, records[i].drive,
                      0};
        memcpy(buf + sizeof(batch) + i * sizeof(r), &r, sizeof(r));
    }
    batch.hash = batch_hash(buf + sizeof(batch), n, run, at_bytes);
    memcpy(buf, &batch, sizeof(batch));
    return sizeof(batch) + n * sizeof(record_t);
}

/* ---- read ---- */

enum { LOOK_BYTES = 1 << 16 };

/* After bytes that came or went a batch stands elsewhere than where it was written to: its hash is
 * of that place. */
struct rb_log_scan {
    FILE *file;
    rb_log_scan_opts_t o;
    uint64_t at_bytes, written_bytes; /* of the next batch: in the file; as it was written */
    rb_log_rest_t rest;
    record_t records[RB_LOG_BATCH];
    uint8_t look[LOOK_BYTES];
};

static bool is_sane(const rb_log_scan_opts_t *o, const record_t *records, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (records[i].drive >= o->ndrives || records[i].zero != 0 ||
            records[i].offset_bytes > INT64_MAX - o->bs_bytes)
            return false;
    return true;
}

static bool is_written_to(const rb_log_scan_t *r, const batch_t *batch, uint64_t written_bytes)
{
    return batch_hash(r->records, batch->count, r->o.run, written_bytes) == batch->hash;
}

/* A batch of [1, RB_LOG_BATCH] sane records; its hash is not looked at. */
static bool fetch(rb_log_scan_t *r, batch_t *ret_batch)
{
    batch_t batch;
    if (fread(&batch, sizeof(batch), 1, r->file) != 1 || batch.magic != BATCH_MAGIC ||
        batch.count == 0 || batch.count > RB_LOG_BATCH ||
        fread(r->records, sizeof(*r->records), batch.count, r->file) != batch.count)
        return false;
    *ret_batch = batch;
    return is_sane(&r->o, r->records, batch.count);
}

/* Of the whole batch here its writes, which are read; 0: the end, or none. */
static uint32_t read_batch(rb_log_scan_t *r)
{
    batch_t batch;
    if (!fetch(r, &batch) || !is_written_to(r, &batch, r->written_bytes))
        return 0;
    r->at_bytes += sizeof(batch) + batch.count * sizeof(record_t);
    r->written_bytes += sizeof(batch) + batch.count * sizeof(record_t);
    return batch.count;
}

/* ---- behind damage ---- */

/* Where the batch behind the bad one was written to: right behind it if its head is whole, in its
 * place if something stands before it that nobody wrote. */
static uint64_t place_behind(rb_log_scan_t *r)
{
    batch_t bad;
    if (fseeko(r->file, (off_t)r->at_bytes, SEEK_SET) != 0 ||
        fread(&bad, sizeof(bad), 1, r->file) != 1 || bad.magic != BATCH_MAGIC || bad.count == 0 ||
        bad.count > RB_LOG_BATCH)
        return r->written_bytes;
    return r->written_bytes + sizeof(bad) + bad.count * sizeof(record_t);
}

enum { MAX_SHIFT = 128 }; /* [bytes] that came or went and took a head with them */

/* The place that the batch at at_bytes of the file was written to. */
static bool find_place(const rb_log_scan_t *r, const batch_t *batch, uint64_t at_bytes,
                       uint64_t behind_bytes, uint64_t *ret_bytes)
{
    const uint64_t moved = at_bytes - r->at_bytes + r->written_bytes;
    const uint64_t places[] = {moved, r->written_bytes, behind_bytes};
    for (size_t i = 0; i < RB_LEN(places) + 2 * MAX_SHIFT; i++) {
        *ret_bytes = i < RB_LEN(places) ? places[i] : moved + i - RB_LEN(places) - MAX_SHIFT;
        if (is_written_to(r, batch, *ret_bytes))
            return true;
    }
    return false;
}

/* A whole batch at that place of the file: moves there. */
static bool resume_at(rb_log_scan_t *r, uint64_t at_bytes, uint64_t behind_bytes)
{
    batch_t batch;
    uint64_t written_bytes;
    if (fseeko(r->file, (off_t)at_bytes, SEEK_SET) != 0 || !fetch(r, &batch) ||
        !find_place(r, &batch, at_bytes, behind_bytes, &written_bytes))
        return false;
    r->at_bytes = at_bytes;
    r->written_bytes = written_bytes;
    return fseeko(r->file, (off_t)at_bytes, SEEK_SET) == 0;
}

/* The next whole batch behind a bad one, at whatever byte; false: there is none, the end is torn.
 */
static bool resume(rb_log_scan_t *r)
{
    static const uint32_t magic = BATCH_MAGIC;
    uint64_t behind = place_behind(r), at = r->at_bytes + 1;
    size_t n;
    while (fseeko(r->file, (off_t)at, SEEK_SET) == 0 &&
           (n = fread(r->look, 1, sizeof(r->look), r->file)) > sizeof(batch_t)) {
        const uint8_t *found = r->look;
        while ((found = memmem(found, n - (size_t)(found - r->look), &magic, sizeof(magic))) !=
               NULL) {
            if (resume_at(r, at + (uint64_t)(found - r->look), behind))
                return true;
            found++;
        }
        at += n - (sizeof(magic) - 1); /* one may lie across the end */
    }
    return false;
}

/* ---- the scan ---- */

rb_log_scan_t *rb_log_scan_new(FILE *file, const rb_log_scan_opts_t *opts)
{
    rb_log_scan_t *r = rb_calloc(1, sizeof(*r));
    r->file = file;
    r->o = *opts;
    r->at_bytes = r->written_bytes = (uint64_t)ftello(file);
    return r;
}

void rb_log_scan_destroy(rb_log_scan_t **scan)
{
    free(*scan);
    *scan = NULL;
}

uint32_t rb_log_scan_next(rb_log_scan_t *r)
{
    uint64_t bad = r->at_bytes;
    uint32_t n = read_batch(r);
    if (n > 0 || bad >= r->o.size_bytes || !resume(r))
        return n;
    if (r->rest.lost_bytes == 0)
        r->rest.lost_at_bytes = bad;
    r->rest.lost_bytes += r->at_bytes - bad;
    return read_batch(r);
}

rb_log_record_t rb_log_scan_record(const rb_log_scan_t *r, uint32_t i)
{
    const record_t *record = &r->records[i];
    return (rb_log_record_t){record->drive, {record->offset_bytes, record->sequence}};
}

rb_log_rest_t rb_log_scan_rest(const rb_log_scan_t *r)
{
    rb_log_rest_t rest = r->rest;
    rest.torn_bytes = r->o.size_bytes > r->at_bytes ? r->o.size_bytes - r->at_bytes : 0;
    return rest;
}
