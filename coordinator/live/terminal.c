#include "coordinator/live/terminal.h"
#include "coordinator/plan/expand.h"
#include "coordinator/report/json_lines.h"
#include "coordinator/report/words.h"

#include <stdarg.h>
#include <sys/ioctl.h>

enum { BAR_CELLS = 10, MAX_LINE = 512, MAX_COLUMNS = 100 };

struct rb_live {
    FILE *out;
    rb_live_mode_t mode;
    rb_units_t units;
    bool colour;
    bool shown; /* a line stands on the terminal */
    char last[MAX_LINE];
    size_t events_told;
    uint32_t window_phase; /* of the windows told */
    size_t windows_told;
};

rb_live_t *rb_live_new(FILE *out, rb_live_mode_t mode, rb_units_t units)
{
    rb_live_t *live = rb_calloc(1, sizeof(*live));
    const char *no_color = getenv("NO_COLOR");
    live->out = out;
    live->mode = mode;
    live->units = units;
    live->colour = mode == RB_LIVE_TTY && (no_color == NULL || no_color[0] == '\0');
    return live;
}

void rb_live_destroy(rb_live_t **live)
{
    free(*live);
    *live = NULL;
}

void rb_live_name_point(rb_live_state_t *state, const Rackbench__Phase *phase)
{
    RB_AUTO(rb_free_str) char *text = rb_point_text(phase);
    snprintf(state->point, sizeof(state->point), "%s", text);
}

RB_PRINTF(2, 3) static void append(char *line, const char *fmt, ...)
{
    size_t used = strlen(line);
    va_list args;
    va_start(args, fmt);
    vsnprintf(line + used, MAX_LINE - used, fmt, args);
    va_end(args);
}

static void append_bar(char *line, uint64_t done, uint64_t total)
{
    uint64_t cells = (uint64_t)((double)RB_MIN(done, total) * BAR_CELLS / (double)total);
    append(line, " [");
    for (uint64_t i = 0; i < BAR_CELLS; i++)
        append(line, "%c", i < cells ? '#' : '.');
    append(line, "]");
}

/* At the pace so far. */
static void append_bytes_left(char *line, const rb_live_state_t *s)
{
    char left[RB_FMT_SIZE];
    if (s->elapsed_ns == 0 || s->done_bytes == 0 || s->done_bytes >= s->total_bytes)
        return;
    double seconds = (double)s->elapsed_ns / RB_NS_PER_S *
                     (double)(s->total_bytes - s->done_bytes) / (double)s->done_bytes;
    append(line, ", %s left",
           rb_fmt_duration(left, sizeof(left), ((uint64_t)seconds + 1) * RB_NS_PER_S));
}

static void append_progress(char *line, const rb_live_state_t *s)
{
    char done[RB_FMT_SIZE], total[RB_FMT_SIZE];
    if (s->total_bytes > 0) {
        append_bar(line, s->done_bytes, s->total_bytes);
        append(line, " %s of %s", rb_fmt_bytes(done, sizeof(done), s->done_bytes),
               rb_fmt_bytes(total, sizeof(total), s->total_bytes));
        append_bytes_left(line, s);
    } else if (s->total_ns > 0) {
        uint64_t left_ns = s->total_ns - RB_MIN(s->elapsed_ns, s->total_ns);
        append_bar(line, s->elapsed_ns, s->total_ns);
        left_ns = (left_ns + RB_NS_PER_S - 1) / RB_NS_PER_S * RB_NS_PER_S;
        append(line, " %s left", rb_fmt_duration(done, sizeof(done), left_ns));
    } else if (s->elapsed_ns > 0) {
        uint64_t whole_ns = s->elapsed_ns / RB_NS_PER_S * RB_NS_PER_S;
        append(line, " for %s", rb_fmt_duration(done, sizeof(done), whole_ns));
    }
}

/* The p99 of the kind with the most operations: percentiles of different kinds do not mix. */
static void append_figures(char *line, const rb_live_t *live, const rb_live_state_t *s)
{
    const rb_window_t *w = rb_fold_last_window(s->fold, s->phase_index);
    const rb_window_op_t *most = NULL;
    uint64_t ops = 0, bytes = 0, at_ns, length_ns;
    char count[RB_FMT_SIZE], p99[RB_FMT_SIZE] = "-";
    if (w == NULL)
        return;
    for (int i = 0; i < RB_OP_COUNT; i++) {
        const rb_window_op_t *op = w->op[i];
        if (op == NULL)
            continue;
        ops += op->ops;
        bytes += op->bytes;
        most = most == NULL || op->ops > most->ops ? op : most;
    }
    rb_fold_window_time(s->fold, s->phase_index, w, &at_ns, &length_ns);
    if (length_ns == 0 || most == NULL)
        return;
    double seconds = (double)length_ns / RB_NS_PER_S;
    if (most->ops > 0)
        rb_fmt_ns(p99, sizeof(p99), rb_window_quantile(most, 0.99));
    append(line, "  %s IOPS  %.1f %s  p99 %s%s",
           rb_fmt_rate_count(count, sizeof(count), (double)ops / seconds),
           (double)bytes / seconds / rb_units_mega_bytes(live->units),
           rb_units_mega_per_s(live->units), p99, w->ramp ? "  (ramp)" : "");
}

