#!/usr/bin/env bash
# Agents that belong to somebody else or to another day: whose they are is said, they are freed on
# request, and another version of the protocol is refused by both sides before anything is started.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbf$$"
others="${RACKBENCH_BUILD:-$ROOT/build}/tests/bin"
cat >"$TMP/plan.yaml" <<'PLAN'
name: fleet
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: reading
    runtime: 20s
    jobs:
      - {name: j, target: s, rw: randread, iodepth: 2, rate_iops: 400}
PLAN

# start DIRECTORY ARGUMENT...: a run on both hosts in the background; RUN is its pid.
start()
{
    local directory=$1
    shift
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$directory" \
        --hosts "10.77.0.[1-2]" "$@"
    RUN=$!
    wait_for 8 running
    sleep 1
}

read_bytes()
{
    awk '$1 == "read_bytes:" {print $2}' "/proc/${AGENT[$1]}/io"
}

test_busy()
{
    start "$TMP/owner"
    expect_exit 3 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/second" \
        --hosts "10.77.0.[1-2]"
    expect_match "agent 10\.77\.0\.[12]: busy with run $(run_id "$TMP/owner") since 20[-0-9]+ \
[:0-9]+ UTC \([0-9]s\); wait .* or free the host by rackbench stop --hosts 10\.77\.0\.[12]" "$OUTPUT"
    expect_exit 3 coordinate "$net" hosts --insecure --hosts "10.77.0.[1-2]"
    expect_match "10\.77\.0\.2  busy with run" "$OUTPUT"
    check "the owner is not disturbed" kill -0 "$RUN"
}

run_id()
{
    coordinate "$net" status "$1" | sed -nE '1s/.*\(([a-z0-9]+)\).*/\1/p'
}

test_stop()
{
    local id before got=0
    id=$(run_id "$TMP/owner")
    expect_exit 2 coordinate "$net" stop --hosts 10.77.0.1
    expect_exit 1 coordinate "$net" stop
    expect_match "which hosts" "$OUTPUT"
    expect_exit 0 coordinate "$net" stop --insecure --hosts "10.77.0.[1-2]"
    expect_match "10\.77\.0\.1  was busy with run $id since .*: stopped, free now" "$OUTPUT"
    expect_match "10\.77\.0\.2  was busy with run $id since .*: stopped, free now" "$OUTPUT"
    before=$(read_bytes 1)
    wait "$RUN" || got=$?
    check "the run ended by the loss of its hosts" [ "$got" = 5 ]
    expect_match "rackbench: agent 10\.77\.0\.[12]: stopped by rackbench stop" "$(cat "$TMP/run.err")"
    check_json "$TMP/owner/result.json" '.phases[0].hosts | map(.total.read.ops) | min > 250'
    check "no more is read" [ "$(read_bytes 1)" = "$before" ]
    expect_exit 0 coordinate "$net" stop --insecure --hosts "10.77.0.[1-2]"
    expect_match "10\.77\.0\.1  was free: nothing to stop" "$OUTPUT"
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/next" \
        --hosts "10.77.0.[1-2]" --set phases.0.runtime=500ms
}

# Of a fleet that is only in part there, what is there is freed and the rest is named.
test_stop_some()
{
    local got=0
    start "$TMP/some" --set on_host_loss=continue --set min_hosts=1 --set phases.0.runtime=4s
    expect_exit 3 coordinate "$net" stop --insecure --hosts "10.77.0.1,10.77.0.2:7499,10.77.0.9" \
        --connect-timeout 2s
    expect_match "10\.77\.0\.1  was busy with run .*free now" "$OUTPUT"
    expect_match "10\.77\.0\.2:7499  NOT free: no answer" "$OUTPUT"
    expect_match "10\.77\.0\.9  NOT free: no answer" "$OUTPUT"
    wait "$RUN" || got=$?
    check "the run goes on with the host that it kept" [ "$got" = 0 ]
    check_json "$TMP/some/result.json" '[.events[] | select(.kind == "host_lost") | .host] ==
        ["10.77.0.1"]'
    check_json "$TMP/some/result.json" '.phases[0].hosts["10.77.0.2"].total.read.ops >= 1590'
}

# An orphan of a killed coordinator, before its lease is over.
test_stop_orphan()
{
    start "$TMP/orphan" --set lease=20s
    kill -KILL "$RUN"
    wait "$RUN" 2>/dev/null || true
    expect_exit 0 coordinate "$net" stop --insecure --hosts "10.77.0.[1-2]"
    expect_match "10\.77\.0\.2  was busy with run .*: stopped, free now" "$OUTPUT"
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/after" \
        --hosts "10.77.0.[1-2]" --set phases.0.runtime=500ms
}

