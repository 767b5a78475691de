/* sample.h - the measurement plane: msgpack rows, the same bytes on the wire and in the journal.
 *
 * A row is a msgpack array [kind, seq, ...]. Agents number their rows from 1 in each run; the
 * coordinator's own rows (host 0 of the journal) are numbered likewise. All times called *_at_ns
 * are signed nanoseconds since T0 of the row's phase on the common clock, unless said otherwise.
 * proto/README.md has the table of fields. The only door to msgpack. Any thread; no state.
 *
 * Decoding checks every type, bound and limit (RB_ERR_NET names field and value); a decoded row
 * owns its memory: rb_row_clear. A field that a newer writer appended at the end is skipped; one
 * that an older writer did not know is what it says in the struct, or 0.
 */
#pragma once

#include "common/err.h"
#include "common/hist.h"
#include "proto/sample_kv_rows.h"
#include "proto/wire.h"

typedef enum {
    /* from agents */
    RB_ROW_WINDOW = 1, /* what completed in a window */
    RB_ROW_WORKER = 2, /* a worker's own account, at the end of a phase */
    RB_ROW_KERNEL = 3, /* the kernel's counters of a device, end of DRAIN minus READY */
    RB_ROW_EVENT = 4,
    RB_ROW_DRIVES = 5,    /* which path has which index, at READY */
    RB_ROW_LAYOUT = 6,    /* a file that was laid out or reused before the phase */
    RB_ROW_CPU = 7,       /* how busy the host's CPUs were in M, at the end of a phase */
    RB_ROW_PLACEMENT = 8, /* where each worker runs, at READY */
    RB_ROW_HEALTH = 9,    /* what drives and host say of themselves at an instant */
    RB_ROW_KV_PARTS = 11, /* what a drive did of requests of a KV cache, as they complete */
    RB_ROW_KV_DRIVE = 12, /* a drive's account of a KV cache, at the end of a phase */
    /* the coordinator's own, host 0 */
    RB_ROW_RUN = 64,         /* first row of every journal */
    RB_ROW_HOST = 65,        /* a host that takes part */
    RB_ROW_CLOCK = 66,       /* a clock estimate */
    RB_ROW_PHASE_START = 67, /* ARM sent: T0 and who takes part */
    RB_ROW_PHASE_END = 68,   /* all rows of the phase are in, or will not come */
    RB_ROW_NOTE = 69,        /* an event the coordinator saw */
    RB_ROW_RUN_END = 70,     /* last row of a complete journal */
    RB_ROW_STEP = 71,   /* before Prepare: what is run is not the plan's phase of that number */
    RB_ROW_SEARCH = 72, /* a step of a search: its figures, and what they mean */
    RB_ROW_REACH = 73,  /* after RUN: how a host is reached, for who takes the run up again */
    RB_ROW_WATTS = 74   /* readings of power that the user gave, anywhere */
} rb_row_kind_t;

/* Windows that are merged into one row, where the coordinator asks for it, at most. */
enum { RB_MAX_SPAN = 4096 };

typedef struct {
    uint32_t job, target, drive; /* indices in phase, plan, target-on-this-host */
    rb_op_t op;
    uint64_t ops; /* without errors */
    uint64_t bytes;
    uint64_t errors;
    uint64_t inflight; /* at the end of the window */
    uint64_t oldest_inflight_ns;
    rb_hist_sparse_t service, response; /* count 0: absent */
} rb_cell_t;

typedef struct {
    uint32_t phase;
    rb_part_t part;
    uint64_t
        index; /* k: the window covers T0 + [k, k + span) x interval, cut at the part's borders */
    uint32_t span;    /* > 1: windows that were merged under pressure */
    bool all_running; /* no worker of this host had finished its work by the end of the window */
    size_t ncells;
    rb_cell_t *cells; /* [ncells], at most one per (job, target, drive, op) */
} rb_row_window_t;

