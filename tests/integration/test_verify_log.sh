#!/usr/bin/env bash
# An agent that is killed in the middle of its writes leaves a log of those that were acknowledged:
# all are found again, and one that is taken away is named.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbv$$"
dev=$(loop_make 32)
file=$(loop_file "$dev")
log=$TMP/logs/writes
mkdir "$TMP/logs"
cat >"$TMP/write.yaml" <<PLAN
name: write
lease: 1s
targets:
  d: {devices: [$dev]}
phases:
  - name: writing
    destructive: true
    jobs: [{rw: randwrite, iodepth: 16, runtime: 20s, rate_iops: 4000, verify: true, verify_log: $log}]
PLAN
cat >"$TMP/read.yaml" <<PLAN
name: read
targets:
  d: {devices: [$dev]}
phases:
  - {name: reading, jobs: [{rw: read, iodepth: 8, numjobs: 2, verify_only: true, verify_log: $log}]}
PLAN

# read_back STATUS NAME [ARGUMENT...]: what the log names, by an agent of its own; $result is its
# result.json, $said what it says of the log.
read_back()
{
    local status=$1 directory=$TMP/$2
    shift 2
    expect_exit "$status" rackbench run "$TMP/read.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$directory" "$@"
    result=$directory/result.json
    said=$(json "$result" '[.events[] | select(.kind == "verify_log").text] | join("; ")')
}

# records: of the log, a line each: offset, sequence. Its head is of one drive.
records()
{
    local head batch=0 count size
    head=$(od -An -t u4 -j 16 -N 4 "$log" | tr -d ' ')
    size=$(stat -c %s "$log")
    for ((batch = head; batch + 16 <= size; batch += 16 + count * 24)); do
        count=$(od -An -t u4 -j $((batch + 4)) -N 4 "$log" | tr -d ' ')
        od -An -v -t u8 -w24 -j $((batch + 16)) -N $((count * 24)) "$log"
    done | awk 'NF == 3 {print $1, $2}'
}

test_killed()
{
    netns_up "$net" 1
    agent_up "$net" 1 10.77.0.1 --allow-device "$dev"
    expect_exit 1 coordinate "$net" run "$TMP/write.yaml" --insecure --yes --hosts 10.77.0.1 \
        --output "$TMP/refused"
    expect_match "verify_log: the agent does not allow directory $TMP/logs; start it with \
--allow-path $TMP/logs" "$OUTPUT"
    kill "${AGENT[1]}"
    wait "${AGENT[1]}" || true
    agent_up "$net" 1 10.77.0.1 --allow-device "$dev" --allow-path "$TMP/logs"

    # What is on the drive before, for later.
    expect_exit 0 coordinate "$net" run "$TMP/write.yaml" --insecure --yes --hosts 10.77.0.1 \
        --output "$TMP/before" --set phases.0.jobs.0.rw=write --set phases.0.jobs.0.number_ios=8192 \
        --set phases.0.jobs.0.rate_iops=1000000 --set "phases.0.jobs.0.verify_log=$TMP/logs/before"
    cp "$file" "$TMP/before.image"

    coordinate_spawn "$net" run "$TMP/write.yaml" --insecure --yes --hosts 10.77.0.1 \
        --output "$TMP/killed"
    local run=$! status=0
    wait_for 10 running
    sleep 1.5
    kill -9 "${AGENT[1]}"
    wait "$run" || status=$?
    check "the host is lost" [ "$status" = 5 ]
    netns_down "$net"
    check "some thousand writes are in the log" [ "$(records | wc -l)" -gt 1000 ]
}

test_all_are_found()
{
    local blocks
    blocks=$(records | awk '{print $1}' | sort -u | wc -l)
    read_back 0 found
    check_json "$result" ".run.status == \"done\" and .phases[0].to_last.ops == $blocks and
        .phases[0].kernel.local1[\"$dev\"].read.sectors == $blocks * 8"
    expect_match "$dev: read $blocks of $blocks blocks that $log names: 0 of them lack" "$said"
}

test_one_is_taken_away()
{
    local offset sequence
    read -r offset sequence < <(records | awk '{newest[$1] = $2}
        END {for (o in newest) if (newest[o] > 500) {print o, newest[o]; exit}}')
    dd if="$TMP/before.image" of="$file" bs=4096 skip=$((offset / 4096)) seek=$((offset / 4096)) \
        count=1 conv=notrunc status=none
    read_back 4 ended
    expect_match "(: 1 of them lack their newest acknowledged write)" "$said"
    read_back 4 taken --set phases.0.jobs.0.continue_on_error=read
    expect_match "(: 1 of them lack their newest acknowledged write)" "$said"
    expect_match "\(sector $((offset / 512))\): expected sequence $sequence, found a block of \
another run" "$(json "$result" '.events[] | select(.kind == "verify_error").text')"
    check_json "$result" '[.phases[0].cluster | .read.errors, .outside[].read.errors] | add == 1'
}

# As a power cut may leave it.
test_torn_log()
{
    truncate -s -5 "$log"
    read_back 4 torn --set phases.0.jobs.0.continue_on_error=read
    expect_match "; its last [0-9]+ bytes are torn and were not read" "$said"
}

# A bit in its middle: whole batches follow.
test_damaged_log()
{
    local at=$(($(stat -c %s "$log") / 2)) byte
    byte=$(od -An -t u1 -j "$at" -N 1 "$log")
    printf '%b' "\\x$(printf %x $((byte ^ 1)))" |
        dd of="$log" bs=1 seek="$at" conv=notrunc status=none
    # Nothing was read: no directory stays.
    expect_exit 4 rackbench run "$TMP/read.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/damaged"
    expect_match "verify_log: $log is damaged: of [0-9]+ bytes, from byte [0-9]+ on" "$OUTPUT"
    read_back 4 anyway --set phases.0.jobs.0.continue_on_error=read
    expect_match "; [0-9]+ bytes of it, from byte [0-9]+ on, are damaged: " "$said"
}

test_refused()
{
    expect_exit 1 rackbench run "$TMP/write.yaml" --local 1 --allow-device "$dev" --yes \
        --scratch "$TMP/scratch" --output "$TMP/again"
    expect_match "job 'j0': verify_log: $log is there already" "$OUTPUT"
    expect_exit 1 rackbench run "$TMP/read.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/none" --set "phases.0.jobs.0.verify_log=$TMP/logs/none"
    expect_match "$TMP/logs/none does not exist on this host" "$OUTPUT"
    head -c 200 /dev/urandom >"$TMP/logs/noise"
    expect_exit 1 rackbench run "$TMP/read.yaml" --local 1 --scratch "$TMP/scratch" \
        --output "$TMP/noise" --set "phases.0.jobs.0.verify_log=$TMP/logs/noise"
    expect_match "is no log of writes, or its head is damaged" "$OUTPUT"
    expect_exit 0 rackbench check "$TMP/write.yaml"
    expect_match "verify_log $log of job 'j0': 24 bytes a write, .*: 80001 writes, 1.83 MiB" "$OUTPUT"
}

test_killed
test_all_are_found
test_one_is_taken_away
test_torn_log
test_damaged_log
test_refused
