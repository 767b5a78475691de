#include "common/cpu_list.h"

static int parse_cpu(const char *text, uint32_t *ret, rb_err_t *err)
{
    size_t length = strlen(text);
    if (length == 0 || strspn(text, "0123456789") != length)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" is not the number of a CPU: write them as in 0-3,8", text);
    *ret = length <= 4 ? (uint32_t)strtoul(text, NULL, 10) : RB_MAX_CPUS;
    if (*ret >= RB_MAX_CPUS)
        return rb_err_set(err, RB_ERR_INPUT, "CPU %.60s is out of range; 0 to %d is right", text,
                          RB_MAX_CPUS - 1);
    return 0;
}

/* A or A-B. */
static int parse_range(char *last, bool *set, rb_err_t *err)
{
    const char *first = strsep(&last, "-");
    uint32_t from, to;
    if (parse_cpu(first, &from, err) < 0 || parse_cpu(last ? last : first, &to, err) < 0)
        return -1;
    if (from > to)
        return rb_err_set(err, RB_ERR_INPUT, "%u-%u runs backwards: write %u-%u", from, to, to,
                          from);
    for (uint32_t i = from; i <= to; i++)
        set[i] = true;
    return 0;
}

int rb_cpu_list_parse(const char *text, rb_cpu_list_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    bool set[RB_MAX_CPUS] = {false};
    char *rest = copy;
    while (rest)
        if (parse_range(strsep(&rest, ","), set, err) < 0)
            return -1;
    ret->n = 0;
    for (uint32_t i = 0; i < RB_MAX_CPUS; i++)
        if (set[i])
            ret->cpu[ret->n++] = (uint16_t)i;
    return 0;
}
