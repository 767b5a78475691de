#include "agent/verify.h"

/* gcc's -O2 does not unroll XXH3's loop: 4 KiB then take 4 times as long. */
#if !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <xxhash.h>

#include "common/units.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "blocks are little endian");

#define MAGIC         0x42564252u /* "RBVB" */
#define SEQUENCE_MASK ((1ull << 40) - 1)

typedef struct {
    uint64_t hash;
    uint32_t magic, version;
    uint64_t run, offset_bytes, sequence, length_bytes;
} header_t;
_Static_assert(sizeof(header_t) == RB_VERIFY_HEADER, "the header has no padding");

/* As far as the verdict goes, this is data. */
typedef struct {
    uint32_t phase, job, worker, order;
    uint64_t period, seed;
} writer_t;
_Static_assert(sizeof(writer_t) == RB_VERIFY_WRITER, "nor has this");

const char *const rb_verdict_names[RB_VERIFY_VERDICTS] = {
    [RB_VERIFY_OK] = "ok",
    [RB_VERIFY_CORRUPT] = "corrupt",
    [RB_VERIFY_TORN] = "torn",
    [RB_VERIFY_MISPLACED] = "misplaced",
    [RB_VERIFY_FOREIGN] = "foreign",
    [RB_VERIFY_STALE] = "stale",
    [RB_VERIFY_UNWRITTEN] = "unwritten",
};

uint64_t rb_verify_run(const char *run_id)
{
    uint64_t run = XXH3_64bits(run_id, strlen(run_id));
    return run != 0 ? run : 1;
}

/* ---- tags ---- */

static uint64_t tag_of(uint64_t low_bits, uint64_t sector)
{
    uint64_t words[2] = {low_bits, sector};
    return low_bits | (XXH3_64bits(words, sizeof(words)) & 0xffff) << 48;
}

static uint64_t tag_bits(uint64_t run, uint64_t sequence)
{
    return (sequence & SEQUENCE_MASK) | (run & 0xff) << 40;
}

static uint64_t tag_at(const uint8_t *block, size_t sector)
{
    uint64_t tag;
    memcpy(&tag, block + sector * RB_VERIFY_SECTOR, sizeof(tag));
    return tag;
}

/* Was the sector written to this place by a write of any run? */
static bool is_tag(uint64_t tag, uint64_t sector)
{
    return tag == tag_of(tag & ((1ull << 48) - 1), sector);
}

static bool is_zero(const uint8_t *sector)
{
    return sector[0] == 0 && memcmp(sector, sector + 1, RB_VERIFY_SECTOR - 1) == 0;
}

/* ---- stamp ---- */

static void stamp(uint8_t *block, const header_t *header)
{
    uint64_t bits = tag_bits(header->run, header->sequence);
    uint64_t sector = header->offset_bytes / RB_VERIFY_SECTOR;
    for (size_t at = RB_VERIFY_SECTOR; at < header->length_bytes; at += RB_VERIFY_SECTOR) {
        uint64_t tag = tag_of(bits, ++sector);
        memcpy(block + at, &tag, sizeof(tag));
    }
    memcpy(block, header, sizeof(*header));
    uint64_t hash = XXH3_64bits(block + sizeof(hash), header->length_bytes - sizeof(hash));
    memcpy(block, &hash, sizeof(hash));
}

static void check_sizes(const rb_verify_t *v, size_t size_bytes)
{
    RB_ASSERT(v->interval_bytes > 0 && v->interval_bytes % RB_VERIFY_SECTOR == 0);
    RB_ASSERT(size_bytes % v->interval_bytes == 0);
}

void rb_verify_stamp(const rb_verify_t *v, void *buffer, size_t size_bytes,
                     const rb_verify_place_t *place)
{
    check_sizes(v, size_bytes);
    header_t header = {0, MAGIC, RB_VERIFY_VERSION, v->run, 0, place->sequence, v->interval_bytes};
    const rb_verify_writer_t *w = &v->writer;
    writer_t writer = {w->phase, w->job, w->worker, w->order.kind, w->order.period, w->order.seed};
    for (size_t at = 0; at < size_bytes; at += v->interval_bytes) {
        header.offset_bytes = place->offset_bytes + at;
        memcpy((uint8_t *)buffer + at + sizeof(header), &writer, sizeof(writer));
        stamp((uint8_t *)buffer + at, &header);
    }
}

/* ---- check ---- */

/* Does the block match its hash if its header were that of write `sequence` to this place? */
static bool whole_but_header(const uint8_t *block, const rb_verify_found_t *f, uint64_t run,
                             uint64_t sequence)
{
    header_t header = {0,        MAGIC,          RB_VERIFY_VERSION, run, f->expected.offset_bytes,
                       sequence, f->length_bytes};
    uint64_t hash;
    memcpy(&hash, block, sizeof(hash));
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    XXH3_64bits_update(&state, (uint8_t *)&header + sizeof(hash), sizeof(header) - sizeof(hash));
    XXH3_64bits_update(&state, block + sizeof(header), f->length_bytes - sizeof(header));
    return XXH3_64bits_digest(&state) == hash;
}