typedef struct {
    uint32_t phase, job, target, drive, worker;
    int64_t first_due_at_ns;    /* due time of the first operation */
    int64_t first_submit_at_ns; /* INT64_MIN: it never submitted */
    int64_t done_at_ns;         /* last completion of its own work; for "to_last" */
    int64_t end_at_ns;          /* when it stopped submitting */
    bool finished;              /* it did all of its io_size / number_ios */
    uint64_t unfinished;        /* in flight at Te */
    uint64_t oldest_unfinished_ns;
    uint64_t cpu_ns, wall_ns; /* user + system time, and length, of its part of M */
    uint64_t offered_ops;     /* open loop: operations due in M; 0 in a closed loop */
    rb_hist_sparse_t turn;    /* worker loop turns in M [ns] */
    /* What was due at a time of its own (open loop, thinktime) and had a free slot then: from due
     * to submitted in M [ns]. Older rows have none. */
    rb_hist_sparse_t lateness;
    int64_t stopped_at_ns; /* when it had seen its end: nothing was submitted after it (older
                              rows: end_at_ns) */
} rb_row_worker_t;

typedef struct {
    uint64_t ios, sectors; /* sectors of 512 bytes */
} rb_kernel_counter_t;

typedef struct {
    uint32_t phase, target, drive;
    rb_kernel_counter_t op[3]; /* read, write, discard = trim */
} rb_row_kernel_t;

typedef struct {
    int32_t phase; /* -1: none */
    int64_t at_ns;
    char *kind; /* a word: io_error, iowq, lease_expired, ... */
    char *text;
} rb_row_event_t;

typedef struct {
    uint32_t target, drive;
    char *path;
    uint64_t size_bytes;
} rb_drive_ref_t;

typedef struct {
    uint32_t phase;
    size_t ndrives;
    rb_drive_ref_t *drives; /* [ndrives] */
} rb_row_drives_t;

typedef struct {
    uint32_t phase, target, drive;
    bool reused;
    uint64_t ops, bytes, took_ns;
    rb_hist_sparse_t service;
} rb_row_layout_t;

/* What a drive can say of itself. Source: NVM Express Base Specification 2.0, SMART / Health
 * Information log; OCP Datacenter NVMe SSD Specification 2.0, log 0xC0, for the last but one. */
typedef enum {
    RB_HEALTH_TEMPERATURE,      /* composite [degrees Celsius] */
    RB_HEALTH_SENSOR_MAX,       /* the hottest sensor [degrees Celsius] */
    RB_HEALTH_WARNING,          /* critical warning, a bit each: RB_WARNING_... */
    RB_HEALTH_SPARE,            /* available [percent] */
    RB_HEALTH_SPARE_THRESHOLD,  /* [percent] */
    RB_HEALTH_USED,             /* of its rated life [percent], may exceed 100 */
    RB_HEALTH_UNITS_READ,       /* data units of RB_DATA_UNIT bytes */
    RB_HEALTH_UNITS_WRITTEN,    /* likewise */
    RB_HEALTH_HOST_READS,       /* commands */
    RB_HEALTH_HOST_WRITES,      /* commands */
    RB_HEALTH_POWER_ON_HOURS,   /* */
    RB_HEALTH_MEDIA_ERRORS,     /* */
    RB_HEALTH_WARM_MINUTES,     /* above its warning temperature */
    RB_HEALTH_HOT_MINUTES,      /* above its critical temperature */
    RB_HEALTH_THROTTLES_LIGHT,  /* times it slowed itself down to cool */
    RB_HEALTH_THROTTLES_HEAVY,  /* ... at any price */
    RB_HEALTH_THROTTLED_LIGHT,  /* [s] */
    RB_HEALTH_THROTTLED_HEAVY,  /* [s] */
    RB_HEALTH_PHYSICAL_WRITTEN, /* to the flash itself [bytes] */
    RB_HEALTH_POWER_STATE,      /* */
    RB_HEALTH_COUNT
} rb_health_figure_t;
extern const char *const rb_health_names[RB_HEALTH_COUNT]; /* with their units */

enum {
    RB_DATA_UNIT = 512000, /* bytes; the drive rounds up */
    RB_WARNING_SPARE = 1,
    RB_WARNING_TEMPERATURE = 2,
    RB_WARNING_RELIABILITY = 4,
    RB_WARNING_READ_ONLY = 8,
    RB_WARNING_BACKUP = 16
};
#define RB_HEALTH_UNKNOWN INT64_MIN

typedef struct {
    uint32_t target, drive;
} rb_disk_place_t;

typedef struct {
    char *path; /* of the disk, whatever the plan calls it */
    char *serial, *firmware;
    size_t nplaces;
    rb_disk_place_t *places; /* [nplaces] drives and files of the plan that are on it */
    uint32_t link_mts,
        link_width; /* PCIe: mega-transfers per second and lane, lanes; 0: not known */
    uint32_t link_max_mts, link_max_width; /* what the drive could */
    int64_t figure[RB_HEALTH_COUNT];
} rb_health_drive_t;

