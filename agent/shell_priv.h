/* shell_priv.h - what the files of the shell share: shell.c (events and frames), shell_sink.c (what
 * the session asks for). */
#pragma once

#include "agent/errand.h"
#include "agent/notes.h"
#include "agent/probe.h"
#include "agent/session.h"
#include "agent/shell.h"
#include "agent/survey.h"

typedef struct {
    const rb_shell_opts_t *opts;
    rb_socket_t *link;
    const char *told_why; /* why the coordinator does not let us in, as last told */
    rb_session_t *session;
    int event_fd; /* a probe is done */
    rb_survey_t *survey;
    Rackbench__Inventory *inventory; /* borrowed from the survey; NULL: not yet complete */
    const Rackbench__Plan *plan;     /* borrowed from the session until release */
    const char *host, *run_id;       /* borrowed from its Hello until release, like labels */
    size_t nlabels;
    Rackbench__Label **labels;
    rb_errand_t *here;  /* the plan on this host; NULL: none, or lent to the probe */
    rb_probe_t *probe;  /* an errand under way */
    rb_errand_t *ended; /* an errand that is to be told of, unless it is `here` */
    bool has_ended;
    Rackbench__Phase *phase;     /* owned: what the engine runs; NULL: it has run nothing yet */
    Rackbench__Prepare *prepare; /* owned: as it came, until the engine is made; NULL: none */
    rb_engine_t *engine;
    rb_engine_state_t engine_state; /* as last told to the session */
    uint32_t number;                /* of the step that it runs: rows carry it */
    uint64_t t0_ns;                 /* of the phase; 0: not armed */
    bool owned;                     /* as last logged */
    uint64_t next_progress_ns, next_warning_ns;
    rb_err_t refusal; /* of the coordinator, as last logged */
    bool has_failed;  /* to be told of after the step */
    rb_err_t prepare_fault;
    rb_notes_t notes;
} rb_shell_t;

rb_session_sink_t rb_shell_sink(rb_shell_t *sh);
void rb_shell_send(rb_shell_t *sh, const char *peer, rb_bytes_t frame); /* frees the frame */
/* Its subjects are known: the engine starts on the phase. */
void rb_shell_start_engine(rb_shell_t *sh);
/* Power states that the phase has set are given back; nothing where it has set none. */
void rb_shell_restore_power(rb_shell_t *sh);
