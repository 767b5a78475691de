#include "common/share.h"

bool rb_parse_decimal(const char *text, double *ret)
{
    if (text[strspn(text, "0123456789.")] != '\0')
        return false;
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0')
        return false;
    *ret = value;
    return true;
}

int rb_share_parse(const char *text, uint32_t *ret_ppm, rb_err_t *err)
{
    double percent;
    if (*text == '\0') {
        *ret_ppm = RB_SHARE_REST;
        return 0;
    }
    if (!rb_parse_decimal(text, &percent) || percent > 100)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is not a percentage: write 0 to 100, such as 12.5", text);
    *ret_ppm = (uint32_t)(percent * 1e4 + 0.5);
    return 0;
}

static int check_sum(uint64_t given_ppm, bool blanks, rb_share_sum_t sum, rb_err_t *err)
{
    double percent = (double)given_ppm / 1e4;
    if (given_ppm > RB_SHARE_WHOLE_PPM)
        return rb_err_set(err, RB_ERR_INPUT, "the percentages add up to %g: lower them to 100",
                          percent);
    if (sum == RB_SHARE_EXACT && !blanks && given_ppm < RB_SHARE_WHOLE_PPM)
        return rb_err_set(err, RB_ERR_INPUT, "the percentages add up to %g: they must make 100",
                          percent);
    return 0;
}

int rb_share_fill(uint32_t *share_ppm, uint32_t n, rb_share_sum_t sum, rb_err_t *err)
{
    uint64_t given_ppm = 0;
    uint32_t blanks = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (share_ppm[i] == RB_SHARE_REST)
            blanks++;
        else
            given_ppm += share_ppm[i];
    }
    if (check_sum(given_ppm, blanks > 0, sum, err) < 0)
        return -1;
    uint32_t left_ppm = RB_SHARE_WHOLE_PPM - (uint32_t)given_ppm;
    for (uint32_t i = 0; i < n; i++) {
        if (share_ppm[i] != RB_SHARE_REST)
            continue;
        share_ppm[i] = left_ppm / blanks--;
        left_ppm -= share_ppm[i];
    }
    return 0;
}

void rb_share_table_init(rb_share_table_t *t, const uint32_t *share_ppm, uint32_t n)
{
    uint64_t left[RB_MAX_SHARES], sum_ppm = 0; /* what a slot of size WHOLE still has to give */
    uint32_t small[RB_MAX_SHARES], large[RB_MAX_SHARES], nsmall = 0, nlarge = 0;
    RB_ASSERT(n > 0 && n <= RB_MAX_SHARES);
    *t = (rb_share_table_t){.n = n};
    for (uint32_t i = 0; i < n; i++) {
        sum_ppm += share_ppm[i];
        left[i] = (uint64_t)share_ppm[i] * n;
        t->other[i] = i;
        if (left[i] < RB_SHARE_WHOLE_PPM)
            small[nsmall++] = i;
        else
            large[nlarge++] = i;
    }
    RB_ASSERT(sum_ppm == RB_SHARE_WHOLE_PPM);
    /* A small slot is filled up by a large one. What is left over at the end is whole. */
    while (nsmall > 0 && nlarge > 0) {
        uint32_t s = small[--nsmall], l = large[nlarge - 1];
        t->keep[s] = (uint64_t)(((unsigned __int128)left[s] << 64) / RB_SHARE_WHOLE_PPM);
        t->other[s] = l;
        left[l] -= RB_SHARE_WHOLE_PPM - left[s];
        if (left[l] < RB_SHARE_WHOLE_PPM) {
            nlarge--;
            small[nsmall++] = l;
        }
    }
}
