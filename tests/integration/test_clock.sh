#!/usr/bin/env bash
# Hosts whose clocks lie hours apart and drift by 100 ppm start together all the same, and each
# clock's bound holds: the truth is known, as it is one machine's. Wall clocks that say otherwise are
# an event.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbk$$"
hour=3600000000000
cat >"$TMP/plan.yaml" <<'PLAN'
name: clock
interval: 250ms
max_skew: 200ms
targets:
  s: {size: 1MiB}
phases:
  - name: a
    runtime: 1500ms
    jobs: [{name: j, target: s, rw: randread, bs: 4KiB, rate_iops: 200}]
  - name: b
    runtime: 500ms
    jobs: [{name: j, target: s, rw: randread, bs: 4KiB, rate_iops: 200}]
PLAN

# run DIRECTORY [OPTION]...: the plan on all hosts.
run()
{
    local directory=$1
    shift
    coordinate "$net" run "$TMP/plan.yaml" --hosts "10.77.0.[1-4]" --insecure --quiet \
        --output "$directory" "$@"
}

# In a time namespace the whole process has another CLOCK_MONOTONIC, as on a host of its own.
agent_in_time_namespace()
{
    netns_spawn "$net" 4 unshare --time --monotonic 7200 --fork rackbench-agent --insecure \
        --scratch "$TMP/scratch.4" --listen tcp://10.77.0.4:7411 >"$TMP/agent.4.log" 2>&1
    wait_for 5 grep -q "listening on" "$TMP/agent.4.log"
}

test_options()
{
    expect_exit 1 rackbench-agent --test-clock 2h,x
    expect_match "--test-clock: 'x' is no drift in ppm; from -1000 to 1000 is right" "$OUTPUT"
    expect_exit 1 env RACKBENCH_TEST_WALL=5ms rackbench-agent
    expect_match "RACKBENCH_TEST_WALL: '5ms' is not AHEAD,MAXERROR" "$OUTPUT"
    expect_exit 1 env RACKBENCH_TEST_WALL=5ms rackbench hosts --local 1
    expect_match "RACKBENCH_TEST_WALL: '5ms' is not AHEAD,MAXERROR" "$OUTPUT"
}

test_clocks_apart()
{
    local result=$TMP/apart/result.json
    expect_exit 0 run "$TMP/apart"
    # The first drifts from the moment that its agent began, some seconds ago: 100 us a second.
    check_json "$result" ".hosts[0].clock.offset_ns - 2 * $hour | fabs < 20000000"
    check_json "$result" ".hosts[1].clock | (.offset_ns - 36 * $hour | fabs) <= .bound_ns"
    check_json "$result" '.hosts[2].clock | (.offset_ns | fabs) <= .bound_ns'
    check_json "$result" ".hosts[3].clock | (.offset_ns - 2 * $hour | fabs) <= .bound_ns"
    check_json "$result" '[.phases[].start | .skew_ns < 200000000 and .bound_ns < 50000000] | all'
    check_json "$result" '[.phases[].start.first_io_ns[] | fabs < 200000000] | all'
    # 200 a second, to the last window.
    check_json "$result" '.phases[0].cluster.read.ops | . >= 1190 and . <= 1200'
    check_json "$result" '[.events[] | select(.kind == "max_skew" or .kind == "clock_disagrees")] == []'
}

# Of the agents' wall clocks one agrees with ours, one is an hour ahead, two are what they are here:
# of the second, 36 h by messages are 35 h by the wall clocks.
test_second_opinion()
{
    local result=$TMP/opinion/result.json
    RACKBENCH_TEST_WALL=0s,1ms expect_exit 0 run "$TMP/opinion"
    check_json "$result" '[.events[] | select(.kind == "clock_disagrees") | .host] == ["10.77.0.2"]'
    check_json "$result" '.events[] | select(.kind == "clock_disagrees") |
        .text | test("by the wall clocks of both hosts \\+12(5999|6000)[0-9.]+ us")'
    check_json "$result" '.hosts[0].wall_clock | .synchronised and .maxerror_ns >= 1000000'
    check_json "$result" '[.hosts[].wall_clock | has("synchronised") and has("maxerror_ns")] | all'
}

test_options
netns_up "$net" 4
RACKBENCH_TEST_WALL=0s,1ms agent_up "$net" 1 10.77.0.1 --test-clock 2h,100
RACKBENCH_TEST_WALL=1h,1ms agent_up "$net" 2 10.77.0.2 --test-clock 36h
agent_up "$net" 3 10.77.0.3
agent_in_time_namespace
test_clocks_apart
test_second_opinion
