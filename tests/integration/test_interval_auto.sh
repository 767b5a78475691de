#!/usr/bin/env bash
# interval: auto keeps the journal of a run below --journal-max: windows merge, none vanishes, and the
# windows before and after an I/O error are there one by one.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

# The second phase may stay in full around its error: some 90,000 bytes then, 140,000 without auto.
limit=115000
dev=$(loop_make 64)
cat >"$TMP/plan.yaml" <<PLAN
name: small # so few operations that no p99 jumps by chance
interval: auto
targets:
  s: {size: 64KiB, files: 32}
  d: {devices: [$dev]}
phases:
  - name: first
    runtime: 20s
    jobs:
      - {name: files, target: s, rw: randrw, iodepth: 4, rate_iops: 2}
  - name: second
    runtime: 16s
    jobs:
      - {name: files, target: s, rw: randrw, iodepth: 4, rate_iops: 2}
      - {name: drive, target: d, rw: randread, iodepth: 1, rate_iops: 20, continue_on_error: read}
PLAN

# start NAME ARGUMENT...: in the background; RUN is its pid.
start()
{
    local name=$1
    shift
    rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" --output "$TMP/$name" "$@" \
        >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    RUN=$!
}

# The drive is cut short for a moment in the second phase: reads beyond fail.
break_drive()
{
    wait_for 60 grep -q "second 2/2 running" "$TMP/run.err"
    sleep 9
    truncate -s 4096 "$(loop_file "$dev")"
    sleep 0.2
    truncate -s 64M "$(loop_file "$dev")"
}

# spans PHASE: of its windows, in JSON.
spans()
{
    jq -c ".phases[$1].series | .interval_ns as \$i | .cluster | map(.span // 1)" \
        "$TMP/auto/result.json"
}

start auto --journal-max $limit
break_drive
status=0
wait "$RUN" || status=$?
check "the run is done" [ "$status" = 0 ]
size=$(stat -c %s "$TMP/auto/journal.rbj")
echo "journal: $size bytes; spans: $(spans 0) $(spans 1)"
check "the journal is below its limit" [ "$size" -le $limit ]
check_json "$TMP/auto/result.json" '[.events[] | select(.kind == "interval").text] | length > 0 and
    (.[0] | contains("to keep the journal below"))'
check "windows were merged" [ "$(spans 0 | jq 'max')" -gt 1 ]
# An operation each 1/64 s, whatever the windows: none is missing.
check_json "$TMP/auto/result.json" '.phases[0].cluster | .read.ops + .write.ops + .unfinished.count >=
    .offered.ops - 128'
check "the error's surroundings are there one by one" \
    [ "$(spans 1 | jq 'map(select(. == 1)) | length')" -ge 4 ]
rackbench report "$TMP/auto" --format json >"$TMP/again.json"
check "report prints result.json again, byte for byte" cmp "$TMP/auto/result.json" "$TMP/again.json"

# With an interval of its own nothing is merged.
start fixed --journal-max $limit --set interval=1s
wait "$RUN"
size=$(stat -c %s "$TMP/fixed/journal.rbj")
check "without auto it would not have been ($size bytes)" [ "$size" -gt $limit ]

expect_exit 1 rackbench run "$TMP/plan.yaml" --journal-max 1k
expect_match "journal-max.*64 KiB" "$OUTPUT"
expect_exit 1 rackbench check "$TMP/plan.yaml" --set interval=0
expect_match "auto, or 10ms to 1m is right" "$OUTPUT"
