#!/usr/bin/env bash
# find_max: the search for the highest speed of a KV cache's trace that keeps a restore latency, on a drive whose
# answer is known. Ten requests a second read ten blocks each, so that at the speed x a drive does 100 x reads a second;
# one that is throttled to 2000 keeps any latency above the throttle's own grain up to 20x.
# check's forecast is what is then done, operation by operation.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

dev=$(loop_make 64)
group=$(throttle_make)
awk 'BEGIN {
    for (i = 0; i < 4000; i++)
        printf "{\"timestamp\": %d, \"input_length\": 5120, \"output_length\": 1, \"hash_ids\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}\n", 100 * i
}' >"$TMP/trace.jsonl"

# plan RUNTIME KEYS
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: kvsearch
targets:
  d: {devices: [$dev]}
phases:
  - name: tier
    destructive: true
    runtime: $1
    jobs:
      - name: kv
        target: d
        iodepth: 64
        kv_cache: {model: llama3.1-8b, trace: $TMP/trace.jsonl, tokens_per_block: 512, scale: 1/16384, prefill: none, placement: hash, $2}
PLAN
}

run()
{
    throttle_exec "$group" rackbench run "$TMP/plan.yaml" --local 1 --allow-device "$dev" --yes \
        --scratch "$TMP/scratch" --output "$TMP/$1"
}

test_forecast()
{
    local read written
    plan 2s "speed: 3"
    expect_exit 0 rackbench check "$TMP/plan.yaml" --local 1 --allow-device "$dev"
    expect_match 'a token 128 KiB, a block of 512 tokens 64 MiB, 2 MiB of a layer' "$OUTPUT"
    expect_match '1 I/O of 4 KiB in a slot of 4 KiB, SCALED 1/16384' "$OUTPUT"
    expect_match 'predicted local1: ([0-9]+) slots read, ([0-9]+) written, 0 put out' "$OUTPUT"
    read=${BASH_REMATCH[1]} written=${BASH_REMATCH[2]}
    check "60 requests come due, the first has nothing to read" [ "$read" -eq 590 ] && [ "$written" -eq 10 ]
    throttle_iops "$group" "$dev" read 0
    expect_exit 0 run forecast
    check_json "$TMP/forecast/result.json" ".phases[0].cluster | .read.ops == $read and .write.ops == $written"
    check_json "$TMP/forecast/result.json" ".phases[0].kernel.local1[\"$dev\"] |
        .read.sectors == $read * 8 and .write.sectors == $written * 8"
}

test_find_max()
{
    local result=$TMP/max/result.json
    plan 5s "speed: 5, find_max: {over: speed, slo: {restore_p90: 100ms}}"
    expect_exit 0 rackbench check "$TMP/plan.yaml"
    expect_match 'the highest speed of its trace at which p90 of restore latency is at most 100.0 ms: up to 24 steps of 5s each' "$OUTPUT"
    throttle_iops "$group" "$dev" read 2000
    expect_exit 0 run max
    expect_match 'verdict: [0-9.]+x keeps it' "$OUTPUT"
    jq -c '.searches[0] | del(.steps)' "$result"
    check_json "$result" '.searches[0] | .verdict == "found" and .over == "speed" and (.speed - 20 | fabs) <= 1'
    check_json "$result" '.searches[0] | (.requests_per_s - 200 | fabs) <= 10 and (.headroom - .speed / 5 | fabs) < 0.001'
    check_json "$result" '.searches[0] | (.restored_bytes_per_s / (.requests_per_s * 40960) - 1 | fabs) < 0.02'
    check_json "$result" '[.searches[0].steps[0:3][].speed] == [5, 10, 20]' # it climbs
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/max" --format json)
}

test_refused()
{
    plan 1s "find_max: {over: drives, slo: {restore_p99: 1s}}"
    expect_exit 1 rackbench check "$TMP/plan.yaml"
    expect_match "plan.yaml:12:9: kv_cache: find_max: over: 'drives'; speed is what is searched for" "$OUTPUT"
    plan 1s "find_max: {slo: {restore_p99: 1s, restore_p50: 1s}}"
    expect_exit 1 rackbench check "$TMP/plan.yaml"
    expect_match 'find_max has 2 objectives; one is right' "$OUTPUT"
}

test_forecast
test_find_max
test_refused
