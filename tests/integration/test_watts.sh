#!/usr/bin/env bash
# --watts: a meter that the user reads while a run goes on; its readings are in the journal, so that
# a replay has them, or are added to a report alone.
source "$(dirname "$0")/../lib/check.sh"

cat >"$TMP/plan.yaml" <<'PLAN'
name: watts
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - {name: p, runtime: 2s, jobs: [{name: j, target: s, rw: randread, rate_iops: 200}]}
PLAN

# run_meter FILE NAME [OPTION]...: a run, and beside it a meter that says 250 W every 100 ms.
run_meter()
{
    local file=$1 name=$2 pid
    shift 2
    (
        echo "time,host,scope,watts"
        while [ ! -e "$TMP/stop" ]; do
            echo "$(date +%s.%N),local1,chassis,250"
            sleep 0.1
        done
    ) >"$file" &
    pid=$!
    rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" --output "$TMP/$name" "$@" \
        >"$TMP/run.out" 2>"$TMP/run.err" </dev/null
    local status=$?
    touch "$TMP/stop"
    wait "$pid"
    rm "$TMP/stop"
    return "$status"
}

# has_watts FILE: 250 W by hand. Of the end of M a reading may be missing: the run reads the file
# as soon as it is over.
# shellcheck disable=SC2016 # for jq to expand
has_watts()
{
    check_json "$1" '.phases[0] as $p | $p.watts | length == 1 and (.[0] | .host == "local1" and
        .scope == "chassis" and .readings >= 10 and (.watts - 250 | fabs) < 0.001 and
        .covered_share > 0.8 and (.joules - 250 * $p.seconds * .covered_share | fabs) < 0.5 and
        (.iops_per_watt - $p.cluster.read.iops / 250 | fabs) < 0.0001)'
}

test_journaled()
{
    run_meter "$TMP/meter.csv" live --watts "$TMP/meter.csv" || fail "$(cat "$TMP/run.err")"
    has_watts "$TMP/live/result.json"
    expect_match "power: chassis of local1: 250.0 W, .*: 0.8 IOPS/W" "$(cat "$TMP/run.out")"
    rm "$TMP/meter.csv"
    rackbench report "$TMP/live" --format json >"$TMP/replay.json"
    check "a replay has them too" cmp "$TMP/live/result.json" "$TMP/replay.json"
}

test_reported()
{
    run_meter "$TMP/later.csv" later || fail "$(cat "$TMP/run.err")"
    check_json "$TMP/later/result.json" '.phases[0] | has("watts") | not'
    rackbench report "$TMP/later" --format json --watts "$TMP/later.csv" >"$TMP/with.json"
    has_watts "$TMP/with.json"
    rackbench report "$TMP/later" --format json >"$TMP/without.json"
    check_json "$TMP/without.json" '.phases[0] | has("watts") | not'
}

# The run was measured all the same.
test_wrong()
{
    echo "time,watts" >"$TMP/wrong.csv"
    expect_exit 1 rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/wrong" --watts "$TMP/wrong.csv"
    expect_match "rackbench report --watts adds them, once that is right: --watts: $TMP/wrong.csv:1: the first line must be the header" \
        "$OUTPUT"
    check_json "$TMP/wrong/result.json" '.run.status == "done"'
    expect_exit 1 rackbench report "$TMP/wrong" --watts "$TMP/nothing.csv"
    expect_match "--watts: open $TMP/nothing.csv: No such file or directory" "$OUTPUT"
}

# Answers of two BMCs that were saved: one has its time in its name, the other is of its file's time.
# shellcheck disable=SC2016 # for jq to expand
test_redfish()
{
    local at
    mkdir "$TMP/bmc"
    at=$(tail -n 6 "$TMP/later.csv" | head -n 1 | cut -d, -f1)
    echo '{"PowerControl": [{"PowerConsumedWatts": 300}]}' >"$TMP/bmc/local1@$at.json"
    rackbench report "$TMP/later" --format json --watts "$TMP/bmc" >"$TMP/bmc.json"
    check_json "$TMP/bmc.json" '.phases[0].cluster.read.iops as $iops | .phases[0].watts | length == 1 and
        (.[0] | .host == "local1" and .scope == "chassis" and .readings == 1 and .watts == 300 and
            .covered_share == 0 and (has("joules") | not) and
            (.iops_per_watt - $iops / 300 | fabs) < 0.0001)'
    mv "$TMP/bmc/local1@$at.json" "$TMP/bmc/local1.json"
    touch -d "@$at" "$TMP/bmc/local1.json"
    rackbench report "$TMP/later" --format json --watts "$TMP/bmc/local1.json" >"$TMP/bmc2.json"
    check "the same by the time of the file" cmp "$TMP/bmc.json" "$TMP/bmc2.json"
}

test_journaled
test_reported
test_wrong
test_redfish
