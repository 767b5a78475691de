#include "common/llm/kv_plan.h"
#include "common/llm/kv_words.h"

int rb_kv_policy_parse(const char *word, rb_kv_policy_t *ret, rb_err_t *err)
{
    static const char *const words[] = {
        [RB_KV_POLICY_LRU] = "lru", [RB_KV_POLICY_FIFO] = "fifo", [RB_KV_POLICY_NONE] = "none"};
    return RB_KV_WORD(words, "policy", word, ret, err);
}

int rb_kv_admission_parse(const char *word, rb_kv_admission_t *ret, rb_err_t *err)
{
    static const char *const words[] = {[RB_KV_ADMIT_PROMPT_ONLY] = "prompt_only",
                                        [RB_KV_ADMIT_ALL] = "write_through",
                                        [RB_KV_ADMIT_SECOND_TOUCH] = "second_touch"};
    return RB_KV_WORD(words, "admission", word, ret, err);
}

int rb_kv_router_parse(const char *word, rb_kv_router_t *ret, rb_err_t *err)
{
    static const char *const words[] = {[RB_KV_ROUTE_ROUND_ROBIN] = "round_robin",
                                        [RB_KV_ROUTE_LEAST_LOADED] = "least_loaded",
                                        [RB_KV_ROUTE_SESSION] = "session",
                                        [RB_KV_ROUTE_PREFIX_AFFINITY] = "prefix_affinity"};
    return RB_KV_WORD(words, "router", word, ret, err);
}

int rb_kv_read_parse(const char *word, rb_kv_read_t *ret, rb_err_t *err)
{
    static const char *const words[] = {
        [RB_KV_READ_HASH] = "hash", [RB_KV_READ_LEAST_LOADED] = "least_loaded"};
    return RB_KV_WORD(words, "choice of copies", word, ret, err);
}