static bool header_damaged(const uint8_t *block, const rb_verify_found_t *f, uint64_t run)
{
    bool tagged = f->length_bytes > RB_VERIFY_SECTOR;
    return whole_but_header(block, f, run, tagged ? tag_at(block, 1) & SEQUENCE_MASK : f->sequence);
}

/* Takes the sectors that are not of the header's write; true: one of them is of another one, or of
 * none at all as it holds only zeros. */
static bool find_bad_sectors(const uint8_t *block, rb_verify_found_t *f)
{
    uint64_t bits = tag_bits(f->run, f->sequence);
    uint64_t first = f->expected.offset_bytes / RB_VERIFY_SECTOR;
    bool other = false;
    for (size_t i = 1; i < f->length_bytes / RB_VERIFY_SECTOR; i++) {
        uint64_t tag = tag_at(block, i);
        if (tag == tag_of(bits, first + i))
            continue;
        bool tagged = is_tag(tag, first + i);
        other = other || tagged || is_zero(block + i * RB_VERIFY_SECTOR);
        if (f->bad_sectors++ == 0) {
            f->bad_sector = i;
            f->bad_sequence = tagged ? tag & SEQUENCE_MASK : UINT64_MAX;
        }
    }
    return other;
}

static bool is_of_run(uint64_t tag, uint64_t run)
{
    return run == RB_VERIFY_ANY_RUN || (tag >> 40 & 0xff) == (run & 0xff);
}

/* The run that a whole header should name. */
static uint64_t run_of(const rb_verify_found_t *f, uint64_t run)
{
    return run == RB_VERIFY_ANY_RUN ? f->run : run;
}

/* The header is not one of ours: has any other sector the tag of a write of this run? */
static rb_verdict_t judge_headless(const uint8_t *block, rb_verify_found_t *f, uint64_t run)
{
    f->header_damaged = header_damaged(block, f, run_of(f, run));
    if (f->header_damaged)
        return RB_VERIFY_CORRUPT;
    uint64_t first = f->expected.offset_bytes / RB_VERIFY_SECTOR;
    f->run = f->offset_bytes = f->sequence = f->header_length_bytes = 0;
    for (size_t i = 1; i < f->length_bytes / RB_VERIFY_SECTOR; i++) {
        uint64_t tag = tag_at(block, i);
        if (!is_tag(tag, first + i) || !is_of_run(tag, run))
            continue;
        f->sequence = tag & SEQUENCE_MASK;
        f->bad_sectors = 1;
        f->bad_sequence = UINT64_MAX;
        return RB_VERIFY_TORN;
    }
    return RB_VERIFY_UNWRITTEN;
}

static rb_verdict_t judge_damaged(const uint8_t *block, rb_verify_found_t *f, uint64_t run)
{
    f->header_damaged = header_damaged(block, f, run);
    if (f->header_damaged)
        return RB_VERIFY_CORRUPT;
    return find_bad_sectors(block, f) ? RB_VERIFY_TORN : RB_VERIFY_CORRUPT;
}

static rb_verify_writer_t writer_of(const uint8_t *block)
{
    writer_t w;
    memcpy(&w, block + sizeof(header_t), sizeof(w));
    return (rb_verify_writer_t){w.phase, w.job, w.worker, {w.order, w.period, w.seed}};
}

/* Of a block that matches its hash; if it is of another length nobody can tell, and the header is
 * taken by its word. */
static rb_verdict_t judge_header(const rb_verify_found_t *f, uint64_t run)
{
    if (f->run != run)
        return RB_VERIFY_FOREIGN;
    if (f->offset_bytes != f->expected.offset_bytes)
        return RB_VERIFY_MISPLACED;
    if (f->writer.phase < f->expected.phase ||
        (f->writer.phase == f->expected.phase && f->sequence < f->expected.sequence))
        return RB_VERIFY_STALE;
    return f->header_length_bytes == f->length_bytes ? RB_VERIFY_OK : RB_VERIFY_CORRUPT;
}

static rb_verdict_t judge(const uint8_t *block, rb_verify_found_t *f, uint64_t run)
{
    header_t header;
    memcpy(&header, block, sizeof(header));
    f->run = header.run;
    f->offset_bytes = header.offset_bytes;
    f->sequence = header.sequence;
    f->header_length_bytes = header.length_bytes;
    if (header.magic != MAGIC)
        return judge_headless(block, f, run);
    run = run_of(f, run);
    bool same_format =
        header.version == RB_VERIFY_VERSION && header.length_bytes == f->length_bytes;
    uint64_t hash = XXH3_64bits(block + sizeof(hash), f->length_bytes - sizeof(hash));
    if (same_format && hash != header.hash)
        return judge_damaged(block, f, run);
    f->header_damaged = !same_format && header_damaged(block, f, run);
    if (f->header_damaged)
        return RB_VERIFY_CORRUPT;
    f->writer = writer_of(block);
    return header.version == RB_VERIFY_VERSION ? judge_header(f, run) : RB_VERIFY_FOREIGN;
}

