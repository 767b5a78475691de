#!/usr/bin/env bash
# Agents, the coordinator or the user end a run in its middle: no I/O goes on unwatched, what was
# measured is shown and says that it is not the whole, and the agents are free for the next run.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbl$$"
dev=$(loop_make 32)
cat >"$TMP/plan.yaml" <<PLAN
name: loss
interval: 250ms
lease: 1s
targets:
  d: {devices: [$dev]}
phases:
  - name: reading
    runtime: 20s
    jobs:
      - {name: j, target: d, rw: randread, iodepth: 2, rate_iops: 300}
PLAN

# start_run DIRECTORY N ARGUMENT...: in the background, on hosts 1 to N; RUN is its pid. Returns
# when a second of it is measured.
start_run()
{
    local directory=$1 count=$2
    shift 2
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$directory" \
        --hosts "10.77.0.[1-$count]" "$@"
    RUN=$!
    wait_for 8 running
    sleep 1.3
}

# end_run STATUS SECONDS: the run ends with it, within so long; OUTPUT is what it said.
end_run()
{
    local want=$1 end=$(($(date +%s%N) + $2 * 1000000000)) got=0
    wait "$RUN" || got=$?
    check "ended within $2 s" [ "$(date +%s%N)" -lt "$end" ]
    OUTPUT=$(cat "$TMP/run.out" "$TMP/run.err")
    if [ "$got" != "$want" ]; then
        echo "$OUTPUT" >&2
        fail "the run ended with $got instead of $want"
    fi
    echo "ok: the run ended with $want"
}

expect_busy()
{
    local before
    before=$(agents_io read_bytes)
    sleep 0.2
    check "$1" [ "$(agents_io read_bytes)" -gt "$before" ]
}

# All agents, also one that was ended, take the next run.
expect_free()
{
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --hosts "10.77.0.[1-3]" \
        --output "$1" --set phases.0.runtime=300ms
}

test_killed_agent()
{
    start_run "$TMP/killed" 3
    kill -KILL "${AGENT[3]}"
    end_run 5 4
    expect_match "rackbench: agent 10\.77\.0\.3: no answer for [0-9.]+ s" "$OUTPUT"
    expect_match "10\.77\.0\.1 +[0-9]+ .*%" "$OUTPUT"
    expect_match "10\.77\.0\.3 .* lost" "$OUTPUT"
    expect_still read_bytes "the others have stopped"
    check_json "$TMP/killed/result.json" '.run.status == "host_lost"'
    check_json "$TMP/killed/result.json" '[.events[] | select(.kind == "host_lost").host] ==
        ["10.77.0.3"]'
    check_json "$TMP/killed/result.json" '.phases[0] | .marks | contains(["truncated"])'
    # What the lost host had delivered counts: a second of it at the least.
    check_json "$TMP/killed/result.json" '.phases[0].hosts | map(.total.read.ops) | min > 250'
    check_json "$TMP/killed/result.json" '.phases[0].interval.common_share < 0.999'
    check_json "$TMP/killed/result.json" '.phases[0].hosts | .["10.77.0.3"].lost |
        .after_ns >= 1000000000 and (.why | test("no answer for"))'
    check_json "$TMP/killed/result.json" '.phases[0].hosts["10.77.0.1"] | has("lost") | not'
    check_json "$TMP/killed/result.json" '.phases[0].start.hosts == 2'
    expect_match "start skew .* \(2 of 3 hosts told\)" "$OUTPUT"
    agent_up "$net" 3 10.77.0.3
    expect_free "$TMP/killed.next"
}

test_continue()
{
    start_run "$TMP/continue" 3 --set on_host_loss=continue --set phases.0.runtime=4s
    kill -KILL "${AGENT[3]}"
    end_run 5 8
    expect_match "rackbench: 1 of 3 hosts were lost" "$OUTPUT"
    check_json "$TMP/continue/result.json" '.run.status == "host_lost" and
        .phases[0].seconds == 4'
    check_json "$TMP/continue/result.json" '.phases[0].hosts | .["10.77.0.1"].total.read.ops >= 1195
        and .["10.77.0.2"].total.read.ops >= 1195 and .["10.77.0.3"].total.read.ops < 1000'
    agent_up "$net" 3 10.77.0.3
    start_run "$TMP/enough" 3 --set on_host_loss=continue --set min_hosts=2 \
        --set phases.0.runtime=4s
    kill -KILL "${AGENT[3]}"
    end_run 0 8
    check_json "$TMP/enough/result.json" '.run.status == "done" and
        ([.events[] | select(.kind == "host_lost").host] == ["10.77.0.3"])'
    agent_up "$net" 3 10.77.0.3
}

