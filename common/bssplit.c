#include "common/bssplit.h"

#include "common/units.h"

static const char *const direction_names[RB_BSSPLIT_COUNT] = {"read", "write"};

/* A size that is not 0. */
static int parse_size(const char *text, uint64_t *ret_bytes, rb_err_t *err)
{
    uint64_t bytes;
    if (rb_parse_bytes(text, &bytes, err) < 0)
        return -1;
    if (bytes == 0)
        return rb_err_set(err, RB_ERR_INPUT, "a size of 0 moves nothing: write 1 byte or more");
    *ret_bytes = bytes;
    return 0;
}

static int parse_item(rb_bssplit_side_t *s, char *share, rb_err_t *err)
{
    const char *size = strsep(&share, "/");
    if (s->nsizes == RB_MAX_BSSPLIT)
        return rb_err_set(err, RB_ERR_INPUT, "it is one too many: at most %d sizes",
                          RB_MAX_BSSPLIT);
    if (parse_size(size, &s->size_bytes[s->nsizes], err) < 0)
        return -1;
    return rb_share_parse(share ? share : "", &s->share_ppm[s->nsizes], err);
}

static int parse_side(char *list, rb_bssplit_side_t *s, rb_err_t *err)
{
    *s = (rb_bssplit_side_t){.min_bytes = UINT64_MAX};
    while (list) {
        if (parse_item(s, strsep(&list, ":"), err) < 0)
            return rb_err_wrap(err, "size %u", s->nsizes + 1);
        s->min_bytes = RB_MIN(s->min_bytes, s->size_bytes[s->nsizes]);
        s->max_bytes = RB_MAX(s->max_bytes, s->size_bytes[s->nsizes]);
        s->nsizes++;
    }
    if (rb_share_fill(s->share_ppm, s->nsizes, RB_SHARE_EXACT, err) < 0)
        return -1;
    s->align_bytes = s->min_bytes;
    rb_share_table_init(&s->table, s->share_ppm, s->nsizes);
    return 0;
}

/* `both` or `read,write`: the two texts, in one place each. */
static int split_directions(char *text, char *ret[RB_BSSPLIT_COUNT], rb_err_t *err)
{
    ret[RB_BSSPLIT_READ] = strsep(&text, ",");
    ret[RB_BSSPLIT_WRITE] = text;
    if (text && strchr(text, ','))
        return rb_err_set(err, RB_ERR_INPUT,
                          "a second comma: write one list for both, or "
                          "read,write");
    return 0;
}

int rb_bssplit_parse(const char *text, rb_bssplit_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *lists[RB_BSSPLIT_COUNT];
    rb_bssplit_t b;
    if (split_directions(copy, lists, err) < 0)
        return -1;
    for (int i = 0; i < RB_BSSPLIT_COUNT; i++) {
        if (!lists[i])
            b.side[i] = b.side[0];
        else if (parse_side(lists[i], &b.side[i], err) < 0)
            return lists[RB_BSSPLIT_WRITE] ? rb_err_wrap(err, "%s sizes", direction_names[i]) : -1;
    }
    *ret = b;
    return 0;
}

void rb_bssplit_one(rb_bssplit_t *b, uint64_t bytes)
{
    uint32_t whole_ppm = RB_SHARE_WHOLE_PPM;
    rb_bssplit_side_t side = {.nsizes = 1,
                              .size_bytes = {bytes},
                              .share_ppm = {whole_ppm},
                              .min_bytes = bytes,
                              .max_bytes = bytes,
                              .align_bytes = bytes};
    rb_share_table_init(&side.table, &whole_ppm, 1);
    for (int i = 0; i < RB_BSSPLIT_COUNT; i++)
        b->side[i] = side;
}

void rb_bssplit_align(rb_bssplit_t *b, uint64_t bytes)
{
    for (int i = 0; i < RB_BSSPLIT_COUNT; i++)
        b->side[i].align_bytes = bytes;
}

uint64_t rb_bssplit_starts(const rb_bssplit_side_t *side, uint64_t region_bytes)
{
    if (region_bytes < side->max_bytes)
        return 0;
    return (region_bytes - side->max_bytes) / side->align_bytes + 1;
}