typedef enum {
    RB_HEALTH_BEGIN,  /* before READY */
    RB_HEALTH_DURING, /* between T0 and the end */
    RB_HEALTH_END,    /* all I/O is complete */
    RB_HEALTH_WHENS
} rb_health_when_t;

enum { RB_MAX_HEALTH_DRIVES = 4096 }; /* of a row */

typedef struct {
    uint32_t phase;
    rb_health_when_t when;
    int64_t at_ns;    /* when the first drive was asked */
    uint64_t took_ns; /* until the last one had answered */
    size_t ndrives;
    rb_health_drive_t *drives; /* [ndrives] */
    int64_t cpu_mhz;           /* mean over the processors */
    int64_t energy_uj;         /* of the processor packages, since the phase's first reading */
} rb_row_health_t;

typedef struct {
    char *id, *name, *version;
    uint64_t started_wall_ns;
    rb_bytes_t plan; /* protobuf of the resolved plan */
    size_t nmarks;
    char **marks; /* "insecure", ... */
} rb_row_run_t;

/* Of the time between two looks at the kernel's counters [ppm of its ticks]. */
typedef struct {
    uint32_t cpu;
    bool of_workers;      /* a worker may run on it */
    uint32_t busy_ppm;    /* user, system, interrupts and softirqs; steal is not */
    uint32_t softirq_ppm; /* softirqs and interrupts */
    uint32_t steal_ppm;   /* taken by the hypervisor */
} rb_cpu_share_t;

typedef struct {
    uint32_t phase;
    uint64_t wall_ns;  /* between the two looks */
    uint64_t agent_ns; /* user + system time of all threads of the agent, its io-wq threads too */
    size_t ncpus;
    rb_cpu_share_t *cpus; /* [ncpus], at most RB_MAX_CPUS */
} rb_row_cpu_t;

/* How a worker's CPUs were chosen. */
typedef enum {
    RB_PLACE_ANY,   /* the scheduler's choice */
    RB_PLACE_NEAR,  /* the CPUs of the drive's NUMA node */
    RB_PLACE_AUTO,  /* one of its own */
    RB_PLACE_LIST,  /* those that the plan names */
    RB_PLACE_SPLIT, /* one of those */
    RB_PLACE_COUNT
} rb_place_how_t;
extern const char *const rb_place_names[RB_PLACE_COUNT]; /* "any", "near", ... */

typedef struct {
    uint32_t job, target, drive, worker;
    rb_place_how_t how;
    uint32_t ncpus;     /* that it may run on */
    int32_t cpu;        /* the one, -1: several */
    int32_t node;       /* NUMA node of its CPUs and memory, -1: several */
    int32_t drive_node; /* of its drive, -1: not known */
} rb_worker_place_t;

typedef struct {
    uint32_t phase;
    size_t nplaces;
    rb_worker_place_t *places; /* [nplaces], at most RB_MAX_WORKERS */
} rb_row_placement_t;

typedef struct {
    uint32_t host; /* 1.. */
    char *name;
    rb_bytes_t inventory; /* protobuf */
    size_t nlabels;
    char **labels; /* "key=value" */
} rb_row_host_t;

typedef struct {
    uint32_t host;
    uint64_t at_ns;    /* coordinator's clock */
    int64_t offset_ns; /* agent - coordinator */
    uint64_t bound_ns; /* |true offset - offset_ns| <= bound_ns */
    uint64_t rtt_ns;   /* best */
    int64_t drift_ppb;
} rb_row_clock_t;

typedef struct {
    uint32_t phase;
    uint64_t t0_ns;      /* coordinator's clock */
    uint64_t t0_wall_ns; /* since 1970 */
    size_t nhosts;
    uint32_t *hosts;     /* [nhosts] that take part */
    uint64_t *bounds_ns; /* [nhosts] clock bound of each at the start */
} rb_row_phase_start_t;

typedef struct {
    uint32_t phase;
    int64_t te_at_ns; /* decided end of M; INT64_MAX: as planned */
    bool truncated;
    size_t nlost;
    uint32_t *lost; /* [nlost] hosts whose rows are not complete */
    char *reason;   /* of a verdict that ended it before its time; NULL or "": none */
} rb_row_phase_end_t;

