#!/usr/bin/env bash
# Four hosts over TCP give one result: the cluster is the sum of its hosts, the start is common, and
# neither clocks hours apart nor the direction of the connection change that.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbc$$"
cat >"$TMP/plan.yaml" <<'PLAN'
name: four
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: mixed
    ramp_time: 500ms
    runtime: 1500ms
    jobs:
      - {name: j, target: s, rw: randrw, bs: 4KiB, iodepth: 4, rate_iops: 400}
PLAN

# run_four DIRECTORY ARGUMENT...: a run that must end well.
run_four()
{
    local directory=$1
    shift
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$directory" "$@"
}

# main_ops FILE.csv host|cluster: operations of the measured windows.
main_ops()
{
    awk -F, -v scope="$2" '$2 == scope && $5 == "main" {sum += $10} END {print sum + 0}' "$1"
}

# In every result: all four measured, none of the operations lost or counted twice.
check_result()
{
    local directory=$1 ops scope
    local result=$directory/result.json
    check_json "$result" '.run.status == "done" and .run.marks == ["insecure"]'
    check_json "$result" '(.hosts | length) == 4 and (.phases[0].hosts | length) == 4'
    check_json "$result" '[.phases[0].hosts[].total.read.ops, .phases[0].hosts[].total.write.ops]
        | min > 50'
    check_json "$result" '.phases[0] | [.cluster.read, .cluster.write | .ops, .bytes, .errors] ==
        [([.hosts[].total.read] | (map(.ops), map(.bytes), map(.errors)) | add),
         ([.hosts[].total.write] | (map(.ops), map(.bytes), map(.errors)) | add)]'
    check_json "$result" '.phases[0].interval | .start_ns == 500000000 and .end_ns == 2000000000'

    coordinate "$net" report "$directory" --format json >"$TMP/again.json"
    check "report prints result.json again, byte for byte" cmp "$result" "$TMP/again.json"
    coordinate "$net" report "$directory" --format csv >"$TMP/rows.csv"
    ops=$(json "$result" '.phases[0].cluster | .read.ops + .write.ops')
    for scope in cluster host; do
        check "CSV rows of scope $scope add up to $ops operations" \
            [ "$(main_ops "$TMP/rows.csv" $scope)" = "$ops" ]
    done
}

# The skew is that of the hosts' first submissions, and it is what the start by appointment gives.
check_start()
{
    local result=$1/result.json
    check_json "$result" '.phases[0].start | .skew_ns == ([.lateness_ns[]] | max - min)'
    check_json "$result" '.phases[0].start | (.lateness_ns | length) == 4 and .bound_ns > 0
        and .bound_ns < 20000000'
    check_json "$result" '.phases[0].start.skew_ns < 50000000'
    check_json "$result" '[.hosts[].clock | .bound_ns > 0 and .rtt_ns > 0] | all'
}

test_run()
{
    netns_up "$net" 4
    agents_up "$net" 4
    run_four "$TMP/first" --hosts "10.77.0.[1-4]"
    check_result "$TMP/first"
    check_start "$TMP/first"
    expect_match "mixed.*10\.77\.0\.3" "$OUTPUT"
    check "each host has laid out its file under its own name" \
        test -f "$TMP/scratch.3/rackbench.10.77.0.3.s.0"
    check_json "$TMP/first/result.json" '.prepare[0].files == {"laid_out": 4, "reused": 0}'
}

test_free_again()
{
    run_four "$TMP/second" --hosts "10.77.0.[1-4]"
    check_json "$TMP/second/result.json" '.prepare == [] or
        .prepare[0].files == {"laid_out": 0, "reused": 4}'
}

# Nothing starts within a nanosecond: an event, and with strict_skew a failed run.
test_max_skew()
{
    run_four "$TMP/skewed" --hosts "10.77.0.[1-4]" --set max_skew=1ns
    check_json "$TMP/skewed/result.json" '[.events[] | select(.kind == "max_skew").text] |
        length == 1 and (.[0] | contains("more than max_skew"))'
    expect_exit 3 coordinate "$net" run "$TMP/plan.yaml" --insecure --hosts "10.77.0.[1-4]" \
        --output "$TMP/strict" --set max_skew=1ns --set strict_skew=true
    expect_match "rackbench: phase mixed: agent 10.* started .* more than max_skew" "$OUTPUT"
}

