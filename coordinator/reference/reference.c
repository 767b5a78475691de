#include "coordinator/reference/reference.h"

#include "coordinator/reference/embedded.h"

#include <jansson.h>
#include <math.h>
#include <strings.h>

struct rb_reference {
    json_t *root; /* texts are borrowed from it */
    size_t ndrives;
    rb_reference_drive_t *drives;
};

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text != NULL ? text : "";
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static char *sources_of(const json_t *o)
{
    char *list = rb_strdup("");
    const json_t *sources = json_object_get(o, "sources");
    for (size_t i = 0; i < json_array_size(sources); i++) {
        char *longer = rb_asprintf("%s%s%s", list, i > 0 ? "," : "",
                                   json_string_value(json_array_get(sources, i)));
        free(list);
        list = longer;
    }
    return list;
}

static void add_result(rb_reference_drive_t *drive, const json_t *o)
{
    *RB_PUSH(drive->results, drive->nresults) =
        (rb_reference_result_t){.test = text_of(o, "test"),
                                .metric = text_of(o, "metric"),
                                .unit = text_of(o, "unit"),
                                .is_range = json_object_get(o, "value") == NULL,
                                .value = number_of(o, "value"),
                                .iodepth = (uint32_t)number_of(o, "iodepth"),
                                .numjobs = (uint32_t)number_of(o, "numjobs"),
                                .threads = (uint32_t)number_of(o, "threads"),
                                .sources = sources_of(o)};
}

static void add_drive(rb_reference_t *reference, const json_t *o)
{
    const json_t *results = json_object_get(o, "results"), *specs = json_object_get(o, "specs");
    rb_reference_drive_t *drive = RB_PUSH(reference->drives, reference->ndrives);
    drive->id = text_of(o, "id");
    drive->vendor = text_of(o, "vendor");
    drive->model = text_of(o, "model");
    drive->part_number = text_of(o, "part_number");
    drive->capacity_tb = number_of(o, "capacity_tb");
    for (size_t i = 0; i < json_array_size(results); i++)
        add_result(drive, json_array_get(results, i));
    for (size_t i = 0; i < json_array_size(specs); i++) {
        const json_t *spec = json_array_get(specs, i);
        if (json_is_number(json_object_get(spec, "value")))
            *RB_PUSH(drive->specs, drive->nspecs) = (rb_reference_spec_t){
                text_of(spec, "name"), text_of(spec, "unit"), number_of(spec, "value")};
    }
}

rb_reference_t *rb_reference_new(void)
{
    rb_reference_t *reference = rb_calloc(1, sizeof(*reference));
    reference->root = json_loads(rb_embedded_references[0].text, 0, NULL);
    const json_t *drives = json_object_get(reference->root, "drives");
    RB_ASSERT(json_array_size(drives) > 0);
    for (size_t i = 0; i < json_array_size(drives); i++)
        add_drive(reference, json_array_get(drives, i));
    return reference;
}

void rb_reference_destroy(rb_reference_t **reference)
{
    rb_reference_t *r = *reference;
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->ndrives; i++) {
        for (size_t k = 0; k < r->drives[i].nresults; k++)
            free(r->drives[i].results[k].sources);
        free(r->drives[i].results);
        free(r->drives[i].specs);
    }
    free(r->drives);
    json_decref(r->root);
    free(r);
    *reference = NULL;
}

const rb_reference_drive_t *rb_reference_drives(const rb_reference_t *reference, size_t *ret_n)
{
    *ret_n = reference->ndrives;
    return reference->drives;
}

const rb_reference_drive_t *rb_reference_find(const rb_reference_t *reference, const char *name,
                                              rb_err_t *err)
{
    const rb_reference_drive_t *found = NULL;
    RB_AUTO(rb_free_str) char *all = rb_strdup("");
    for (size_t i = 0; i < reference->ndrives; i++) {
        const rb_reference_drive_t *d = &reference->drives[i];
        if (strcasecmp(d->id, name) == 0)
            return d;
        if (name[0] != '\0' && strcasestr(d->model, name) != NULL) {
            if (found != NULL) {
                rb_err_set(err, RB_ERR_INPUT, "'%s' may be %s or %s: give one of these", name,
                           found->id, d->id);
                return NULL;
            }
            found = d;
        }
        char *longer = rb_asprintf("%s%s%s", all, i > 0 ? ", " : "", d->id);
        free(all);
        all = longer;
    }
    if (found == NULL)
        rb_err_set(err, RB_ERR_INPUT, "no drive '%s' in the tables; there are %s", name, all);
    return found;
}

/* A part number is a word of the list, and vendors write it with a prefix or a suffix of their own:
 * the inventory's model has to hold the whole word. */
static bool has_part(const char *parts, const char *model)
{
    for (const char *at = parts; *at != '\0'; at += strcspn(at, " ,"), at += strspn(at, " ,")) {
        size_t length = strcspn(at, " ,");
        RB_AUTO(rb_free_str) char *word = rb_strndup(at, length);
        if (length >= 8 && strcasestr(model, word) != NULL)
            return true;
    }
    return false;
}

const rb_reference_drive_t *rb_reference_of(const rb_reference_t *reference, const char *model,
                                            uint64_t size_bytes)
{
    for (size_t i = 0; model != NULL && i < reference->ndrives; i++) {
        const rb_reference_drive_t *d = &reference->drives[i];
        bool same_size = fabs((double)size_bytes / 1e12 / d->capacity_tb - 1) < 0.05;
        if (has_part(d->part_number, model) || (same_size && strcasestr(model, d->model) != NULL))
            return d;
    }
    return NULL;
}

const rb_reference_spec_t *rb_reference_spec(const rb_reference_drive_t *drive, const char *name)
{
    for (size_t i = 0; i < drive->nspecs; i++)
        if (strcmp(drive->specs[i].name, name) == 0)
            return &drive->specs[i];
    return NULL;
}

double rb_reference_rate(double value, const char *unit, uint64_t bs_bytes)
{
    static const struct {
        const char *unit;
        double bytes;
    } units[] = {
        {"MiB/s", (double)RB_MIB}, {"GiB/s", (double)RB_GIB}, {"MB/s", 1e6}, {"GB/s", 1e9}};
    for (size_t i = 0; i < RB_LEN(units); i++)
        if (strcmp(unit, units[i].unit) == 0)
            return value * units[i].bytes;
    return strcmp(unit, "kIOPS") == 0 ? value * 1000 * (double)bs_bytes : 0;
}
