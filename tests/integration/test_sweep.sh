#!/usr/bin/env bash
# sweep: each point a phase in lockstep, on devices whose limit is known; the guard sees every point
# before the first one runs, and a run whose coordinator died goes on at the point that was cut.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

dev=$(loop_make 64)
group=$(throttle_make)

# plan KEYS [JOB]: a phase "grid" on $dev.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: sweep
interval: 100ms
lease: 1s
targets:
  d: {devices: [$dev]}
phases:
  - name: grid
    $1
    jobs: [{name: j, ${2:-rw: randread}}]
PLAN
}

# The throttle's limit is the plateau; at iodepth 1 a drive of 4 KiB reads at 2000 IOPS is there too.
# The points are long against a slice of the throttle, which a busy machine may put on either side.
test_grid()
{
    plan "runtime: 1500ms
    ramp_time: 200ms
    sweep: {bs: [4KiB, 16KiB], iodepth: [1, 8]}"
    throttle_iops "$group" "$dev" read 2000
    expect_exit 0 rackbench check "$TMP/plan.yaml"
    expect_match 'phase grid: a sweep of 4 points, in this order:' "$OUTPUT"
    expect_match '   2  bs 4KiB, iodepth 8: 1.7s' "$OUTPUT"
    expect_match 'duration: 6.8s' "$OUTPUT"
    expect_exit 0 throttle_exec "$group" rackbench run "$TMP/plan.yaml" --local 2 \
        --scratch "$TMP/scratch" --output "$TMP/grid"
    expect_match 'sweep grid: 4 of 4 points' "$OUTPUT"
    local result=$TMP/grid/result.json
    jq -c '.phases[] | [.point, .cluster.read.iops, .idle_before_ns, .marks]' "$result"
    check_json "$result" '[.phases[] | .name] == ["grid", "grid", "grid", "grid"] and
        [.phases[].point | [.bs, .iodepth]] == [[4096, 1], [4096, 8], [16384, 1], [16384, 8]]'
    check_json "$result" '[.phases[].cluster.read.iops | . > 1700 and . < 2300] | all'
    check_json "$result" '[.phases[] | .cluster.read.bytes == .cluster.read.ops * .point.bs] | all'
    check_json "$result" '[.phases[1:][].idle_before_ns] | all(. > 0 and . < 1000000000)'
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/grid" --format json)
    check "the resolved plan is the plan" diff <(rackbench check "$TMP/plan.yaml") \
        <(rackbench check "$TMP/grid/plan.resolved.yaml")
}

# A point that would write is refused before the reads before it begin.
test_guard_sees_points()
{
    local keys="runtime: 100ms
    sweep: {rw: [randread, randwrite]}"
    plan "$keys"
    expect_exit 1 rackbench check "$TMP/plan.yaml"
    expect_match 'add destructive: true to phase .grid. .at the point rw randwrite' "$OUTPUT"
    plan "destructive: true
    $keys"
    expect_exit 2 rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/guard"
    expect_match "$dev" "$OUTPUT"
    [ ! -e "$TMP/guard" ] || fail "a run that did nothing left a directory"
}

test_bad_input()
{
    plan "sweep: {iodepth: [1, 0]}"
    expect_exit 1 rackbench check "$TMP/plan.yaml"
    expect_match 'plan.yaml:8:13: iodepth: 0 is out of range' "$OUTPUT"
}

test_resume()
{
    local pid result=$TMP/again/result.json net="rbs$$"
    plan "runtime: 1500ms
    sweep: {iodepth: [1, 2, 4]}"
    netns_up "$net" 2
    agents_up "$net" 2 --allow-device "$dev"
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --hosts "10.77.0.[1-2]" \
        --output "$TMP/again" --json-lines
    pid=$!
    wait_for 20 points_begun 2
    sleep 0.3
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null || true
    sleep 2 # the lease is over: the agents have stopped
    expect_exit 130 coordinate "$net" resume "$TMP/again"
    jq -c '.phases[] | [.point, .marks, .seconds]' "$result"
    check_json "$result" '[.phases[].point.iodepth] == [1, 2, 2, 4] and
        [.phases[].marks | contains(["truncated"])] == [false, true, false, false]'
    check_json "$result" '[.phases[0, 2, 3].seconds] == [1.5, 1.5, 1.5]'
}

# points_begun N: the run has come to the N-th point.
points_begun()
{
    [ "$(grep -c '"state":"running"' "$TMP/run.out")" -ge "$1" ]
}

test_grid
test_guard_sees_points
test_bad_input
test_resume
