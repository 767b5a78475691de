#!/usr/bin/env bash
# A KV cache on four hosts: each does just what the planner says of it beforehand, for every placement; a request is as
# late as its slowest host, which is named; a block that changed on the drive is found.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root
here=$(dirname "$0")/..

net="rbk$$"
awk -f "$here/lib/conversation.awk" "$here/data/traces/conversation.txt" | sed -n 1,400p >"$TMP/trace.jsonl"
# Host 3's files lie on a device of their own, which can be slowed down.
slow=$(loop_make 128)
group=$(throttle_make)
mkfs.ext4 -q "$slow"
mkdir "$TMP/scratch.3"
mount "$slow" "$TMP/scratch.3"
at_exit umount_quiet "$TMP/scratch.3"
netns_up "$net" 4
agents_up "$net" 4
hosts=10.77.0.1,10.77.0.2,10.77.0.3,10.77.0.4

# plan PLACEMENT KEYS: a slice of the conversation trace, 64 KiB a block, that puts blocks out.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: kvfour
targets:
  s: {files: 2, size: 32MiB}
phases:
  - name: tier
    runtime: 4s
    jobs:
      - name: kv
        target: s
        verify: true
        kv_cache: {model: llama3.1-8b, trace: $TMP/trace.jsonl, tokens_per_block: 512, scale: 1/1024, speed: 25, jitter: 3s,
          placement: "$1"$2}
PLAN
}

# The forecast of check, as the JSON that a result must equal: {HOST: [reads, writes]}.
forecast()
{
    coordinate "$net" check "$TMP/plan.yaml" --hosts $hosts --insecure |
        sed -nE 's/.*predicted (10[0-9.]*): ([0-9]*) slots read, ([0-9]*) written.*/{"\1": [\2, \3]}/p' | jq -cs add
}

# The hit ratio that check predicts, of what comes due.
ratio()
{
    coordinate "$net" check "$TMP/plan.yaml" --hosts $hosts --insecure |
        sed -nE 's/.*come due, hit ratio ([0-9.]*) of blocks.*/\1/p'
}

# run NAME: a run that must end well.
run()
{
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --hosts $hosts --insecure --output "$TMP/$1"
}

test_placements()
{
    local placement want result
    for placement in hash 'stripe(2)' 'mirror(2)' local; do
        plan "$placement" ", capacity: 24GiB"
        want=$(forecast)
        check "forecast of four hosts: $want" [ "$(jq length <<<"$want")" -eq 4 ]
        run "$placement"
        result=$TMP/$placement/result.json
        check_json "$result" "[.phases[0].hosts | to_entries[] | {(.key): [.value.total.read.ops // 0, .value.total.write.ops // 0]}]
            | add == $want"
        check_json "$result" '.run.marks == ["insecure", "scaled"] and .phases[0].cluster.read.errors == 0'
        check_json "$result" "$(ratio) - .phases[0].kv.hits.cold.hit_ratio | fabs < 0.0001"
    done
    check "a mirror writes each block twice" \
        [ "$(json "$TMP/mirror(2)/result.json" .phases[0].cluster.write.ops)" -gt \
        "$(json "$TMP/hash/result.json" '.phases[0].cluster.write.ops * 19 / 10 | floor')" ]
}

# Twenty requests a second, each of the same twenty blocks, which lie on all hosts.
hot_trace()
{
    awk 'BEGIN {
        for (i = 0; i < 400; i++)
            printf "{\"timestamp\": %d, \"input_length\": 10240, \"output_length\": 1, \"hash_ids\": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]}\n", 50 * i
    }' >"$TMP/trace.jsonl"
    plan hash ", prefill: none"
    sed -i 's/speed: 25, jitter: 3s/speed: 1/' "$TMP/plan.yaml"
}

# shellcheck disable=SC2016 # for jq to expand
test_slow_host()
{
    local fast slowed
    hot_trace
    run even
    throttle_move "$group" "${AGENT[3]}"
    throttle_iops "$group" "$slow" read 30 # of a hundred that it is asked for
    run slowed
    throttle_iops "$group" "$slow" read 0
    expect_match 'waited for 10.77.0.3 last' "$OUTPUT"
    fast=$TMP/even/result.json slowed=$TMP/slowed/result.json
    check "blocks of the others are as fast as they were, within 20 ms" [ "$(jq -s '[.[].phases[0].hosts |
        del(.["10.77.0.3"]) | [.[].total.read.response_ns.p99] | max] | .[1] - .[0] < 20000000' "$fast" "$slowed")" = true ]
    jq -c '.phases[0].kv.restore_ns' "$fast" "$slowed"
    check "requests are slow: a second at p99, where it was below 100 ms" [ "$(jq -s '[.[].phases[0].kv.restore_ns.p99] |
        .[0] < 100000000 and .[1] > 1000000000' "$fast" "$slowed")" = true ]
    check_json "$slowed" '.phases[0].kv.hosts | to_entries | max_by(.value.last_of_requests).key == "10.77.0.3"'
}

# A block that changes on the drive while nobody looks is found when it is restored.
test_corrupted()
{
    local status=0
    hot_trace
    sed -i 's/^        verify: true/&\n        continue_on_error: read/' "$TMP/plan.yaml"
    coordinate_spawn "$net" run "$TMP/plan.yaml" --hosts $hosts --insecure --output "$TMP/corrupt"
    wait_for 20 running
    sleep 1
    for file in "$TMP"/scratch.1/rackbench.*; do
        dd if=/dev/zero of="$file" bs=64K seek=1 count=1 conv=notrunc oflag=direct status=none
    done
    wait "$!" || status=$?
    check "a corrupted block is seen: status $status" [ "$status" -eq 4 ]
    grep -m 2 -iE 'verify|wrong' "$TMP/run.err" "$TMP/run.out"
    grep -c 'requests with a block that was wrong' "$TMP/run.out"
    check_json "$TMP/corrupt/result.json" '.phases[0].kv.failed > 0 and .phases[0].hosts["10.77.0.1"].total.read.errors > 0'
}

test_placements
test_slow_host
test_corrupted
