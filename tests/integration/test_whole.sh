#!/usr/bin/env bash
# A result speaks of the whole fleet or says of which part: a host that is not there, that is slow to
# get ready, that dies or that is slow in 1 % of its operations neither goes unnoticed nor takes the
# others' results with it.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbw$$"
concat="${RACKBENCH_BUILD:-$ROOT/build}/tests/bin/concat"
cat >"$TMP/plan.yaml" <<'PLAN'
name: whole
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: first
    runtime: 1500ms
    jobs:
      - {name: j, target: s, rw: randread, bs: 4KiB, iodepth: 4, rate_iops: 400}
  - name: second
    runtime: 1s
    jobs:
      - {name: j, target: s, rw: randread, bs: 8KiB, iodepth: 4, rate_iops: 200}
PLAN

run_five()
{
    local want=$1 directory=$2
    shift 2
    expect_exit "$want" coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$directory" \
        --hosts "10.77.0.[1-5]" --connect-timeout 2s "$@"
}

# Nobody listens on the fifth.
test_closed_port()
{
    run_five 3 "$TMP/closed"
    expect_match "rackbench: agent 10\.77\.0\.5: no answer from 10\.77\.0\.5:7411 within 2\.0 s" \
        "$OUTPUT"
    check "there is no aggregate of the four others" [ -z "$(grep IOPS <<<"$OUTPUT")" ]
    check "a run that measured nothing leaves nothing" [ ! -e "$TMP/closed" ]
    run_five 5 "$TMP/four" --set on_host_loss=continue
    expect_match "rackbench: 1 of 5 hosts were lost" "$OUTPUT"
    expect_match "whole \([a-z0-9]+\): 4 of 5 hosts" "$OUTPUT"
    expect_match "10\.77\.0\.5 host_lost: no answer" "$OUTPUT"
    run_five 0 "$TMP/allowed" --set on_host_loss=continue --set min_hosts=4
    expect_match "10\.77\.0\.5 host_lost: no answer" "$OUTPUT"
    check_json "$TMP/allowed/result.json" '.phases[0].hosts | length == 4'
    check_json "$TMP/allowed/result.json" '[.events[] | select(.kind == "host_lost").host] ==
        ["10.77.0.5"]'
}

# The fifth accepts connections, and that is all it ever does.
test_accepts_and_never_answers()
{
    local got=0 start_ns
    # shellcheck disable=SC2016 # for perl to expand
    netns_spawn "$net" 5 perl -MIO::Socket::INET -e 'my @open; my $l = IO::Socket::INET->new(
        LocalAddr => "10.77.0.5", LocalPort => 7411, Listen => 5, ReuseAddr => 1) or die;
        while (my $c = $l->accept()) { push @open, $c; }'
    wait_for 5 netns_exec "$net" c bash -c 'exec 3<>/dev/tcp/10.77.0.5/7411'
    run_five 3 "$TMP/mute"
    expect_match "rackbench: agent 10\.77\.0\.5: no answer from 10\.77\.0\.5:7411 within 2\.0 s" \
        "$OUTPUT"
    run_five 0 "$TMP/mute4" --set on_host_loss=continue --set min_hosts=4
    check_json "$TMP/mute4/result.json" '.phases | map(.hosts | length) == [4, 4]'
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/mutec" \
        --hosts "10.77.0.[1-5]" --connect-timeout 60s
    local run=$!
    wait_for 5 grep -q connecting "$TMP/run.err"
    sleep 0.5
    start_ns=$(date +%s%N)
    kill -INT "$run"
    wait "$run" || got=$?
    check "Ctrl-C ends the waiting" [ "$got" = 130 ]
    check "at once" [ $(($(date +%s%N) - start_ns)) -lt 1500000000 ]
    expect_exit 0 coordinate "$net" hosts --insecure --hosts "10.77.0.[1-4]"
}

# One aggregate a phase, each with the rate of its own.
test_two_phases()
{
    expect_exit 0 coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/phases" \
        --hosts "10.77.0.[1-4]"
    check_json "$TMP/phases/result.json" '.phases | map(.name) == ["first", "second"]'
    check_json "$TMP/phases/result.json" '.phases | map(.cluster.read.iops) |
        (.[0] - 1600 | fabs < 100) and (.[1] - 800 | fabs < 50)'
    check_json "$TMP/phases/result.json" '.phases | map(.cluster.read | .bytes / .ops) ==
        [4096, 8192]'
    check "the table has one line a phase for all hosts" \
        [ "$(grep -c "^  all hosts  " <<<"$OUTPUT")" = 2 ]
}

