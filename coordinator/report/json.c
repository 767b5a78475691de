#include "coordinator/report/json.h"
#include "coordinator/report/json_parts.h"

#include <errno.h>
#include <time.h>

static json_t *run_json(const rb_result_t *result)
{
    char started[32];
    time_t at = (time_t)(result->started_wall_ns / RB_NS_PER_S);
    struct tm tm;
    gmtime_r(&at, &tm);
    strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_t *marks = json_array();
    for (size_t i = 0; i < result->nmarks; i++)
        json_array_append_new(marks, rb_json_text(result->marks[i]));
    json_t *run = json_object();
    json_object_set_new(run, "id", rb_json_text(result->id));
    json_object_set_new(run, "name", rb_json_text(result->name));
    json_object_set_new(run, "started", json_string(started));
    if (result->seconds > 0)
        json_object_set_new(run, "seconds", json_real(result->seconds));
    json_object_set_new(run, "status", rb_json_text(result->status));
    json_object_set_new(run, "marks", marks);
    return run;
}

static void set_if(json_t *o, bool known, const char *key, uint64_t value)
{
    if (known)
        json_object_set_new(o, key, rb_json_u64(value));
}

static void set_text(json_t *o, const char *key, const char *value)
{
    if (value != NULL)
        json_object_set_new(o, key, rb_json_text(value));
}

static json_t *format_json(const Rackbench__LbaFormat *format)
{
    return json_pack("{s:o,s:o}", "data_bytes", rb_json_u64(format->data_bytes), "metadata_bytes",
                     rb_json_u64(format->metadata_bytes));
}

static json_t *power_states_json(const Rackbench__Drive *drive)
{
    json_t *states = json_array();
    for (size_t i = 0; i < drive->n_power_states; i++) {
        const Rackbench__PowerState *state = drive->power_states[i];
        json_t *o = json_object();
        set_if(o, state->has_max_mw, "max_mw", state->max_mw);
        set_if(o, state->has_entry_us, "entry_us", state->entry_us);
        set_if(o, state->has_exit_us, "exit_us", state->exit_us);
        if (state->idle)
            json_object_set_new(o, "idle", json_true());
        json_array_append_new(states, o);
    }
    return states;
}

/* What is not known is absent. */
static void set_medium(json_t *o, const Rackbench__Drive *drive)
{
    json_t *formats = json_array();
    for (size_t i = 0; i < drive->n_lba_formats; i++)
        json_array_append_new(formats, format_json(drive->lba_formats[i]));
    set_text(o, "firmware", drive->firmware);
    set_text(o, "wwid", drive->wwid);
    set_if(o, drive->has_nsid, "nsid", drive->nsid);
    if (drive->has_lba_format && drive->lba_format < drive->n_lba_formats)
        json_object_set_new(o, "lba_format", format_json(drive->lba_formats[drive->lba_format]));
    if (drive->n_lba_formats > 0)
        json_object_set(o, "lba_formats", formats);
    json_decref(formats);
    set_text(o, "write_cache", drive->write_cache);
    if (drive->has_volatile_write_cache)
        json_object_set_new(o, "volatile_write_cache", json_boolean(drive->volatile_write_cache));
    set_if(o, drive->has_power_state, "power_state", drive->power_state);
    set_if(o, drive->has_power_max_mw, "power_max_mw", drive->power_max_mw);
    if (drive->n_power_states > 0)
        json_object_set_new(o, "power_states", power_states_json(drive));
}

static void set_place(json_t *o, const Rackbench__Drive *drive)
{
    set_text(o, "pci", drive->pci);
    if (drive->has_link_width && drive->has_link_mts) {
        json_t *link = json_object();
        set_if(link, true, "mts", drive->link_mts);
        set_if(link, true, "width", drive->link_width);
        set_if(link, drive->has_link_max_mts, "max_mts", drive->link_max_mts);
        set_if(link, drive->has_link_max_width, "max_width", drive->link_max_width);
        json_object_set_new(o, "link", link);
    }
    if (drive->has_numa_node)
        json_object_set_new(o, "numa_node", json_integer(drive->numa_node));
    set_if(o, drive->has_queues, "queues", drive->queues);
    set_text(o, "scheduler", drive->scheduler);
}

static void set_members(json_t *o, const Rackbench__Drive *drive)
{
    json_t *members = json_array(), *drives = json_array();
    for (size_t i = 0; i < drive->n_members; i++)
        json_array_append_new(members, rb_json_text(drive->members[i]));
    for (size_t i = 0; i < drive->n_member_drives; i++) {
        const Rackbench__MemberDrive *m = drive->member_drives[i];
        json_t *member = json_object();
        json_object_set_new(member, "path", rb_json_text(m->path));
        set_text(member, "model", m->model);
        set_text(member, "serial", m->serial);
        set_text(member, "firmware", m->firmware);
        set_text(member, "wwid", m->wwid);
        if (m->has_size_bytes)
            json_object_set_new(member, "size_bytes", rb_json_u64(m->size_bytes));
        json_array_append_new(drives, member);
    }
    if (drive->n_members > 0) {
        json_object_set(o, "members", members);
        json_object_set(o, "member_drives", drives);
    }
    json_decref(members);
    json_decref(drives);
}

