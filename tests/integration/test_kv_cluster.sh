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
    done
    check "a mirror writes each block twice" \
        [ "$(json "$TMP/mirror(2)/result.json" .phases[0].cluster.write.ops)" -gt \
        "$(json "$TMP/hash/result.json" '.phases[0].cluster.write.ops * 19 / 10 | floor')" ]
}

test_placements
