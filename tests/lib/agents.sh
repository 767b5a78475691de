# shellcheck shell=bash
# agents.sh - rackbench-agent on the hosts of a network; source it after netns.sh.
#
# AGENT[I] is the pid of host I's agent, $TMP/agent.I.log what it said, $TMP/scratch.I its files.
# They end with the network (netns_down).

AGENT=()
command -v rackbench-agent >/dev/null || fail "no rackbench-agent in $PATH; set RACKBENCH_BUILD"

# agent_up PREFIX I ADDRESS [OPTION]...: a listening agent on host I, and waits until it listens.
agent_up()
{
    local net=$1 i=$2 address=$3
    shift 3
    agent_spawn "$net" "$i" --listen "tcp://$address:7411" "$@"
    wait_for 5 grep -q "listening on" "$TMP/agent.$i.log"
}

# agents_up PREFIX N [OPTION]...: the same on hosts 1 to N of a network that begins at 10.77.0.1.
agents_up()
{
    local net=$1 count=$2 i
    shift 2
    for ((i = 1; i <= count; i++)); do
        agent_up "$net" "$i" "10.77.0.$i" "$@"
    done
}

# agent_spawn PREFIX I OPTION...: an agent on host I, listening or dialling as the options say.
agent_spawn()
{
    local net=$1 i=$2
    shift 2
    netns_spawn "$net" "$i" rackbench-agent --insecure --scratch "$TMP/scratch.$i" "$@" \
        >"$TMP/agent.$i.log" 2>&1
    # shellcheck disable=SC2034 # for the test to kill
    AGENT[i]=$!
}

# coordinate PREFIX ARGUMENT...: rackbench in the coordinator's namespace.
coordinate()
{
    local net=$1
    shift
    netns_exec "$net" c rackbench "$@"
}

# coordinate_spawn PREFIX ARGUMENT...: the same in the background; $! is its pid, $TMP/run.out and
# $TMP/run.err hold what it says.
coordinate_spawn()
{
    local net=$1
    shift
    rm -f "$TMP/run.err" # of the run before: it must not be taken for this one's
    netns_spawn "$net" c rackbench "$@" >"$TMP/run.out" 2>"$TMP/run.err" </dev/null
}

# running: the run in the background is between T0 and the end of its phase (give it to wait_for).
running()
{
    grep -q " running " "$TMP/run.err"
}

# agents_io KEY: what the agents have moved until now by their /proc/PID/io (read_bytes, write_bytes).
# The device's own counters would do, were it not for what else looks at the drives of a machine.
agents_io()
{
    local pid
    for pid in "${AGENT[@]}"; do
        awk -v key="$1:" '$1 == key {print $2}' "/proc/$pid/io" 2>/dev/null || true
    done | awk '{sum += $1} END {printf "%d\n", sum}'
}

# expect_still KEY MESSAGE: no agent moves anything for 0.4 s.
expect_still()
{
    local before
    before=$(agents_io "$1")
    sleep 0.4
    check "$2" [ "$(agents_io "$1")" = "$before" ]
}
