#!/usr/bin/env bash
# One agent serves run after run: memory, files and threads stay what they were after the first ones,
# over many short phases and many short runs; told to end in the middle, it drains and goes; restarted
# under the same address, it takes the next run.
# RB_LIFE_PHASES says how many phases (default 200; 1000 take three minutes).
source "$(dirname "$0")/../lib/check.sh"

phases=${RB_LIFE_PHASES:-200}
# A sanitizer's quarantine grows by design.
! grep -q "^RB_SANITIZE:STRING=..*" "${RACKBENCH_BUILD:-$ROOT/build}/CMakeCache.txt" ||
    skip "memory is not flat under a sanitizer"

# plan N: a plan of N phases of 5 ms, each with two jobs on four files.
plan()
{
    local i
    cat <<'PLAN'
name: life
interval: 100ms
max_skew: 1s
targets:
  s: {size: 128KiB, files: 4}
phases:
PLAN
    for ((i = 0; i < $1; i++)); do
        echo "  - {name: p$i, runtime: 5ms, jobs: [{target: s, rw: randread, iodepth: 4},"
        echo "      {target: s, rw: randwrite, iodepth: 4, verify: true}]}"
    done
}

agent_start()
{
    rackbench-agent --listen "tcp://127.0.0.1:$PORT" --scratch "$TMP/scratch" >"$TMP/agent.log" 2>&1 &
    AGENT=$!
    at_exit end_agent "$AGENT"
    wait_for 5 grep -q "listening on" "$TMP/agent.log"
}

# An agent may have ended by then.
end_agent()
{
    kill -KILL "$1" 2>/dev/null || true
}

run_plan()
{
    rackbench run "$1" --hosts "127.0.0.1:$PORT" --output "$TMP/run" --quiet >"$TMP/out" 2>&1 ||
        fail "run: $(tail -n 1 "$TMP/out")"
    rm -r "$TMP/run"
}

# measure: RSS [KiB], FDS and THREADS of the agent.
measure()
{
    RSS=$(awk '$1 == "VmRSS:" {print $2}' "/proc/$AGENT/status")
    THREADS=$(awk '$1 == "Threads:" {print $2}' "/proc/$AGENT/status")
    FDS=$(find "/proc/$AGENT/fd" -mindepth 1 | wc -l)
    echo "RSS $RSS KiB, $FDS files, $THREADS threads"
}

# same_as_before WHAT: against what was measured last; a little more is no leak.
same_as_before()
{
    local rss=$RSS fds=$FDS threads=$THREADS
    measure
    check "$1: memory is flat" [ "$RSS" -le $((rss + 512)) ]
    check "$1: no file stays open" [ "$FDS" -eq "$fds" ]
    check "$1: no thread stays" [ "$THREADS" -eq "$threads" ]
}

test_many_phases()
{
    plan "$phases" >"$TMP/phases.yaml"
    run_plan "$TMP/phases.yaml" # a plan of this size has its place in memory now
    measure
    run_plan "$TMP/phases.yaml"
    same_as_before "after $phases phases"
}

test_many_runs()
{
    local i
    plan 1 >"$TMP/one.yaml"
    for ((i = 0; i < 20; i++)); do
        run_plan "$TMP/one.yaml"
    done
    same_as_before "after 20 runs"
}

# As a service manager does it, again and again.
test_restarts()
{
    local i status
    for i in 1 2 3; do
        status=0
        sed 's/runtime: 5ms/runtime: 20s/' "$TMP/one.yaml" >"$TMP/long.yaml"
        rm -f "$TMP/err" # of the run before: it must not be taken for this one's
        rackbench run "$TMP/long.yaml" --hosts "127.0.0.1:$PORT" --output "$TMP/cut$i" \
            >"$TMP/out" 2>"$TMP/err" &
        local run=$!
        wait_for 8 grep -q running "$TMP/err"
        kill -TERM "$AGENT"
        wait "$AGENT" || status=$?
        check "told to end, it ends in order" [ "$status" = 0 ]
        status=0
        wait "$run" || status=$?
        check "its run says that it was lost" [ "$status" = 5 ]
        expect_match "agent 127\.0\.0\.1:$PORT: it was told to end" "$(cat "$TMP/err")"
        agent_start
        run_plan "$TMP/one.yaml"
    done
}

PORT=$((20000 + $$ % 10000))
agent_start
test_many_phases
test_many_runs
test_restarts