rb_verdict_t rb_verify_check(const rb_verify_t *v, const void *buffer, size_t size_bytes,
                             const rb_verify_place_t *expected, rb_verify_found_t *ret_found)
{
    check_sizes(v, size_bytes);
    rb_verify_found_t f = {.verdict = RB_VERIFY_OK};
    for (size_t at = 0; at < size_bytes && f.verdict == RB_VERIFY_OK; at += v->interval_bytes) {
        f = (rb_verify_found_t){.expected = *expected, .length_bytes = v->interval_bytes};
        f.expected.offset_bytes += at;
        f.verdict = judge((const uint8_t *)buffer + at, &f, v->run);
    }
    if (ret_found != NULL)
        *ret_found = f;
    return f.verdict;
}

/* ---- text ---- */

/* What a sector is of. */
static const char *write_text(uint64_t sequence, char *buf, size_t size)
{
    if (sequence == UINT64_MAX)
        snprintf(buf, size, "of no write");
    else
        snprintf(buf, size, "of a write with sequence %" PRIu64, sequence);
    return buf;
}

static void corrupt_text(const rb_verify_found_t *f, char *buf, size_t size)
{
    char length[RB_FMT_SIZE];
    if (f->header_damaged)
        snprintf(buf, size, "a block whose header is damaged and whose data are whole");
    else if (f->header_length_bytes != f->length_bytes)
        snprintf(buf, size, "a header with sequence %" PRIu64 " of a block of %s", f->sequence,
                 rb_fmt_bytes(length, sizeof(length), f->header_length_bytes));
    else if (f->bad_sectors == 0)
        snprintf(buf, size, "damaged data in a block with sequence %" PRIu64, f->sequence);
    else
        snprintf(
            buf, size,
            "a block with sequence %" PRIu64 " of which %" PRIu64
            " sectors of 512 bytes, the first %" PRIu64
            " bytes into the block, are of no write of this run: they are damaged, or still as "
            "they were before the run",
            f->sequence, f->bad_sectors, f->bad_sector * RB_VERIFY_SECTOR);
}

static void torn_text(const rb_verify_found_t *f, char *buf, size_t size)
{
    char first[64], other[64];
    snprintf(buf, size,
             "a torn block: sector +%" PRIu64 " (the first of %" PRIu64 " such) is %s, %s is %s",
             f->bad_sector, f->bad_sectors, write_text(f->bad_sequence, first, sizeof(first)),
             f->bad_sector == 0 ? "a later one" : "the one before",
             write_text(f->sequence, other, sizeof(other)));
}

static void found_text(const rb_verify_found_t *f, char *buf, size_t size)
{
    char offset[RB_FMT_SIZE];
    switch (f->verdict) {
    case RB_VERIFY_OK:
        snprintf(buf, size, "a whole block with sequence %" PRIu64, f->sequence);
        return;
    case RB_VERIFY_CORRUPT:
        corrupt_text(f, buf, size);
        return;
    case RB_VERIFY_TORN:
        torn_text(f, buf, size);
        return;
    case RB_VERIFY_MISPLACED:
        snprintf(buf, size,
                 "a block written for offset %s (sector %" PRIu64 ") with sequence %" PRIu64,
                 rb_fmt_bytes(offset, sizeof(offset), f->offset_bytes),
                 f->offset_bytes / RB_VERIFY_SECTOR, f->sequence);
        return;
    case RB_VERIFY_FOREIGN:
        snprintf(buf, size, "a block of another run (%016" PRIx64 ") with sequence %" PRIu64,
                 f->run, f->sequence);
        return;
    case RB_VERIFY_STALE:
        snprintf(buf, size, "a block %s sequence %" PRIu64,
                 f->writer.phase < f->expected.phase ? "of an earlier phase with"
                                                     : "with the older",
                 f->sequence);
        return;
    case RB_VERIFY_UNWRITTEN:
        snprintf(buf, size, "nothing that was written with verify");
        return;
    }
}

const char *rb_verify_text(const rb_verify_found_t *f, char *buf, size_t size)
{
    char offset[RB_FMT_SIZE], expected[48] = "", found[RB_VERIFY_TEXT];
    found_text(f, found, sizeof(found));
    if (f->expected.sequence > 0)
        snprintf(expected, sizeof(expected), "expected sequence %" PRIu64 ", ",
                 f->expected.sequence);
    snprintf(buf, size, "at %s (sector %" PRIu64 "): %sfound %s",
             rb_fmt_bytes(offset, sizeof(offset), f->expected.offset_bytes),
             f->expected.offset_bytes / RB_VERIFY_SECTOR, expected, found);
    return buf;
}
