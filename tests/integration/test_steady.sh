#!/usr/bin/env bash
# steady_state: a drive whose rate is held ends its phase as soon as a window holds; one whose rate
# goes on to fall does not, and is named.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

dev=$(loop_make 64)
group=$(throttle_make)
cat >"$TMP/plan.yaml" <<PLAN
name: steady
interval: 100ms
targets:
  d: {devices: [$dev]}
phases:
  - name: p
    ramp_time: 200ms
    runtime: 400ms
    steady_state: {window: 4, max: 16}
    jobs: [{name: j, rw: randread, iodepth: 16}]
  - name: after
    runtime: 100ms
    jobs: [{name: j, rw: randread}]
PLAN

# steady DIRECTORY
steady()
{
    throttle_exec "$group" rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$1"
}

test_held()
{
    local result=$TMP/held/result.json
    throttle_iops "$group" "$dev" read 2000
    expect_exit 0 rackbench check "$TMP/plan.yaml"
    expect_match 'in rounds of 400ms, until each drive has held steady state of iops over 4, or 16 rounds' "$OUTPUT"
    expect_match 'duration: at most' "$OUTPUT"
    expect_exit 0 steady "$TMP/held"
    expect_match 'steady state of iops: reached; 1 of 1 drive by round' "$OUTPUT"
    jq -c '.phases[0] | [.seconds, .interval, .end, .steady_state, .cluster.read.iops]' "$result"
    check_json "$result" '.phases[0] | .steady_state.reached and .seconds == 1.6 and
        .steady_state.last_round < 16 and (.marks | index("not_steady") | not) and
        .interval.end_ns == 200000000 + .steady_state.last_round * 400000000 and
        (.end.reason | startswith("steady state: 1 drive has reached"))'
    check_json "$result" '.phases[0] | .cluster.read.iops > 1800 and .cluster.read.iops < 2200 and
        .cluster.read.ops == .cluster.read.response_ns.count'
    check_json "$result" '.phases | length == 2 and .[1].name == "after"'
    check_json "$result" '.phases[0] | [.steady_state.hosts[][] | .round <= 16 and .range <= 0.2 and
        .excursion <= 0.1] | length == 1 and all'
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/held" --format json)
}

# 15 % less each round, by the clock: the line falls by far more than 10 % over a window.
test_drift()
{
    local result=$TMP/drift/result.json start pid
    throttle_iops "$group" "$dev" read 8000
    steady "$TMP/drift" >"$TMP/out" &
    pid=$!
    start=$(date +%s%N)
    while [ -d "/proc/$pid" ]; do
        sleep 0.1
        throttle_iops "$group" "$dev" read "$(awk -v ns=$(($(date +%s%N) - start)) \
            'BEGIN {rate = 8000 * 0.85 ^ (ns / 4e8); printf "%d", (rate > 100 ? rate : 100)}')"
    done
    wait $pid
    jq -c '.phases[0].steady_state' "$result"
    check_json "$result" '.phases[0] | (.steady_state.reached | not) and .steady_state.last_round == 16
        and .seconds == 1.6 and (.marks | index("not_steady")) and (.end | has("reason") | not)'
    check "the report names what did not rest" grep -q 'not reached; 0 of 1 drive' "$TMP/out"
}

test_held
test_drift
