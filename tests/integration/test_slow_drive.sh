#!/usr/bin/env bash
# A drive that answers twice a second costs its host neither its join nor its lease: a run of two
# hosts starts and completes. One that hangs for good is named, and nothing else hangs with it: Ctrl-C
# ends the run, the agent can be freed and ended, and another run may have its other drives.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"

NET="rb-slow$$"
netns_up "$NET" 2
slow=$(loop_make 64)
group=$(throttle_make)
cat >"$TMP/plan.yaml" <<EOF
name: slow
targets:
  d: {devices: [$slow]}
  f: {size: 1MiB}
phases:
  - name: p
    destructive: true
    jobs:
      - {name: drive, target: d, rw: randwrite, runtime: 2s, on: {drive: slow}}
      - {name: file, target: f, rw: randread, runtime: 2s, on: {drive: none}}
EOF
cat >"$TMP/hosts.yaml" <<EOF
hosts:
  - {name: a, address: 10.77.0.1, labels: {drive: slow}}
  - {name: b, address: 10.77.0.2, labels: {drive: none}}
EOF
run=(run "$TMP/plan.yaml" --hosts "$TMP/hosts.yaml" --insecure --yes)

# throttle OPERATIONS: the agent of host 1 gets so many a second from the drive; 0: all it wants.
throttle()
{
    throttle_iops "$group" "$slow" read "$1"
    throttle_iops "$group" "$slow" write "$1"
}

at_exit let_go
(sleep 150 && let_go) &
at_exit kill $!
agents_up "$NET" 2 --allow-device "$slow"
throttle_move "$group" "${AGENT[1]}"

test_slow_drive()
{
    throttle 2
    expect_exit 0 coordinate "$NET" "${run[@]}" --output "$TMP/slow"
    check_json "$TMP/slow/result.json" '.run.status == "done" and .phases[0].cluster.write.ops > 0'
    check_json "$TMP/slow/result.json" '.events | map(.kind) |
        all(. != "lease_expired" and . != "no_answer" and . != "host_lost")'
    check_json "$TMP/slow/result.json" '[.events[] | select(.kind == "slow_drive") | .text] |
        any(test("^still probing '"$slow"' for [0-9.]+ s while (loading|preparing)$"))'
}

# hang 1: the drive takes hours for the next operation; 0: it goes on. Never for long: it would hang
# for whoever else looks at this machine's drives, too.
hang()
{
    local number
    number=$(cat "/sys/class/block/${slow#/dev/}/dev")
    echo "$number $1" >"$group/blkio.throttle.read_bps_device"
}

# However the test ends, and not only then.
let_go()
{
    throttle 0
    hang 0
}

probing()
{
    grep -q "checking" "$TMP/run.err" && sleep 3 # long enough to be named
}

test_hung_drive()
{
    throttle 0
    hang 1
    coordinate_spawn "$NET" "${run[@]}" --output "$TMP/hung"
    local pid=$! status=0 begun_ns
    wait_for 10 probing
    check "the journal names the drive" grep -aqE \
        "still probing $slow for [0-9.]+ s while loading" "$TMP/hung/journal.rbj"
    begun_ns=$(date +%s%N)
    kill -INT "$pid"
    wait "$pid" || status=$?
    check "Ctrl-C ends a run that waits for a drive" [ "$status" = 130 ]
    check "at once" [ $((($(date +%s%N) - begun_ns) / 1000000)) -lt 2000 ]

    # The thread still hangs; whatever does not want that drive goes on.
    expect_exit 0 coordinate "$NET" hosts --hosts 10.77.0.1,10.77.0.2 --insecure
    cat >"$TMP/file.yaml" <<EOF
name: file
targets: {f: {size: 1MiB}}
phases: [{name: p, jobs: [{name: j, target: f, rw: randread, runtime: 1s}]}]
EOF
    expect_exit 0 coordinate "$NET" run "$TMP/file.yaml" --hosts 10.77.0.1,10.77.0.2 --insecure \
        --output "$TMP/file"

    # An agent in the middle of it is freed by another coordinator, and ended: at once for all who talk
    # to it. Its process is gone when the kernel gets what it waits for.
    coordinate_spawn "$NET" "${run[@]}" --output "$TMP/evicted"
    pid=$!
    wait_for 10 grep -q "checking" "$TMP/run.err"
    expect_exit 0 coordinate "$NET" stop --hosts "$TMP/hosts.yaml" --insecure
    wait "$pid" || true
    coordinate_spawn "$NET" "${run[@]}" --output "$TMP/ended"
    pid=$!
    wait_for 10 grep -q "checking" "$TMP/run.err"
    begun_ns=$(date +%s%N)
    kill -TERM "${AGENT[1]}"
    status=0
    wait "$pid" || status=$?
    hang 0
    wait "${AGENT[1]}" || true
    check "SIGTERM ends an agent whose probes hang" [ "$status" = 5 ]
    check "at once, for its coordinator" [ $((($(date +%s%N) - begun_ns) / 1000000)) -lt 3000 ]
    expect_match "agent a: it was told to end" "$(cat "$TMP/run.err")"
}

test_slow_drive
test_hung_drive
