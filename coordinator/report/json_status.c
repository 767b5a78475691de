#include "coordinator/report/json_status.h"

#include "coordinator/live/watch.h"
#include "coordinator/report/json_parts.h"
#include "coordinator/report/words.h"

#include <errno.h>

static json_t *run_json(const rb_playback_t *playback)
{
    char started[RB_STAMP_SIZE];
    const rb_row_run_t *run = &playback->fold->run_row.run;
    return json_pack("{s:o,s:o,s:s,s:o}", "id", rb_json_text(run->id), "name",
                     rb_json_text(run->name), "started",
                     rb_words_stamp(started, run->started_wall_ns), "directory",
                     rb_json_text(playback->directory));
}

static json_t *phase_json(const rb_live_state_t *s)
{
    json_t *o = json_pack("{s:o,s:o,s:o,s:o}", "name", rb_json_text(s->phase), "number",
                          rb_json_u64(s->phase_number), "of", rb_json_u64(s->phases), "elapsed_ns",
                          rb_json_u64(s->elapsed_ns));
    if (s->total_ns > 0)
        json_object_set_new(o, "total_ns", rb_json_u64(s->total_ns));
    if (s->step > 0)
        json_object_set_new(o, "step", rb_json_u64(s->step));
    if (s->rate_iops > 0)
        json_object_set_new(o, "rate_iops", rb_json_u64(s->rate_iops));
    return o;
}

static json_t *left_json(const rb_fold_t *fold, uint64_t wall_ns)
{
    rb_watch_left_t left = rb_watch_left(fold, wall_ns);
    return json_pack("{s:o,s:b,s:b}", "ns", rb_json_u64(left.ns), "at_most", left.at_most,
                     "open_end", left.open_end);
}

static json_t *host_json(const rb_fold_t *fold, uint32_t host, uint64_t wall_ns)
{
    static const char *const states[] = {
        [RB_WATCH_ANSWERING] = "answering", [RB_WATCH_SILENT] = "silent", [RB_WATCH_LOST] = "lost"};
    rb_watch_host_t h = rb_watch_host(fold, host, wall_ns);
    json_t *o = json_pack("{s:o,s:s}", "name", rb_json_text(rb_fold_host_name(fold, host)), "state",
                          states[h.kind]);
    if (h.kind == RB_WATCH_SILENT)
        json_object_set_new(o, "behind_ns", rb_json_u64(h.behind_ns));
    if (h.kind == RB_WATCH_LOST)
        json_object_set_new(o, "why", rb_json_text(h.why));
    return o;
}

static json_t *hosts_json(const rb_fold_t *fold, uint64_t wall_ns)
{
    json_t *hosts = json_array();
    for (uint32_t host = 1; host <= fold->nhosts; host++)
        if (fold->hosts[host - 1].row.kind == RB_ROW_HOST)
            json_array_append_new(hosts, host_json(fold, host, wall_ns));
    return hosts;
}

/* Of a run that has ended there is no phase under way, and nothing left. */
static void set_under_way(json_t *o, const rb_fold_t *fold, const rb_live_state_t *s,
                          uint64_t wall_ns)
{
    const rb_window_t *window = rb_fold_last_window(fold, s->phase_index);
    if (s->phase == NULL)
        return;
    json_object_set_new(o, "phase", phase_json(s));
    json_object_set_new(o, "left", left_json(fold, wall_ns));
    if (window != NULL)
        json_object_set_new(o, "cluster", rb_json_window(fold, s->phase_index, window));
}

int rb_json_status(FILE *out, const rb_playback_t *playback, uint64_t wall_ns, bool alive,
                   rb_err_t *err)
{
    const rb_fold_t *fold = playback->fold;
    bool ended = rb_playback_ended(playback);
    rb_live_state_t state;
    rb_watch_state(fold, wall_ns, &state);
    json_t *o = json_object();
    json_object_set_new(o, "run", run_json(playback));
    json_object_set_new(o, "state", rb_json_text(ended || alive ? state.word : "gone"));
    if (ended)
        json_object_set_new(o, "exit_code",
                            json_integer((json_int_t)fold->end_row.run_end.exit_code));
    if (!ended)
        set_under_way(o, fold, &state, wall_ns);
    json_object_set_new(o, "hosts", hosts_json(fold, wall_ns));
    errno = 0;
    int rc = json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(o);
    if (rc < 0 || fputc('\n', out) == EOF || fflush(out) != 0)
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the status as JSON");
    return 0;
}
