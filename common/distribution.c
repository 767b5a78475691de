#include "common/distribution.h"

#include "common/units.h"

typedef struct {
    const char *word;
    rb_distribution_kind_t kind;
    const char *parameter;
    double below; /* the parameter is above 0 and below this */
    const char *right;
} word_t;

static const word_t words[] = {
    {"random", RB_DISTRIBUTION_RANDOM, NULL, 0, "random"},
    {"zipf", RB_DISTRIBUTION_ZIPF, "theta", 100, "above 0, below 100 and not 1, such as zipf:1.2"},
    {"pareto", RB_DISTRIBUTION_PARETO, "h", 1, "above 0 and below 1, such as pareto:0.2"},
    {"normal", RB_DISTRIBUTION_NORMAL, "deviation", 100,
     "above 0 and below 100 (% of the space), such as normal:10"},
    {"zoned", RB_DISTRIBUTION_ZONED, NULL, 0, "zoned:60/10:40/90"},
    {"zoned_abs", RB_DISTRIBUTION_ZONED_ABS, NULL, 0, "zoned_abs:60/20G:40/100G"},
};

static const word_t *find_word(const char *text)
{
    for (size_t i = 0; i < RB_LEN(words); i++)
        if (strcmp(words[i].word, text) == 0)
            return &words[i];
    return NULL;
}

/* THETA[:CENTER] and its like. */
static int parse_value(rb_distribution_t *d, const word_t *word, char *rest, rb_err_t *err)
{
    char *value = strsep(&rest, ":/");
    if (!rb_parse_decimal(value, &d->value) || d->value <= 0 || d->value >= word->below ||
        (d->kind == RB_DISTRIBUTION_ZIPF && d->value == 1))
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" is not a %s of %s: it must be %s", value,
                          word->parameter, word->word, word->right);
    if (!rest)
        return 0;
    d->centered = true;
    if (!rb_parse_decimal(rest, &d->center) || d->center > 1)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is not a center of %s: it must be 0 to 1 of the space", rest,
                          word->word);
    return 0;
}

/* ACCESS/RANGE, both in percent, or ACCESS/SIZE. */
static int parse_zone(rb_distribution_t *d, char *range, rb_err_t *err)
{
    uint32_t i = d->nzones;
    char *access = strsep(&range, "/");
    if (rb_share_parse(access, &d->access_ppm[i], err) < 0)
        return -1;
    if (d->access_ppm[i] == RB_SHARE_REST)
        return rb_err_set(err, RB_ERR_INPUT,
                          "its percentage of the accesses is missing: write it before the /");
    if (d->kind == RB_DISTRIBUTION_ZONED_ABS)
        return rb_parse_bytes(range ? range : "", &d->range_bytes[i], err);
    return rb_share_parse(range ? range : "", &d->range_ppm[i], err);
}

static int parse_zones(rb_distribution_t *d, const word_t *word, char *rest, rb_err_t *err)
{
    while (rest) {
        if (d->nzones == RB_MAX_ZONES)
            return rb_err_set(err, RB_ERR_INPUT, "%s has more than %d zones: join some", word->word,
                              RB_MAX_ZONES);
        if (parse_zone(d, strsep(&rest, ":"), err) < 0)
            return rb_err_wrap(err, "zone %u of %s", d->nzones + 1, word->word);
        d->nzones++;
    }
    if (rb_share_fill(d->access_ppm, d->nzones, RB_SHARE_EXACT, err) < 0)
        return rb_err_wrap(err, "accesses of %s", word->word);
    if (d->kind == RB_DISTRIBUTION_ZONED &&
        rb_share_fill(d->range_ppm, d->nzones, RB_SHARE_AT_MOST, err) < 0)
        return rb_err_wrap(err, "ranges of %s", word->word);
    return 0;
}

static int parse_rest(rb_distribution_t *d, const word_t *word, char *rest, rb_err_t *err)
{
    switch (d->kind) {
    case RB_DISTRIBUTION_RANDOM:
        if (rest)
            return rb_err_set(err, RB_ERR_INPUT, "random takes no value: write random");
        return 0;
    case RB_DISTRIBUTION_ZIPF:
    case RB_DISTRIBUTION_PARETO:
    case RB_DISTRIBUTION_NORMAL:
        if (!rest)
            return rb_err_set(err, RB_ERR_INPUT, "%s lacks its %s: it must be %s", word->word,
                              word->parameter, word->right);
        return parse_value(d, word, rest, err);
    case RB_DISTRIBUTION_ZONED:
    case RB_DISTRIBUTION_ZONED_ABS:
        if (!rest)
            return rb_err_set(err, RB_ERR_INPUT, "%s lacks its zones: write them as in %s",
                              word->word, word->right);
        return parse_zones(d, word, rest, err);
    }
    rb_assert_failed("kind is one of its values", __FILE__, __LINE__);
}

int rb_distribution_parse(const char *text, rb_distribution_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *rest = copy;
    const word_t *word = find_word(strsep(&rest, ":"));
    if (!word)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is not a distribution: write random, zipf:1.2, pareto:0.2, "
                          "normal:10, zoned:60/10:40/90 or zoned_abs:60/20G:40/100G",
                          text);
    rb_distribution_t d = {.kind = word->kind};
    if (parse_rest(&d, word, rest, err) < 0)
        return -1;
    *ret = d;
    return 0;
}
