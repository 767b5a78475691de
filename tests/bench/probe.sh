# shellcheck shell=bash
# probe.sh - one stamp for every tool: by bpftrace, when a command began and ended in the coordinator's
# namespace, and when each host's first submission entered the kernel. Source it after netns.sh.

# probe_up PREFIX N TOOL...: watches hosts 1 to N and the commands TOOL; $TMP/probe gets a line an event.
# A submission is the first of its host when none came for 40 ms.
probe_up()
{
    local net=$1 count=$2 i tool where=""
    shift 2
    local space='((struct task_struct *)curtask)->nsproxy->net_ns->ns.inum'
    command -v bpftrace >/dev/null || skip "needs bpftrace"
    for ((i = 1; i <= count; i++)); do
        where+="${where:+ || }$space == $(stat -L -c %i "/run/netns/$net-$i")"
    done
    cat >"$TMP/probe.bt" <<BPF
BEGIN { printf("ready\n"); }
tracepoint:io_uring:io_uring_submit_req /$where/
{
    \$host = $space;
    if (nsecs - @last[\$host] > 40000000) { printf("io %u %llu\n", \$host, nsecs); }
    @last[\$host] = nsecs;
}
BPF
    for tool in "$@"; do
        cat >>"$TMP/probe.bt" <<BPF
tracepoint:sched:sched_process_exec /comm == "$tool" &&
    $space == $(stat -L -c %i "/run/netns/$net-c")/ { printf("exec $tool %llu\n", nsecs); }
tracepoint:sched:sched_process_exit /pid == tid && comm == "$tool" &&
    $space == $(stat -L -c %i "/run/netns/$net-c")/ { printf("exit $tool %llu\n", nsecs); }
BPF
    done
    # shellcheck disable=SC2016 # the inner shell expands it
    unshare --mount bash -c 'mount -t tracefs tracefs /sys/kernel/tracing &&
        exec bpftrace -B line "$0"' "$TMP/probe.bt" >"$TMP/probe" 2>"$TMP/probe.err" &
    at_exit kill $!
    wait_for 20 grep -q ready "$TMP/probe"
}

# probe_take N TOOL: of the last such command: "SKEW_NS FIRST_IO_NS LAST_IO_NS WALL_NS", the middle two
# since it began; fails if not all of the N hosts submitted. To be called after each command.
probe_take()
{
    local tries taken=0
    [ ! -e "$TMP/taken.$2" ] || taken=$(cat "$TMP/taken.$2")
    echo $((taken + 1)) >"$TMP/taken.$2"
    for ((tries = 0; tries < 100; tries++)); do # on a busy machine it comes late, and not in order
        sleep 0.05
        [ "$(grep -c "^exit $2" "$TMP/probe")" -gt "$taken" ] || continue
        probe_parse "$@" || continue
        return 0
    done
    fail "the probe saw: $(tail -8 "$TMP/probe"; cat "$TMP/probe.err")"
}

probe_parse()
{
    sort -n -k 3 -r "$TMP/probe" | awk -v hosts="$1" -v tool="$2" '
        $1 == "exit" && $2 == tool && !end {end = $3}
        $1 == "io" && end {
            n += !($2 in at)
            at[$2] = $3 # backwards: the earliest stays
        }
        $1 == "exec" && $2 == tool && end {begin = $3; exit}
        END {
            for (h in at) {
                if (!first || at[h] < first) first = at[h]
                if (at[h] > last) last = at[h]
            }
            if (!begin || n != hosts) exit 1
            printf "%.0f %.0f %.0f %.0f\n", last - first, first - begin, last - begin, end - begin
        }'
}