test_terminated_agent()
{
    local status=0 start_ns
    start_run "$TMP/terminated" 3
    start_ns=$(date +%s%N)
    kill -TERM "${AGENT[2]}"
    wait "${AGENT[2]}" || status=$?
    check "SIGTERM ends an agent in order" [ "$status" = 0 ]
    check "and at once" [ $(($(date +%s%N) - start_ns)) -lt 1000000000 ]
    end_run 5 4
    expect_match "agent 10\.77\.0\.2: " "$OUTPUT"
    expect_still read_bytes "the others have stopped"
    agent_up "$net" 2 10.77.0.2
}

test_killed_coordinator()
{
    start_run "$TMP/headless" 3
    kill -KILL "$RUN"
    wait "$RUN" 2>/dev/null || true
    expect_busy "the agents go on for the lease"
    sleep 1.3
    expect_still read_bytes "and have stopped within the lease and half a second"
    check "they say why" grep -q "lease_expired" "$TMP/agent.1.log"
    expect_exit 0 coordinate "$net" report "$TMP/headless"
    expect_match "3 hosts, .* truncated" "$OUTPUT"
    expect_match "read response +[0-9.]+" "$OUTPUT"
    coordinate "$net" report "$TMP/headless" --format json >"$TMP/headless.json"
    check_json "$TMP/headless.json" '.run.status == "truncated"'
    check_json "$TMP/headless.json" '.phases[0].hosts | map(.total.read.ops) | min > 250'
    expect_free "$TMP/headless.next"
}

test_interrupt()
{
    start_run "$TMP/interrupted" 3
    kill -INT "$RUN"
    sleep 0.6
    expect_still read_bytes "every agent has stopped within a second"
    end_run 130 1
    expect_match "loss \([a-z0-9]+\): 3 hosts, .* truncated" "$OUTPUT"
    expect_match "read response +[0-9.]+" "$OUTPUT"
    expect_match "rackbench: interrupted" "$OUTPUT"
    check_json "$TMP/interrupted/result.json" '.run.status == "truncated" and
        (.phases[0].marks | contains(["truncated"]))'
    # Until the common Te all of them: nobody delivered more of it than the others.
    check_json "$TMP/interrupted/result.json" '.phases[0].hosts | map(.total.read.ops) |
        min > 250 and max - min <= 3'
    expect_free "$TMP/interrupted.next"
}

# An agent that does not stop when asked: the first Ctrl-C waits for it, the second does not.
test_interrupt_twice()
{
    start_run "$TMP/twice" 3 --set lease=20s
    kill -STOP "${AGENT[1]}"
    kill -INT "$RUN"
    sleep 0.3
    check "it waits for the agent that is stopped" kill -0 "$RUN"
    kill -INT "$RUN"
    end_run 130 1
    expect_match "read response +[0-9.]+" "$OUTPUT"
    check_json "$TMP/twice/result.json" '.run.status == "truncated"'
    kill -CONT "${AGENT[1]}"
    sleep 0.5
    expect_still read_bytes "the agent that woke up stops too"
    expect_free "$TMP/twice.next"
}

# ended PID: it is gone, or waits for its new parent to take notice.
ended()
{
    ! grep -q '^State:[[:space:]]*[^Z]' "/proc/$1/status" 2>/dev/null
}

# Embedded agents are ours: they end with us.
test_embedded()
{
    local pids pid
    rm -f "$TMP/run.err"
    rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch.local" \
        --output "$TMP/embedded" >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    RUN=$!
    wait_for 8 running
    pids=$(pgrep -P "$RUN" rackbench-agent)
    check "two agents are its children" [ "$(wc -l <<<"$pids")" = 2 ]
    sleep 1.3
    kill -KILL "$(head -n 1 <<<"$pids")"
    end_run 5 3
    expect_match "rackbench: agent local1: its process has ended" "$OUTPUT"
    expect_match "local1 .* lost" "$OUTPUT"

    rm -f "$TMP/run.err"
    rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch.local" \
        --output "$TMP/embedded2" >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    RUN=$!
    wait_for 8 running
    pids=$(pgrep -P "$RUN" rackbench-agent)
    kill -KILL "$RUN"
    wait "$RUN" 2>/dev/null || true
    for pid in $pids; do
        wait_for 5 ended "$pid"
    done
    echo "ok: they end when the coordinator is killed"
}

netns_up "$net" 3
agents_up "$net" 3
test_killed_agent
test_continue
test_terminated_agent
test_killed_coordinator
test_interrupt
test_interrupt_twice
test_embedded
