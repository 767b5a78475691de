#!/usr/bin/env bash
# power_state: set for the length of a phase and given back whatever ends it: its time, SIGTERM, a
# coordinator that is gone. On a loop device that answers like an NVMe drive (fake_nvme.c).
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

fake=${RACKBENCH_BUILD:-$ROOT/build}/tests/bin/libfake_nvme.so
[ -e "$fake" ] || skip "no $fake: it is built without sanitizers only"
net="rbp$$"
device=$(loop_make 16)
state=$TMP/state
export FAKE_NVME_DEVICE=$device FAKE_NVME_STATE=$state

# plan STATE RUNTIME
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: power
interval: 250ms
lease: 2s
targets: {d: {devices: [$device]}}
phases:
  - {name: p, power_state: $1, runtime: $2, jobs: [{name: j, target: d, rw: randread, rate_iops: 50}]}
PLAN
}

# holds STATE: that is the drive's now (give it to wait_for).
holds()
{
    [ "$(cat "$state")" = "$1" ]
}

# local_run DIRECTORY [OPTION]...: with one agent that believes the drive.
local_run()
{
    local directory=$1
    shift
    LD_PRELOAD=$fake rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/$directory" "$@"
}

test_allowed()
{
    echo 1 >"$state"
    plan 2 1s
    expect_exit 2 local_run refused
    expect_match "sets its power_state, and the agent does not allow changing it" "$OUTPUT"
    check "the drive is as it was" holds 1
}

test_phase()
{
    local pid
    local_run phase --allow-device "$device" >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    pid=$!
    wait_for 10 holds 2
    wait "$pid" || fail "exit status $?: $(cat "$TMP/run.err")"
    check "given back after the phase" holds 1
    check_json "$TMP/phase/result.json" '.run.status == "done" and
        [.events[] | select(.kind == "power_state")] == []'
    plan 5 1s
    expect_exit 1 local_run none --allow-device "$device"
    expect_match "$device has no state 5; the drive has states 0-2" "$OUTPUT"
    check "a wish that fails changes nothing" holds 1
}

# A drive that keeps the state of the phase.
test_stuck()
{
    local pid
    plan 2 2s
    local_run stuck --allow-device "$device" >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    pid=$!
    wait_for 10 holds 2
    touch "$state.stuck"
    wait "$pid" || fail "exit status $?: $(cat "$TMP/run.err")"
    rm "$state.stuck"
    check_json "$TMP/stuck/result.json" "[.events[] | select(.kind == \"power_state\").text] ==
        [\"$device: its power state could not be given back (Input/output error): set it to 1 by hand (nvme set-feature -f 2)\"]"
    check "it has kept it" holds 2
    echo 1 >"$state"
}

# agent_run: the plan by an agent in its own process; $! is the coordinator's.
agent_run()
{
    plan 2 60s
    LD_PRELOAD=$fake agent_up "$net" 1 10.77.0.1 --allow-device "$device"
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --hosts 10.77.0.1 --output "$TMP/$1"
}

test_ends()
{
    local pid
    netns_up "$net" 1
    agent_run term
    pid=$!
    wait_for 20 running
    check "set while it runs" holds 2
    kill -TERM "${AGENT[1]}"
    wait_for 20 holds 1
    echo "ok: SIGTERM gives it back"
    wait "$pid" && fail "the run of an agent that was ended succeeded"

    agent_run lease
    pid=$!
    wait_for 20 running
    check "set while it runs" holds 2
    kill -KILL "$pid"
    wait_for 20 holds 1
    echo "ok: a coordinator that is gone: given back when the lease has run out"
    kill -TERM "${AGENT[1]}"
}

test_allowed
test_phase
test_stuck
test_ends
