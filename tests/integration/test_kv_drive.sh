#!/usr/bin/env bash
# A KV cache on one drive: it is full before the start, every write of a new block puts one out, and that is discarded
# where the plan says so; the kernel has seen just that.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

# Ten new blocks a second, none of which is asked for again.
awk 'BEGIN {
    for (i = 0; i < 100; i++)
        printf "{\"timestamp\": %d, \"input_length\": 512, \"output_length\": 1, \"hash_ids\": [%d]}\n", 100 * i, i
}' >"$TMP/trace.jsonl"
dev=$(loop_make 4) # 64 slots of 64 KiB

# run NAME KEYS
run()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: kvdrive
targets:
  d: {devices: [$dev]}
phases:
  - name: tier
    destructive: true
    runtime: 2s
    jobs:
      - name: kv
        target: d
        verify: true
        kv_cache: {model: llama3.1-8b, trace: $TMP/trace.jsonl, tokens_per_block: 512, scale: 1/1024$2}
PLAN
    expect_exit 0 rackbench run "$TMP/plan.yaml" --local 1 --allow-device "$dev" --yes --scratch "$TMP/scratch" \
        --output "$TMP/$1"
    result=$TMP/$1/result.json
    kernel=".phases[0].kernel.local1[\"$dev\"]"
}

# Slots of the drive that hold only zeroes.
empty_slots()
{
    local slot n=0
    for slot in $(seq 0 63); do
        ! cmp -s -n 65536 -i $((slot * 65536)):0 "$(loop_file "$dev")" /dev/zero || n=$((n + 1))
    done
    echo "$n"
}

test_empty_drive()
{
    run empty ", prefill: none"
    expect_match 'kv: kv_cache of llama3.1-8b, 512 tokens in blocks of 64 MiB, run at 1/1024 of their size, .*, open loop' "$OUTPUT"
    check "no word of a closed loop" [ "${OUTPUT/closed loop/}" = "$OUTPUT" ]
    check_json "$result" '.phases[0].kv | .written_blocks == 20 and .evicted_blocks == 0 and .prefilled == 0 and .slots == 64'
    check_json "$result" "$kernel | .write.sectors == 20 * 128"
    check "twenty slots are written, and no other: $(empty_slots) are empty" [ "$(empty_slots)" -eq 44 ]
}

test_full_drive()
{
    run full ""
    check_json "$result" '.phases[0].kv | .written_blocks == 20 and .evicted_blocks == 20 and .prefilled == 64'
    check_json "$result" '.phases[0].cluster | .write.ops == 20 and .trim == null'
    check_json "$result" "$kernel | .write.sectors == 20 * 128"
    check "all slots hold something" [ "$(empty_slots)" -eq 0 ]
}

test_discards()
{
    run discards ", discard_on_evict: true"
    check_json "$result" '.phases[0].cluster | .write.ops == 20 and .trim.ops == 20 and .trim.errors == 0'
    check_json "$result" "$kernel | .write.sectors == 20 * 128 and .discard.sectors == 20 * 128"
}

test_empty_drive
test_full_drive
test_discards
