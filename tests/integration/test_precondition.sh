#!/usr/bin/env bash
# precondition: a drive is written from its first byte to its last, so many times and no more, by the
# kernel's own count; drives of different sizes each at their own pace.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

# Sizes that are no multiple of the transfer size: 20 MiB + 3.5 KiB and 9 MiB.
large=$(loop_make 20)
small=$(loop_make 9)
truncate -s $((20 * 1048576 + 3584)) "$(loop_file "$large")"
losetup --set-capacity "$large"
[ "$(blockdev --getsize64 "$large")" = $((20 * 1048576 + 3584)) ] || fail "the drive did not grow"
echo 2 >"/sys/block/${large#/dev/}/queue/nomerges"

# plan PHASE_KEYS JOB
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: fill
interval: 100ms
targets:
  d: {devices: ["$large", "$small"]}
phases:
  - name: p
    destructive: true
    $1
    runtime: 200ms
    jobs: [{name: j, $2}]
PLAN
}

run()
{
    expect_exit 0 rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --allow-device "$large" --allow-device "$small" --output "$1"
    jq -c '.prepare[] | [.kind, .to_last, .kernel.local1]' "$1/result.json"
}

test_each_byte_twice()
{
    plan "precondition: {passes: 2, rw: write, bs: 128KiB, iodepth: 8}" "rw: randread"
    expect_exit 0 rackbench check "$TMP/plan.yaml"
    expect_match 'before phase p: all of d is filled 2 times, in order by 128 KiB, iodepth 8' "$OUTPUT"
    run "$TMP/twice"
    local result=$TMP/twice/result.json
    expect_match 'filled for p: 2 passes, 58.0 MiB' "$OUTPUT"
    check_json "$result" '.prepare | length == 1 and .[0].kind == "fill" and .[0].passes == 2'
    check_json "$result" ".prepare[0].kernel.local1 | .[\"$large\"].write.sectors == 2 * (40960 + 7) and
        .[\"$small\"].write.sectors == 2 * 18432 and .[\"$large\"].write.ios == 2 * 161"
    check_json "$result" '.prepare[0] | .to_last.bytes == 2 * (20 + 9) * 1048576 + 2 * 3584 and
        .to_last.seconds > 0 and (.series.cluster | length) > 0 and (.cluster.write.response_ns.p99 > 0)'
    check "nothing is left of the zeros at the end" \
        [ "$(tail -c 512 "$(loop_file "$large")" | tr -d '\0' | wc -c)" -gt 400 ]
    check_json "$result" '.phases | length == 1 and .[0].written_before_bytes == 60824576'
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/twice" --format json)
}

# A random fill with what is left over, after a discard of all of it.
test_random_and_discard()
{
    plan "precondition: {passes: 1, bs: 64KiB, discard: true}" "rw: randread"
    run "$TMP/random"
    local result=$TMP/random/result.json
    check_json "$result" '[.prepare[].kind] == ["discard", "fill"]'
    check_json "$result" ".prepare[1].kernel.local1[\"$large\"].write | .sectors == 40967 and .ios == 321"
    check_json "$result" ".prepare[0].kernel.local1[\"$large\"].discard.sectors == 40967"
}

test_guarded()
{
    plan "precondition: {passes: 1}" "rw: randread"
    expect_exit 2 rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" --output "$TMP/no"
    sed -i '/destructive/d' "$TMP/plan.yaml"
    expect_exit 1 rackbench check "$TMP/plan.yaml"
    expect_match "job 'fill' writes to the devices of target 'd'" "$OUTPUT"
}

test_each_byte_twice
test_random_and_discard
test_guarded
