#include "coordinator/plan/value.h"

#include <ctype.h>
#include <inttypes.h>

#include "common/units.h"
#include "coordinator/plan/fio_words.h"

/* `interval: auto` is 0 in the plan. */
static bool takes_auto(const ProtobufCFieldDescriptor *field)
{
    return strcmp(field->name, "interval_ns") == 0;
}

bool rb_value_is_auto(const ProtobufCFieldDescriptor *field, uint64_t number)
{
    return number == 0 && takes_auto(field);
}

static int parse_number(rb_slot_t slot, const char *text, rb_err_t *err)
{
    static int (*const parsers[])(const char *, uint64_t *, rb_err_t *) = {
        [RB_NUMBER_COUNT] = rb_parse_count,
        [RB_NUMBER_NS] = rb_parse_duration,
        [RB_NUMBER_BYTES] = rb_parse_bytes,
        [RB_NUMBER_PPM] = rb_parse_ppm,
    };
    uint64_t number = 0;
    bool is_auto = takes_auto(slot.field) && strcmp(text, "auto") == 0;
    if (!is_auto && parsers[rb_schema_number(slot.field)](text, &number, err) != 0)
        return -1;
    if (takes_auto(slot.field) && number == 0 && !is_auto)
        return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is no interval; auto, or 10ms to 1m is right",
                          text);
    if (slot.field->type == PROTOBUF_C_TYPE_UINT64) {
        *(uint64_t *)rb_slot_push(slot) = number;
        return 0;
    }
    if (number > UINT32_MAX)
        return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is too large; at most %" PRIu32 " is right",
                          text, UINT32_MAX);
    *(uint32_t *)rb_slot_push(slot) = (uint32_t)number;
    return 0;
}

static int parse_bool(rb_slot_t slot, const char *text, rb_err_t *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < RB_LEN(words); i++) {
        if (strcmp(text, words[i]) != 0)
            continue;
        *(protobuf_c_boolean *)rb_slot_push(slot) = (protobuf_c_boolean)(i % 2);
        return 0;
    }
    return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is neither true nor false", text);
}

static int parse_enum(rb_slot_t slot, const char *text, rb_err_t *err)
{
    const ProtobufCEnumDescriptor *type = slot.field->descriptor;
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value_by_name(type, text);
    if (value) {
        *(int *)rb_slot_push(slot) = value->value;
        return 0;
    }
    const char *word = rb_fio_word(text);
    if (word)
        return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is not known here; %s", text, word);
    char list[256] = "";
    size_t length = 0;
    for (unsigned i = 0; i < type->n_values && length < sizeof(list); i++)
        length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                                   type->values[i].name);
    return rb_err_set(err, RB_ERR_INPUT, "'%.64s' is not known here; one of %s is right", text,
                      list);
}

static int parse_string(rb_slot_t slot, const char *text, rb_err_t *err)
{
    if (strlen(text) > RB_MAX_PLAN_STRING)
        return rb_err_set(err, RB_ERR_INPUT, "text of %zu bytes; at most %d are right",
                          strlen(text), RB_MAX_PLAN_STRING);
    for (const char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            return rb_err_set(err, RB_ERR_INPUT,
                              "control character 0x%02x in a text; printable characters are right",
                              (unsigned char)*p);
    *(char **)rb_slot_push(slot) = rb_strdup(text);
    return 0;
}

int rb_value_parse(rb_slot_t slot, const char *text, rb_err_t *err)
{
    if (slot.field->type == PROTOBUF_C_TYPE_STRING)
        return parse_string(slot, text, err);
    if (slot.field->type == PROTOBUF_C_TYPE_BOOL)
        return parse_bool(slot, text, err);
    if (slot.field->type == PROTOBUF_C_TYPE_ENUM)
        return parse_enum(slot, text, err);
    return parse_number(slot, text, err);
}

const char *rb_value_number(const ProtobufCFieldDescriptor *field, uint64_t number, char *buf)
{
    if (rb_value_is_auto(field, number)) {
        snprintf(buf, RB_FMT_SIZE, "auto");
        return buf;
    }
    switch (rb_schema_number(field)) {
    case RB_NUMBER_NS:
        return rb_fmt_duration(buf, RB_FMT_SIZE, number);
    case RB_NUMBER_BYTES:
        return rb_fmt_bytes_exact(buf, RB_FMT_SIZE, number);
    case RB_NUMBER_PPM:
        snprintf(buf, RB_FMT_SIZE, "%g%%", (double)number / 1e4); /* at most 100 %: exact */
        return buf;
    case RB_NUMBER_COUNT:
        break;
    }
    snprintf(buf, RB_FMT_SIZE, "%" PRIu64, number);
    return buf;
}

/* Length of the UTF-8 sequence at p if YAML lets it stand as it is between double quotes, else 0.
 */
static size_t printable(const unsigned char *p)
{
    if (*p < 0x80)
        return *p >= 0x20 && *p != 0x7f && *p != '"' && *p != '\\';
    if (p[0] == 0xc2 && p[1] < 0xa0) /* U+0080 to U+009F */
        return 0;
    if (p[0] == 0xe2 && p[1] == 0x80 && (p[2] | 1) == 0xa9) /* line and paragraph separators */
        return 0;
    if (p[0] == 0xef && p[1] == 0xbf && p[2] >= 0xbe) /* U+FFFE, U+FFFF */
        return 0;
    return p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
}

static unsigned code_point(const unsigned char *p, size_t *ret_length)
{
    if (*p < 0x80) {
        *ret_length = 1;
        return *p;
    }
    bool three = *p >= 0xe0; /* four bytes are always printable */
    *ret_length = three ? 3 : 2;
    return three ? (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu)
                 : (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
}

static bool is_plain(const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_/.-";
    return (isalnum((unsigned char)*text) || *text == '/') && text[strspn(text, safe)] == '\0';
}

static char *quote(const char *text)
{
    if (is_plain(text))
        return rb_strdup(text);
    char *out = rb_calloc(6 * strlen(text) + 3, 1), *o = out;
    *o++ = '"';
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t n = strnlen((const char *)p, printable(p));
        if (n) {
            memcpy(o, p, n);
            o += n;
        } else {
            o += sprintf(o, "\\u%04X", code_point(p, &n));
        }
        p += strnlen((const char *)p, n);
    }
    *o = '"';
    return out;
}

char *rb_value_yaml(rb_slot_t slot, size_t index)
{
    char buf[RB_FMT_SIZE];
    void *at = rb_slot_at(slot, index);
    if (slot.field->type == PROTOBUF_C_TYPE_STRING)
        return quote(*(char **)at);
    if (slot.field->type == PROTOBUF_C_TYPE_BOOL)
        return rb_strdup(*(protobuf_c_boolean *)at ? "true" : "false");
    if (slot.field->type == PROTOBUF_C_TYPE_ENUM)
        return rb_strdup(
            protobuf_c_enum_descriptor_get_value(slot.field->descriptor, *(int *)at)->name);
    uint64_t number =
        slot.field->type == PROTOBUF_C_TYPE_UINT64 ? *(uint64_t *)at : *(uint32_t *)at;
    return rb_strdup(rb_value_number(slot.field, number, buf));
}
