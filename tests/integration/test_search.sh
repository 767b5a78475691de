#!/usr/bin/env bash
# latency_target: the search for the highest rate that keeps a response time, against drives whose
# answer is known: a throttled one keeps any target that is longer than the throttle's own grain up
# to the rate it is throttled to. p75 and 50 ms leave room for a machine that is busy otherwise.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

dev=$(loop_make 64)
group=$(throttle_make)
TARGET="latency_target: 50ms, latency_percentile: 75"

# plan TARGET KEYS: a search on $dev, and a phase after it.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: search
interval: 100ms
targets:
  $1
phases:
  - name: steady
    jobs:
      - {name: j, rw: randread, iodepth: 64, $2}
  - name: after
    runtime: 200ms
    jobs: [{rw: randread}]
PLAN
}

# search [OPTION]...: into the directory of $result, by two agents that share the rate.
search()
{
    throttle_exec "$group" rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch" \
        --output "${result%/*}" "$@"
}

# near IOPS: the verdict is that rate within 5 %.
near()
{
    check_json "$result" ".searches[0] | .verdict == \"found\" and
        (.rate_iops - $1 | fabs) <= 0.05 * $1 and (.achieved_iops - $1 | fabs) <= 0.05 * $1"
}

# shellcheck disable=SC2016 # for jq to expand
test_fixed_rate()
{
    plan "d: {devices: [$dev]}" "ramp_time: 200ms, runtime: 1500ms, $TARGET"
    throttle_iops "$group" "$dev" read 2000
    expect_exit 0 rackbench check "$TMP/plan.yaml"
    expect_match 'p75 of response is at most 50.0 ms: a closed loop and up to 23 open ones of 1.7s each, at most 40.8s' "$OUTPUT"
    expect_match 'duration: at most 41s' "$OUTPUT"
    result=$TMP/fixed/result.json
    expect_exit 0 search
    expect_match 'verdict: [0-9.]+k IOPS keep it' "$OUTPUT"
    jq -c '.searches[0] | del(.steps)' "$result"
    near 2000
    # Every step is an entry of its own, the best at the rate that the verdict names.
    check_json "$result" '(.searches[0].steps | length) as $n | [.phases[] | .name] ==
        [range($n) | "steady"] + ["after"] and [.phases[].step // empty] == [range(1; $n + 1)]'
    check_json "$result" '.searches[0] as $s | .phases[$s.best_step - 1] |
        .point.rate_iops == $s.rate_iops and (.cluster.offered.iops - $s.rate_iops | fabs) <= 2 and
        (.cluster.read.response_ns | .p50 <= $s.quantile_ns and .p90 >= $s.quantile_ns) and .jobs.j.read.iops == $s.achieved_iops'
    check_json "$result" '.searches[0].steps[0] | has("rate_iops") | not' # the closed loop
    check_json "$result" '[.phases[] | .end.skew_ns, .end.bound_ns] | all(. >= 0)'
    # What each agent offered adds up to the rate of the cluster.
    check_json "$result" '[.phases[1:-1][] | .point.rate_iops as $r |
        [.hosts[].total.offered.iops] | (length == 2) and ((add - $r) | fabs) <= 2] | all'
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/fixed" --format json)
}

# The drive slows down after the first step: what cannot keep the target any more is cut short.
test_slower_than_it_began()
{
    local pid
    plan "d: {devices: [$dev]}" "ramp_time: 500ms, runtime: 2s, $TARGET"
    throttle_iops "$group" "$dev" read 2000
    result=$TMP/slower/result.json
    search --json-lines >"$TMP/lines" &
    pid=$!
    wait_for 20 grep -q '"step":2' "$TMP/lines"
    expect_exit 0 rackbench status "$TMP/slower"
    expect_match 'phase 1 of 2: steady, step [23] at [0-9.]+k? IOPS' "$OUTPUT"
    expect_match 'left by the plan: at most [45][0-9]s|left by the plan: at most 1m' "$OUTPUT"
    throttle_iops "$group" "$dev" read 400
    wait $pid
    jq -c '.searches[0] | del(.steps)' "$result"
    near 400
    check_json "$result" '[.phases[] | select(.end | has("reason"))] | length > 0 and
        all(.seconds < 2 and (.marks | index("truncated") | not) and
            (.end.reason | startswith("out of reach: ")))'
    check_json "$result" '[.searches[0].steps[] | select(.cut)] | length > 0 and
        all(.kept | not)'
    check_json "$result" '.run.status == "done" and .run.marks == []'
}

test_out_of_reach()
{
    plan "s: {size: 16MiB}" "runtime: 500ms, latency_target: 1us, latency_percentile: 99.9"
    result=$TMP/never/result.json
    expect_exit 0 search --local 4
    expect_match 'not reached even at the lowest rate tried: 1 IOPS' "$OUTPUT"
    check_json "$result" '.searches[0] | .verdict == "not_reached" and (has("rate_iops") | not) and
        .latency_percentile == 99.9 and (.steps | length) <= 13 and .steps[1].cut and
        ([.steps[].kept] | any | not)'
}

test_bad_input()
{
    plan "s: {size: 16MiB}" "latency_target: 2ms"
    expect_exit 1 rackbench run "$TMP/plan.yaml" --local 1
    expect_match 'plan.yaml:8:[0-9]+: latency_target needs runtime' "$OUTPUT"
}

test_fixed_rate
test_slower_than_it_began
test_out_of_reach
test_bad_input
