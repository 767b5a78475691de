/* test_plan_schema.c - the promises that rackbench.proto must keep for plans to load by reflection.
 */
#include "tests/unit/plan_fixture.h"

#include "coordinator/plan/fio_words.h"
#include "coordinator/plan/nearest.h"
#include "coordinator/plan/schema.h"

enum { MAX_TYPES = 64 };

typedef struct {
    size_t n;
    const ProtobufCMessageDescriptor *types[MAX_TYPES];
} types_t;

/* Every message that a plan can hold. */
static void collect(const ProtobufCMessageDescriptor *type, types_t *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->types[i] == type)
            return;
    assert_true(all->n < MAX_TYPES);
    all->types[all->n++] = type;
    for (unsigned i = 0; i < type->n_fields; i++)
        if (type->fields[i].type == PROTOBUF_C_TYPE_MESSAGE)
            collect(type->fields[i].descriptor, all);
}

/* Could a key mean both fields? Both spellings of each are asked. */
static bool clash(const ProtobufCFieldDescriptor *a, const ProtobufCFieldDescriptor *b)
{
    rb_key_t x = rb_schema_key(a), y = rb_schema_key(b);
    return strcmp(a->name, y.text) == 0 || strcmp(x.text, b->name) == 0 ||
           strcmp(x.text, y.text) == 0;
}

static bool is_ambiguous(const ProtobufCMessageDescriptor *type)
{
    const ProtobufCFieldDescriptor *defaults = rb_schema_defaults(type);
    for (unsigned i = 0; i < type->n_fields; i++)
        for (unsigned j = 0; j < i; j++)
            if (clash(&type->fields[i], &type->fields[j]))
                return true;
    if (!defaults)
        return false;
    const ProtobufCMessageDescriptor *inner = defaults->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++)
        for (unsigned j = 0; j < inner->n_fields; j++)
            if (strcmp(type->fields[i].name, "name") != 0 && /* each has its own */
                clash(&type->fields[i], &inner->fields[j]))
                return true;
    return false;
}

static bool is_supported(const ProtobufCFieldDescriptor *f)
{
    bool text = f->type == PROTOBUF_C_TYPE_STRING || f->type == PROTOBUF_C_TYPE_MESSAGE;
    bool number = f->type == PROTOBUF_C_TYPE_UINT32 || f->type == PROTOBUF_C_TYPE_UINT64 ||
                  f->type == PROTOBUF_C_TYPE_BOOL || f->type == PROTOBUF_C_TYPE_ENUM;
    if (f->label == PROTOBUF_C_LABEL_REQUIRED)
        return f->type == PROTOBUF_C_TYPE_STRING; /* others could not be seen to be missing */
    return (text || number) && (f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0 && !f->default_value &&
           strlen(f->name) < sizeof(rb_key_t);
}

static void test_plan(void **state)
{
    (void)state;
    types_t all = {0};
    collect(&rackbench__plan__descriptor, &all);
    assert_true(all.n >= 5);
    for (size_t i = 0; i < all.n; i++) {
        if (is_ambiguous(all.types[i]))
            fail_msg("%s: a key matches two fields", all.types[i]->name);
        for (unsigned j = 0; j < all.types[i]->n_fields; j++)
            if (!is_supported(&all.types[i]->fields[j]))
                fail_msg("%s.%s cannot be loaded", all.types[i]->name,
                         all.types[i]->fields[j].name);
    }
}

static ProtobufCFieldDescriptor field(const char *name, ProtobufCType type)
{
    return (ProtobufCFieldDescriptor){
        .name = name, .label = PROTOBUF_C_LABEL_OPTIONAL, .type = type};
}

/* The test above can fail: schemas that must be rejected. */
static void test_ambiguous(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        bool ambiguous;
    } rows[] = {
        {"rate_bytes", "rate_iops", false}, {"rate", "rate_bytes", true},
        {"size_bytes", "size_ns", true},    {"rate_ppm", "rate", true},
        {"size", "sizes", false},           {"a_ns", "a_ns_bytes", true},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        const ProtobufCFieldDescriptor fields[] = {field(rows[i].a, PROTOBUF_C_TYPE_UINT64),
                                                   field(rows[i].b, PROTOBUF_C_TYPE_UINT64)};
        unsigned by_name[] = {0, 1};
        const ProtobufCMessageDescriptor type = {
            .n_fields = 2, .fields = fields, .fields_sorted_by_name = by_name};
        assert_int_equal(is_ambiguous(&type), rows[i].ambiguous);
    }
}

static void test_field(void **state)
{
    (void)state;
    static const struct {
        const char *key, *name;
        rb_number_t number;
    } rows[] = {
        {"runtime", "runtime_ns", RB_NUMBER_NS}, {"runtime_ns", "runtime_ns", RB_NUMBER_NS},
        {"bs", "bs_bytes", RB_NUMBER_BYTES},     {"rate_iops", "rate_iops", RB_NUMBER_COUNT},
        {"rate", "rate_bytes", RB_NUMBER_BYTES}, {"rate_", NULL, RB_NUMBER_COUNT},
        {"runtime_", NULL, RB_NUMBER_COUNT},     {"", NULL, RB_NUMBER_COUNT},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        const ProtobufCFieldDescriptor *f =
            rb_schema_field(&rackbench__job__descriptor, rows[i].key);
        if (!rows[i].name) {
            assert_null(f);
            continue;
        }
        assert_non_null(f);
        assert_string_equal(f->name, rows[i].name);
        assert_int_equal(rb_schema_number(f), rows[i].number);
    }
    assert_null(rb_schema_field(&rackbench__phase__descriptor, "defaults"));
}

static void test_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *word, *a, *b, *best;
    } rows[] = {
        {"iodeph", "iodepth", "numjobs", "iodepth"},
        {"abcde", "abcdx", "abcxx", "abcdx"}, /* the nearer, in either order */
        {"abcde", "abcxx", "abcdx", "abcdx"},
        {"abcdefghijkl", "abcdefghixxx", "x", NULL}, /* three edits are far */
        {"ab", "xy", "ax", "ax"},
        {"a", "b", "abc", NULL},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_nearest_t n = {.word = rows[i].word};
        rb_nearest_try(&n, rows[i].a);
        rb_nearest_try(&n, rows[i].b);
        if (!rows[i].best)
            assert_null(n.best);
        else
            assert_string_equal(n.best, rows[i].best);
    }
}

/* No word of fio's that is listed has become a key: its sentence would never be seen. */
static void test_fio_words(void **state)
{
    (void)state;
    static const char *const words[] = {
        "blocksize",       "readwrite",      "time_based",     "invalidate",
        "group_reporting", "filename",       "libaio",         "randrepeat",
        "nrfiles",         "startdelay",     "stonewall",      "numa_cpu_nodes",
        "numa_mem_policy", "thinktime_spin", "latency_window", "trimwrite",
    };
    for (size_t i = 0; i < RB_LEN(words); i++) {
        assert_non_null(rb_fio_word(words[i]));
        assert_null(rb_schema_field(&rackbench__job__descriptor, words[i]));
        RB_AUTO(rb_free_str)
        char *advice = rb_schema_advice(&rackbench__phase__descriptor, words[i]);
        assert_string_equal(advice, rb_fio_word(words[i]));
    }
    for (unsigned i = 0; i < rackbench__job__descriptor.n_fields; i++)
        assert_null(rb_fio_word(rb_schema_key(&rackbench__job__descriptor.fields[i]).text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),      cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_field),     cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_fio_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