# Hosts with names and labels of their own; jobs that are for some of them.
test_labels()
{
    cat >"$TMP/hosts.yaml" <<'HOSTS'
hosts:
  - {name: "old[1-2]", address: "10.77.0.[1-2]", labels: {generation: old}}
  - {name: "new[1-2]", address: "10.77.0.[3-4]", labels: {generation: new}}
HOSTS
    sed 's/rw: randrw/rw: randread, on: {generation: new}/' "$TMP/plan.yaml" >"$TMP/new.yaml"
    expect_exit 0 coordinate "$net" run "$TMP/new.yaml" --insecure --output "$TMP/labels" \
        --hosts "$TMP/hosts.yaml"
    check_json "$TMP/labels/result.json" '.phases[0] | (.hosts | keys) == ["new1", "new2"]'
    check_json "$TMP/labels/result.json" '.phases[0] |
        (.groups | keys) == ["generation=new"] and
        .groups["generation=new"].read.ops == .cluster.read.ops'
    check_json "$TMP/labels/result.json" '[.hosts[] | .name + .labels.generation] ==
        ["old1old", "old2old", "new1new", "new2new"]'
}

test_hosts()
{
    expect_exit 0 coordinate "$net" hosts --hosts "10.77.0.[1-4]" --insecure
    for i in 1 2 3 4; do
        expect_match "10\.77\.0\.$i  $(hostname), Linux $(uname -r)" "$OUTPUT"
    done
    expect_match "clock [+-][0-9.]+ us to ours .* round trip [0-9.]+ (u|m)s" "$OUTPUT"
}

test_insecure()
{
    expect_exit 2 coordinate "$net" run "$TMP/plan.yaml" --hosts "10.77.0.[1-4]" \
        --output "$TMP/refused"
    expect_match "rackbench: host 10.77.0.1: refusing to talk .* --insecure" "$OUTPUT"
    check "nothing was laid out for it" [ ! -e "$TMP/refused/journal.rbj" ]
    expect_exit 2 netns_exec "$net" 1 rackbench-agent --listen tcp://10.77.0.1:7499
    expect_match "refusing to talk beyond this machine .*--insecure" "$OUTPUT"
    expect_exit 2 netns_exec "$net" 1 rackbench-agent --join tcp://10.77.0.254:7499
}

test_join()
{
    agent_spawn "$net" 1 --join tcp://10.77.0.254:7410 --name name1
    agent_spawn "$net" 2 --join tcp://10.77.0.254:7410 --name name2
    agent_spawn "$net" 3 --join tcp://10.77.0.254:7410 --name name3
    agent_spawn "$net" 4 --join tcp://10.77.0.254:7410 --name name4
    run_four "$TMP/joined" --listen tcp://0.0.0.0:7410 --hosts name1,name2,name3,name4
    check_result "$TMP/joined"
    check_start "$TMP/joined"
    run_four "$TMP/joined2" --listen tcp://0.0.0.0:7410 --hosts "name[1-4]"
    # One that nobody asked for stays out, and disturbs nothing.
    expect_exit 0 coordinate "$net" hosts --insecure --listen tcp://0.0.0.0:7410 \
        --hosts "name[1-3]"
    check "the uninvited host is not listed" [ -z "$(grep name4 <<<"$OUTPUT")" ]
}

# ahead SECONDS COMMAND...: runs it with a CLOCK_MONOTONIC so far ahead.
ahead()
{
    local seconds=$1
    shift
    unshare -T --monotonic "$seconds" --fork --kill-child "$@"
}

test_clocks()
{
    local i offset_s=(0 0 36000 7200 3)
    ahead 100 true || skip "no time namespaces here"
    for i in 1 2 3 4; do
        netns_spawn "$net" "$i" unshare -T --monotonic "${offset_s[i]}" --fork --kill-child \
            rackbench-agent --insecure --scratch "$TMP/scratch.$i" \
            --listen "tcp://10.77.0.$i:7412" >"$TMP/late.$i.log" 2>&1
        wait_for 5 grep -q "listening on" "$TMP/late.$i.log"
    done
    # The coordinator is ten hours ahead of the first host and as far as the second.
    expect_exit 0 ahead 36000 nsenter --net="/run/netns/$net-c" rackbench run "$TMP/plan.yaml" \
        --insecure --output "$TMP/clocks" \
        --hosts "10.77.0.1:7412,10.77.0.2:7412,10.77.0.3:7412,10.77.0.4:7412"
    check_result "$TMP/clocks"
    check_start "$TMP/clocks"
    # shellcheck disable=SC2016 # for jq to expand
    check_json "$TMP/clocks/result.json" '[.hosts[].clock] as $clocks |
        [-36000, 0, -28800, -35997] | to_entries |
        map($clocks[.key] as $c | ($c.offset_ns - .value * 1000000000) | fabs <= $c.bound_ns) | all'
}

test_run
test_free_again
test_max_skew
test_labels
test_hosts
test_insecure
netns_down "$net"
netns_up "$net" 4
test_join
netns_down "$net"
netns_up "$net" 4
test_clocks