static void append_step(char *line, const rb_live_state_t *s)
{
    char rate[RB_FMT_SIZE];
    append(line, " step %u", s->step);
    if (s->rate_iops > 0)
        append(line, " at %s IOPS", rb_fmt_count(rate, sizeof(rate), s->rate_iops));
    else
        append(line, " (closed loop)");
}

static void compose(char *line, const rb_live_t *live, const rb_live_state_t *s)
{
    char phase[RB_WORDS_SIZE];
    line[0] = '\0';
    if (s->phase != NULL)
        append(line, "%.40s %u/%u", rb_words_clean(phase, sizeof(phase), s->phase), s->phase_number,
               s->phases);
    if (s->phase != NULL && s->step > 0)
        append_step(line, s);
    if (s->phase != NULL && s->point[0] != '\0')
        append(line, " (%s)", s->point);
    append(line, "%s%s", line[0] != '\0' && s->word[0] != '\0' ? " " : "", s->word);
    append_progress(line, s);
    if (s->fold != NULL && s->phase != NULL)
        append_figures(line, live, s);
    append(line, "  %u/%u hosts", s->hosts_ready, s->hosts);
}

/* Longer than the screen a line would wrap, and a wrapped one cannot be rewritten. */
/* One column less than there are: a full line would wrap, and not be cleared. */
static int room(const rb_live_t *live)
{
    struct winsize size;
    bool known = ioctl(fileno(live->out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return (known ? RB_MIN((int)size.ws_col, MAX_COLUMNS) : MAX_COLUMNS) - 1;
}

static void show(rb_live_t *live, char *line)
{
    if (live->mode == RB_LIVE_TTY) {
        fprintf(live->out, "\r\033[K%s%.*s%s", live->colour ? "\033[36m" : "", room(live), line,
                live->colour ? "\033[0m" : "");
        live->shown = true;
    } else if (strcmp(line, live->last) != 0) {
        fprintf(live->out, "%s\n", line);
        memcpy(live->last, line, MAX_LINE);
    }
    fflush(live->out);
}

/* Final windows never come again, nor before those told: their number is enough. Where the last one
 * ends is known when the phase is over. */
static void tell_windows(rb_live_t *live, const rb_fold_t *fold)
{
    const rb_fold_phase_t *phase = &fold->phases[live->window_phase];
    const rb_series_t *series = &phase->series;
    for (; live->windows_told < series->nwindows; live->windows_told++) {
        const rb_window_t *w = &series->windows[live->windows_told];
        bool last = live->windows_told + 1 == series->nwindows;
        if (!w->final || (last && !phase->over))
            return;
        rb_json_line_window(live->out, fold, live->window_phase, w);
    }
}

static void tell_fold(rb_live_t *live, const rb_fold_t *fold)
{
    while (live->window_phase < fold->nphases) {
        tell_windows(live, fold);
        if (!fold->phases[live->window_phase].over)
            break;
        live->window_phase++;
        live->windows_told = 0;
    }
    for (; live->events_told < fold->nevents; live->events_told++)
        rb_json_line_event(live->out, fold, &fold->events[live->events_told]);
}

/* The windows of a state come before the next state. */
static void tell_json(rb_live_t *live, const rb_live_state_t *s)
{
    char state[MAX_LINE];
    if (s->fold != NULL)
        tell_fold(live, s->fold);
    snprintf(state, sizeof(state), "%s %u %u", s->word, s->phase_number, s->step);
    if (strcmp(state, live->last) != 0) {
        rb_json_line_state(live->out, s->word, s->phase, s->step);
        memcpy(live->last, state, sizeof(state));
    }
}

void rb_live_update(rb_live_t *live, const rb_live_state_t *state)
{
    char line[MAX_LINE];
    switch (live->mode) {
    case RB_LIVE_QUIET:
        return;
    case RB_LIVE_JSON_LINES:
        tell_json(live, state);
        return;
    case RB_LIVE_PLAIN:
    case RB_LIVE_TTY:
        compose(line, live, state);
        show(live, line);
        return;
    }
}

void rb_live_end(rb_live_t *live)
{
    if (live->shown)
        fputs("\r\033[K", live->out);
    fflush(live->out);
    live->shown = false;
}