typedef struct {
    uint32_t host;  /* 0: the run itself */
    int32_t phase;  /* -1: none */
    uint64_t at_ns; /* coordinator's clock, absolute */
    char *kind;
    char *text;
} rb_row_note_t;

typedef struct {
    uint32_t phase;      /* number of the step in the run */
    uint32_t plan_phase; /* index in the plan */
    uint32_t step;       /* of this phase of the plan, from 1 */
    rb_bytes_t override; /* protobuf of the phase as it is run; empty: as the plan has it */
} rb_row_step_t;

typedef struct {
    uint32_t phase, job;
    uint64_t rate_iops; /* that was offered; 0: the closed loop that finds the ceiling */
    uint64_t offered_ops, ops, length_ns; /* of M; offered 0 in the closed loop */
    uint64_t quantile_ns;                 /* of response */
    bool uncertain;                       /* fewer than 10 operations beyond it */
    bool kept;                            /* it kept the target */
    char *verdict;                        /* "": the search goes on */
} rb_row_search_t;

typedef struct {
    char *status; /* done | truncated | refused | failed | host_lost */
    uint32_t exit_code;
    uint64_t at_ns; /* coordinator's clock, absolute */
    char *text;     /* the one error line, "" if none */
} rb_row_run_end_t;

typedef struct {
    uint32_t host; /* 1.. */
    char *name;
    char *address; /* "10.77.0.3:7411" that is dialled; "": it dials us */
    char *key;     /* its public key; "": none */
    char *listen;  /* ... here; "local": it was embedded; "" */
    size_t nlabels;
    char **labels; /* "key=value" */
} rb_row_reach_t;

/* What a reading of power is of. */
typedef enum {
    RB_SCOPE_PACKAGE, /* processors */
    RB_SCOPE_DRIVE,   /* the drives that are measured, of a host together */
    RB_SCOPE_CHASSIS, /* the whole host */
    RB_SCOPE_PDU,     /* what a socket feeds */
    RB_SCOPE_COUNT
} rb_power_scope_t;
extern const char *const rb_power_scopes[RB_SCOPE_COUNT]; /* "package", ... */

typedef struct {
    uint32_t host; /* 0: all of the run together */
    rb_power_scope_t scope;
    uint64_t at_wall_ns; /* since 1970 */
    uint64_t mw;
} rb_watts_reading_t;

enum { RB_MAX_ROW_WATTS = 4096 }; /* readings of a row */

typedef struct {
    size_t nreadings;
    rb_watts_reading_t *readings; /* [nreadings] */
} rb_row_watts_t;

typedef struct {
    rb_row_kind_t kind;
    uint64_t seq;
    union {
        rb_row_window_t window;
        rb_row_worker_t worker;
        rb_row_kernel_t kernel;
        rb_row_event_t event;
        rb_row_drives_t drives;
        rb_row_layout_t layout;
        rb_row_cpu_t cpu;
        rb_row_placement_t placement;
        rb_row_health_t health;
        rb_row_kv_parts_t kv_parts;
        rb_row_kv_drive_t kv_drive;
        rb_row_run_t run;
        rb_row_host_t host;
        rb_row_clock_t clock;
        rb_row_phase_start_t phase_start;
        rb_row_phase_end_t phase_end;
        rb_row_note_t note;
        rb_row_run_end_t run_end;
        rb_row_step_t step;
        rb_row_search_t search;
        rb_row_reach_t reach;
        rb_row_watts_t watts;
    };
} rb_row_t;

/* Row -> bytes; the caller owns the result. A NULL string packs as "", a histogram of count 0 as
 * nil. Beyond the limits of proto/README.md it is a programmer's error. */
rb_bytes_t rb_row_pack(const rb_row_t *row);
/* Bytes -> row. On failure *ret_row is cleared. An empty histogram decodes with min UINT64_MAX. */
int rb_row_unpack(const void *data, size_t size, rb_row_t *ret_row, rb_err_t *err);
/* Kind and seq alone, without decoding the rest (the hub needs no more). */
int rb_row_peek(const void *data, size_t size, rb_row_kind_t *ret_kind, uint64_t *ret_seq,
                rb_err_t *err);
/* Frees what a decoded row owns and zeroes it. */
void rb_row_clear(rb_row_t *row);
void rb_health_drive_clear(rb_health_drive_t *drive); /* likewise */