static json_t *drive_json(const Rackbench__Drive *drive)
{
    json_t *o = json_object();
    json_object_set_new(o, "path", rb_json_text(drive->path));
    json_object_set_new(o, "model", rb_json_text(drive->model));
    json_object_set_new(o, "serial", rb_json_text(drive->serial));
    json_object_set_new(o, "size_bytes", rb_json_u64(drive->size_bytes));
    json_object_set_new(o, "logical_block_bytes", rb_json_u64(drive->logical_block_bytes));
    json_object_set_new(o, "rotational", json_boolean(drive->rotational));
    set_medium(o, drive);
    set_place(o, drive);
    set_members(o, drive);
    return o;
}

static void set_inventory(json_t *o, const Rackbench__Inventory *inventory)
{
    json_t *drives = json_array();
    for (size_t i = 0; i < inventory->n_drives; i++)
        json_array_append_new(drives, drive_json(inventory->drives[i]));
    json_object_set_new(o, "drives", drives);
    json_object_set_new(o, "hostname", rb_json_text(inventory->hostname));
    json_object_set_new(o, "kernel", rb_json_text(inventory->kernel));
    json_object_set_new(o, "cpu_model", rb_json_text(inventory->cpu_model));
    json_object_set_new(o, "cpus", rb_json_u64(inventory->cpus));
    json_object_set_new(o, "memory_bytes", rb_json_u64(inventory->memory_bytes));
    json_object_set_new(o, "agent_version", rb_json_text(inventory->agent_version));
    if (inventory->wall_clock != NULL)
        json_object_set_new(o, "wall_clock",
                            json_pack("{s:b,s:o}", "synchronised",
                                      inventory->wall_clock->synchronised, "maxerror_ns",
                                      rb_json_u64(inventory->wall_clock->maxerror_ns)));
}

static json_t *labels_json(const rb_row_host_t *host)
{
    json_t *labels = json_object();
    for (size_t i = 0; i < host->nlabels; i++) {
        const char *equals = strchr(host->labels[i], '=');
        size_t length =
            equals != NULL ? (size_t)(equals - host->labels[i]) : strlen(host->labels[i]);
        RB_AUTO(rb_free_str) char *key = rb_strndup(host->labels[i], length);
        rb_json_set(labels, key, rb_json_text(equals != NULL ? equals + 1 : ""));
    }
    return labels;
}

static json_t *host_json(const rb_fold_host_t *host)
{
    json_t *o = json_object();
    json_object_set_new(o, "name", rb_json_text(host->row.host.name));
    json_object_set_new(o, "labels", labels_json(&host->row.host));
    if (host->has_clock)
        json_object_set_new(o, "clock",
                            json_pack("{s:I,s:o,s:o,s:f}", "offset_ns",
                                      (json_int_t)host->clock.offset_ns, "bound_ns",
                                      rb_json_u64(host->clock.bound_ns), "rtt_ns",
                                      rb_json_u64(host->clock.rtt_ns), "drift_ppm",
                                      (double)host->clock.drift_ppb / 1000));
    if (host->inventory != NULL)
        set_inventory(o, host->inventory);
    else
        json_object_set_new(o, "drives", json_array());
    return o;
}

static json_t *hosts_json(const rb_fold_t *fold)
{
    json_t *hosts = json_array();
    for (size_t i = 0; i < fold->nhosts; i++)
        if (fold->hosts[i].row.kind == RB_ROW_HOST)
            json_array_append_new(hosts, host_json(&fold->hosts[i]));
    return hosts;
}

json_t *rb_json_event(const rb_result_event_t *event)
{
    json_t *o = json_object();
    json_object_set_new(o, "at_ns", json_integer(event->at_ns));
    json_object_set_new(o, "host", rb_json_text(event->host));
    if (event->phase != NULL)
        json_object_set_new(o, "phase", rb_json_text(event->phase));
    json_object_set_new(o, "kind", rb_json_text(event->kind));
    json_object_set_new(o, "text", rb_json_text(event->text));
    return o;
}

static json_t *document(const rb_result_t *result)
{
    json_t *prepares = json_array(), *phases = json_array(), *events = json_array();
    json_t *searches = json_array(), *sweeps = json_array();
    for (size_t i = 0; i < result->nsweeps; i++)
        json_array_append_new(sweeps, rb_json_sweep(result, &result->sweeps[i]));
    for (size_t i = 0; i < result->nsearches; i++)
        json_array_append_new(searches, rb_json_search(&result->searches[i]));
    for (size_t i = 0; i < result->nprepares; i++)
        json_array_append_new(prepares, rb_json_prepare(result, &result->prepares[i]));
    for (size_t i = 0; i < result->nphases; i++)
        json_array_append_new(phases, rb_json_phase(result, &result->phases[i]));
    for (size_t i = 0; i < result->nevents; i++)
        json_array_append_new(events, rb_json_event(&result->events[i]));
    json_t *root = json_object();
    json_object_set_new(root, "rackbench", rb_json_text(result->version));
    json_object_set_new(root, "run", run_json(result));
    json_object_set_new(root, "hosts", hosts_json(result->fold));
    json_object_set_new(root, "prepare", prepares);
    json_object_set_new(root, "phases", phases);
    json_object_set_new(root, "sweeps", sweeps);
    json_object_set_new(root, "searches", searches);
    json_object_set_new(root, "events", events);
    return root;
}

int rb_report_json(FILE *out, const rb_result_t *result, rb_err_t *err)
{
    json_t *root = document(result);
    errno = 0;
    int rc = json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);
    if (rc < 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the result as JSON");
    return 0;
}
