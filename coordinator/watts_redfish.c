#include "coordinator/watts.h"

#include <jansson.h>

/* What a resource is part of, by its address. */
static const char *scope_of(const json_t *root, const char *context)
{
    const char *id = json_string_value(json_object_get(root, "@odata.id"));
    bool drive = context != NULL && strcmp(context, "StorageDevice") == 0;
    bool package = context != NULL && strcmp(context, "CPU") == 0;
    if (drive || (id != NULL && strstr(id, "/Drives/") != NULL))
        return "drive";
    if (package || (id != NULL && strstr(id, "/Processors/") != NULL))
        return "package";
    return context == NULL || strcmp(context, "Chassis") == 0 ? "chassis" : context;
}

/* Where the kinds of resources have it; NULL: none of them. */
static const json_t *find_reading(const json_t *root, rb_watts_told_t *told)
{
    const json_t *control = json_array_get(json_object_get(root, "PowerControl"), 0);
    const json_t *metric = json_object_get(root, "PowerWatts");
    const char *units = json_string_value(json_object_get(root, "ReadingUnits"));
    told->scope = scope_of(root, NULL);
    if (control != NULL)
        return json_object_get(control, "PowerConsumedWatts");
    if (metric != NULL)
        return json_object_get(metric, "Reading");
    if (units == NULL || strcmp(units, "W") != 0)
        return NULL;
    told->scope = scope_of(root, json_string_value(json_object_get(root, "PhysicalContext")));
    told->time = json_string_value(json_object_get(root, "ReadingTime"));
    return json_object_get(root, "Reading");
}

static int take(rb_watts_t *watts, rb_watts_told_t *told, const json_t *root, rb_err_t *err)
{
    const char *named = told->time;
    const json_t *reading = find_reading(root, told);
    if (!json_is_number(reading))
        return rb_err_set(err, RB_ERR_INPUT,
                          "no power in it; PowerControl[0].PowerConsumedWatts of a Power, "
                          "PowerWatts.Reading of EnvironmentMetrics or the Reading of a Sensor "
                          "in W is looked for");
    if (named != NULL)
        told->time = named;
    told->watts = json_number_value(reading);
    return rb_watts_add(watts, told, err);
}

int rb_watts_redfish(rb_watts_t *watts, const char *name, const char *text, uint64_t mtime_ns,
                     rb_err_t *err)
{
    const char *slash = strrchr(name, '/');
    RB_AUTO(rb_free_str) char *host = rb_strdup(slash != NULL ? slash + 1 : name);
    char *dot = strrchr(host, '.');
    if (dot != NULL && strcmp(dot, ".json") == 0)
        *dot = '\0';
    char *at = strchr(host, '@');
    if (at != NULL)
        *at++ = '\0';
    json_error_t error;
    json_t *root = json_loads(text, 0, &error);
    if (root == NULL)
        return rb_err_set(err, RB_ERR_INPUT, "%s:%d:%d: not JSON: %s", name, error.line,
                          error.column, error.text);
    rb_watts_told_t told = {.host = host, .time = at, .wall_ns = mtime_ns};
    int rc = take(watts, &told, root, err);
    json_decref(root);
    return rc == 0 ? 0 : rb_err_wrap(err, "%s", name);
}