# One host is of the next version: nothing is started anywhere, and both versions are named.
test_next_agent()
{
    netns_spawn "$net" 3 "$others/rackbench-agent.next" --insecure --scratch "$TMP/scratch.3" \
        --listen tcp://10.77.0.3:7411 >"$TMP/next.log" 2>&1
    wait_for 5 grep -q "listening on" "$TMP/next.log"
    expect_exit 3 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/versions" \
        --hosts "10.77.0.[1-3]"
    expect_match "rackbench: agent 10\.77\.0\.3: speaks protocol version 2 \(release 9\.9\.9\), \
this program version 1 \(release [0-9.]+\): use the same release" "$OUTPUT"
    check "no phase was started" [ -z "$(grep -E 'phase reading|running' <<<"$OUTPUT")" ]
    expect_match "frame of protocol version 1: this program speaks version 2" \
        "$(cat "$TMP/next.log")"
    expect_exit 3 coordinate "$net" hosts --insecure --hosts "10.77.0.[1-3]"
    expect_match "10\.77\.0\.3  speaks protocol version 2" "$OUTPUT"
    expect_match "10\.77\.0\.1  $(hostname), Linux" "$OUTPUT"
}

test_next_coordinator()
{
    expect_exit 3 netns_exec "$net" c "$others/rackbench.next" run "$TMP/plan.yaml" --insecure \
        --output "$TMP/versions2" --hosts "10.77.0.[1-2]"
    expect_match "agent 10\.77\.0\.[12]: speaks protocol version 1 \(release [0-9.]+\), \
this program version 2 \(release 9\.9\.9\)" "$OUTPUT"
    expect_match "frame of protocol version 2: this program speaks version 1" \
        "$(cat "$TMP/agent.1.log" "$TMP/agent.2.log")"
}

# It dials out, and so speaks first.
test_next_agent_joins()
{
    netns_spawn "$net" 3 "$others/rackbench-agent.next" --insecure --scratch "$TMP/scratch.3" \
        --name n3 --join tcp://10.77.0.254:7410 >"$TMP/joins.log" 2>&1
    expect_exit 3 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/versions3" \
        --listen tcp://0.0.0.0:7410 --hosts n3
    expect_match "agent n3: frame of protocol version 2: this program speaks version 1" "$OUTPUT"
    wait_for 2 grep -q "speaks protocol version 1 (release .*), this program version 2" \
        "$TMP/joins.log"
    kill $!
}

# Two with one name: the first is the host, the second is told and waits.
test_same_name()
{
    local i first second got=0
    for i in 1 2; do
        netns_spawn "$net" 3 rackbench-agent --insecure --scratch "$TMP/scratch.same$i" \
            --name same --join tcp://10.77.0.254:7410 >"$TMP/same.$i.log" 2>&1
        [ "$i" = 1 ] && first=$! || second=$!
        [ "$i" = 2 ] || start_joined
    done
    wait_for 5 grep -q "the name same is taken by another agent: give this one another --name" \
        "$TMP/same.2.log"
    wait "$RUN" || got=$?
    check "the first does its run" [ "$got" = 0 ]
    check_json "$TMP/same/result.json" '.run.status == "done" and
        ([.events[] | select(.kind == "name_taken") | .host] == ["same"])'
    check "told once" [ "$(grep -c "is taken by another" "$TMP/same.2.log")" = 1 ]
    check "the first knows" [ "$(grep -c "another agent joins by the name" "$TMP/same.1.log")" = 1 ]
    kill "$first"
    wait "$first" || true
    expect_exit 0 coordinate "$net" hosts --insecure --listen tcp://0.0.0.0:7410 --hosts same
    kill "$second"
}

# A run of 4 s on the one that joins; RUN is its pid.
start_joined()
{
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/same" \
        --listen tcp://0.0.0.0:7410 --hosts same --set phases.0.runtime=4s
    RUN=$!
    wait_for 8 running
}

# The protocol is the same, the release is not: it runs, and says so.
test_old_release()
{
    netns_spawn "$net" 3 "$others/rackbench-agent.old" --insecure --scratch "$TMP/scratch.3" \
        --listen tcp://10.77.0.3:7412 >"$TMP/old.log" 2>&1
    wait_for 5 grep -q "listening on" "$TMP/old.log"
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/old" \
        --hosts "10.77.0.1,10.77.0.3:7412" --set phases.0.runtime=500ms
    check_json "$TMP/old/result.json" '[.events[] | select(.kind == "release") | .host] ==
        ["10.77.0.3:7412"]'
    expect_match "10\.77\.0\.3:7412 release: the agent is release 0\.0\.1, the coordinator" "$OUTPUT"
}

netns_up "$net" 3
agent_up "$net" 1 10.77.0.1
agent_up "$net" 2 10.77.0.2
test_busy
test_stop
test_stop_some
test_stop_orphan
test_next_agent
test_next_coordinator
test_next_agent_joins
test_same_name
test_old_release
