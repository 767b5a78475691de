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

run_plan 4 later counted --set phases.0.jobs.0.continue_on_error=read
check_json "$result" '([.events[].kind] | index("verify_error")) != null and
    .phases[0].to_last.ops == 255'

# ---- a block in its neighbour's place ----

# block N [FILE]: the n-th block of 64 KiB of the drive, or of FILE.
block()
{
    dd if="${2-$file}" bs=64K skip="$1" count=1 status=none
}

# put_block N: puts what it reads there.
put_block()
{
    dd of="$file" bs=64K seek="$1" count=1 iflag=fullblock conv=notrunc status=none
}

run_plan 0 both anew
block 20 >"$TMP/a"
block 21 >"$TMP/b"
put_block 20 <"$TMP/b"
put_block 21 <"$TMP/a"
run_plan 4 later swapped --set phases.0.jobs.0.continue_on_error=read
check_json "$result" '[.events[] | select(.kind == "verify_error").text] == [
    "verify: '"$dev"' at 1280 KiB (sector 2560): found a block written for offset 1344 KiB (sector 2688) with sequence 21",
    "verify: '"$dev"' at 1344 KiB (sector 2688): found a block written for offset 1280 KiB (sector 2560) with sequence 20"]'

# ---- a block that a later pass of the same job should have overwritten ----

cat >"$TMP/passes.yaml" <<PLAN
name: passes
targets:
  d: {devices: [$dev]}
phases:
  - name: fill
    destructive: true
    jobs: [{rw: write, bs: 64KiB, iodepth: 4, rate_iops: 256, number_ios: 640, verify: true}]
PLAN

# sequence N: of the write that the n-th block holds.
sequence()
{
    block "$1" | od -An -t u8 -j 32 -N 8 | tr -d ' '
}

# The drive holds sequence 10 from the runs before: block 10 is ours when it holds another run's.
block 10 | head -c 24 | tail -c 8 >"$TMP/run"
of_this_pass()
{
    ! cmp -s "$TMP/run" <(block 10 | head -c 24 | tail -c 8) && [ "$(sequence 10)" = 10 ]
}

rackbench run "$TMP/passes.yaml" --local 1 --allow-device "$dev" --yes --quiet \
    --scratch "$TMP/scratch" --output "$TMP/passes" >/dev/null &
writer=$!
wait_for 20 of_this_pass
block 10 >"$TMP/old"
wait $writer
check "two passes and a half" [ "$(sequence 10) $(sequence 127) $(sequence 128)" = "522 639 384" ]
run_plan 0 later third_pass
check_json "$result" '.phases[0].cluster.read.errors == 0'
put_block 10 <"$TMP/old"
# What is expected is the newest that the reader knows of by then.
what="verify: $dev at 640 KiB \(sector 1280\): expected sequence (266|522), found a block with the \
older sequence 10\$"
once=true
for rw in read randread; do
    run_plan 4 later "stale_$rw" --set "phases.0.jobs.0.rw=$rw" \
        --set "phases.0.jobs.0.norandommap=$once"
    expect_match "rackbench: agent local1: $what" "$OUTPUT"
    check_json "$result" '[.events[] | select(.kind == "verify_error").text] |
        length == 1 and (.[0] | test("'"${what//\\/\\\\}"'"))'
    once=false # each block once, in another order
done