# The second host writes its file at 5 MiB/s: nobody has started before it is ready.
test_slow_layout()
{
    local dev group number before status=0
    dev=$(loop_make 64)
    mkfs.ext4 -q -O ^has_journal "$dev"
    mkdir "$TMP/slow"
    mount "$dev" "$TMP/slow"
    at_exit umount_quiet "$TMP/slow"
    group=$(throttle_make)
    number=$(cat "/sys/class/block/${dev#/dev/}/dev")
    echo "$number 5242880" >"$group/blkio.throttle.write_bps_device"
    kill "${AGENT[2]}"
    wait "${AGENT[2]}" || true
    agent_up "$net" 2 10.77.0.2 --scratch "$TMP/slow"
    throttle_move "$group" "${AGENT[2]}"
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/slowly" \
        --hosts "10.77.0.[1-2]" --set targets.s.size=30MiB
    local run=$!
    wait_for 5 grep -q "laying out" "$TMP/run.err"
    sleep 3
    before=$(awk '$1 == "read_bytes:" {print $2}' "/proc/${AGENT[1]}/io")
    sleep 1
    check "the first host, long ready, does nothing yet" \
        [ "$(awk '$1 == "read_bytes:" {print $2}' "/proc/${AGENT[1]}/io")" = "$before" ]
    check "as the second still lays out" [ -z "$(grep running "$TMP/run.err")" ]
    wait "$run" || status=$?
    check "the run ended well" [ "$status" = 0 ]
    check_json "$TMP/slowly/result.json" '.prepare[0].seconds > 4'
    check_json "$TMP/slowly/result.json" '.phases[0] | .start.skew_ns < 400000000 and
        (.hosts | map(.total.read.ops) | min > 590)'
}

# The first host has a drive that takes 50 ms and more an operation, 0.7 % of the cluster's: p99 of the whole
# is that of the fast drives, p99.9 that of the slow one, whatever either host says of its own.
test_slow_percent()
{
    local fast slow group op which name value grain
    fast=$(loop_make 64)
    slow=$(loop_make 64)
    cat >"$TMP/hosts.yaml" <<'HOSTS'
hosts:
  - {name: a, address: 10.77.0.1, labels: {slow: yes}}
  - {name: b, address: 10.77.0.3}
HOSTS
    cat >"$TMP/percent.yaml" <<PLAN
name: percent
lease: 30s # so slow a drive also takes long to be probed
targets:
  f: {devices: [$fast]}
  d: {devices: [$slow]}
phases:
  - name: mixed
    runtime: 5s
    jobs:
      - {name: fast, target: f, rw: randread, iodepth: 4, rate_iops: 700}
      - {name: slow, target: d, rw: randread, iodepth: 1, on: {slow: yes}}
PLAN
    group=$(throttle_make)
    throttle_iops "$group" "$slow" read 10
    throttle_move "$group" "${AGENT[1]}"
    expect_exit 0 coordinate "$net" run "$TMP/percent.yaml" --insecure --output "$TMP/percent" \
        --hosts "$TMP/hosts.yaml"
    check_json "$TMP/percent/result.json" '.phases[0] | .jobs.slow.read |
        .ops > 40 and .ops < 60 and .service_ns.p50 > 50000000'
    "$concat" "$TMP/percent/journal.rbj" 0 >"$TMP/samples"
    cat "$TMP/samples"
    while read -r op which name value; do
        grain=128
        [ "$name" != count ] || grain=1e9
        check_json "$TMP/percent/result.json" \
            ".phases[0].cluster.$op.${which}_ns.$name - $value | fabs <= $value / $grain"
    done <"$TMP/samples"
    # It is neither host's own, nor their maximum.
    check_json "$TMP/percent/result.json" '.phases[0] |
        .hosts.a.total.read.response_ns.p99 > 50000000 and
        .cluster.read.response_ns.p99 < .hosts.a.total.read.response_ns.p99 and
        .cluster.read.response_ns.p99 >= .hosts.b.total.read.response_ns.p99 and
        .cluster.read.response_ns.p99_9 > 50000000'
}

# A host whose cable is cut does not hold up who wants to go.
test_interrupt_twice()
{
    local got=0 start_ns
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/cut" \
        --hosts "10.77.0.[1-4]" --set phases.0.runtime=20s --set lease=20s
    local run=$!
    wait_for 8 running
    sleep 1.3
    netns_link "$net" 4 down
    kill -INT "$run"
    sleep 0.4
    check "it waits for the host that does not answer" kill -0 "$run"
    start_ns=$(date +%s%N)
    kill -INT "$run"
    wait "$run" || got=$?
    check "a second Ctrl-C ends it" [ "$got" = 130 ]
    check "at once" [ $(($(date +%s%N) - start_ns)) -lt 1500000000 ]
    check_json "$TMP/cut/result.json" '.run.status == "truncated" and
        (.phases[0].hosts | map(.total.read.ops) | min > 250)'
    expect_match "read response" "$(cat "$TMP/run.out")"
    netns_link "$net" 4 up
}

netns_up "$net" 5
agents_up "$net" 4
test_closed_port
test_accepts_and_never_answers
test_two_phases
test_slow_layout
test_slow_percent
test_interrupt_twice
