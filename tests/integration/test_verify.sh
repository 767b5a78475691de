#!/usr/bin/env bash
# What a run has written it reads back and finds right; a byte that changed on the drive it finds and
# names, in the same run and in a later one.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

dev=$(loop_make 16)
file=$(loop_file "$dev")
cat >"$TMP/both.yaml" <<PLAN
name: both
targets:
  d: {devices: [$dev]}
phases:
  - {name: fill, destructive: true, jobs: [{rw: write, bs: 64KiB, iodepth: 4, verify: true}]}
  - {name: check, jobs: [{rw: read, bs: 64KiB, iodepth: 4, numjobs: 2, verify: true}]}
PLAN
cat >"$TMP/later.yaml" <<PLAN
name: later
targets:
  d: {devices: [$dev]}
phases:
  - {name: check, jobs: [{rw: read, bs: 64KiB, iodepth: 1, verify_only: true}]}
PLAN

# run_plan STATUS PLAN NAME [ARGUMENT...]: by one embedded agent; $result is its result.json.
run_plan()
{
    local status=$1 plan=$2 directory=$TMP/$3
    shift 3
    expect_exit "$status" rackbench run "$TMP/$plan.yaml" --local 1 --allow-device "$dev" --yes \
        --scratch "$TMP/scratch" --output "$directory" "$@"
    result=$directory/result.json
}

run_plan 0 both whole
check_json "$result" '.run.status == "done" and ([.events[].kind] | index("verify_error")) == null'
check_json "$result" '.phases[0].to_last.bytes == 16777216 and
    .phases[0].kernel.local1["'"$dev"'"].write.sectors == 32768'
check_json "$result" '.phases[1].to_last.bytes == 16777216 and
    .phases[1].cluster.read.errors == 0'

run_plan 0 later found_whole
check_json "$result" '.run.status == "done" and .phases[0].to_last.bytes == 16777216'
# As a phase of this run it is foreign.
run_plan 4 both foreign --set phases.0.jobs.0.size=8MiB
expect_match "verify: $dev at 8 MiB \(sector 16384\): found a block of another run" "$OUTPUT"

before=$(dd if="$file" bs=1 skip=5000000 count=1 status=none | od -An -tu1)
# shellcheck disable=SC2059 # the byte is the format
printf "\\$(printf %o $((before ^ 1)))" |
    dd of="$file" bs=1 seek=5000000 conv=notrunc status=none
run_plan 4 later damaged
# 5000000 lies in the block of 64 KiB from 4980736 = 4864 KiB on, sector 9728.
what="verify: $dev at 4864 KiB (sector 9728): found damaged data in a block with sequence 76"
check "the fault says where: $what" grep -qF "$what" <<<"$OUTPUT"
check_json "$result" '[.events[] | select(.kind == "verify_error")] |
    length == 1 and .[0].host == "local1" and .[0].text == "'"$what"'"'
check_json "$result" '.phases[0].cluster | (.read.errors // 0) +
    ([.outside[]?.read.errors // 0] | add // 0) == 1'

run_plan 0 later counted --set phases.0.jobs.0.continue_on_error=read
check_json "$result" '([.events[].kind] | index("verify_error")) != null and
    .phases[0].to_last.ops == 255'
