#!/usr/bin/env bash
# What goes wrong before or beside the measuring: bad input, hosts that do not answer, disks that
# are full, strangers on the ports. One line says what, the exit status says which kind.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbe$$"
cat >"$TMP/plan.yaml" <<'PLAN'
name: errors
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: reading
    runtime: 2s
    jobs:
      - {name: j, target: s, rw: randread, iodepth: 2, rate_iops: 300}
PLAN

# one_line REGEX: of what the last expect_exit printed, one line is ours, and it matches.
one_line()
{
    local lines
    lines=$(grep '^rackbench: ' <<<"$OUTPUT" || true)
    check "one line says it" [ "$(wc -l <<<"$lines")" = 1 ]
    expect_match "$1" "$lines"
}

# run_errors DIRECTORY ARGUMENT...: the plan, from the coordinator's namespace.
run_errors()
{
    local directory=$1
    shift
    coordinate "$net" run "$TMP/plan.yaml" --insecure --output "$directory" "$@"
}

# A start apart, which a busy machine may cause, nothing happened.
check_undisturbed()
{
    check_json "$1" '.run.status == "done" and
        ([.events[].kind] - ["max_skew", "common_share", "steal"] == [])'
}

# small_disk SIZE: prints a directory with so much room.
small_disk()
{
    local dir
    dir=$(mktemp -d "$TMP/small.XXXXXX")
    mount -t tmpfs -o "size=$1" rackbench-test "$dir" || skip "no tmpfs here"
    at_exit umount "$dir"
    echo "$dir"
}

test_input()
{
    sed 's/iodepth: 2/iodpeth: 2/' "$TMP/plan.yaml" >"$TMP/wrong.yaml"
    expect_exit 1 rackbench run "$TMP/wrong.yaml" --local 1 --output "$TMP/wrong"
    check "a wrong key: where, what, and what would be right" [ "$OUTPUT" = \
        "rackbench: $TMP/wrong.yaml:9:44: unknown key 'iodpeth'; did you mean 'iodepth'?" ]
    check "no run directory is made for it" [ ! -e "$TMP/wrong" ]

    local command
    for command in "plan show quick" "check quick" "hosts --local 1" --version; do
        # shellcheck disable=SC2086 # words
        expect_exit 4 bash -c 'rackbench "$@" >/dev/full' - $command
        one_line "write to standard output: No space left on device"
    done

    sed 's|{size: 4MiB}|{size: 4MiB, directory: /nosuch}|' "$TMP/plan.yaml" >"$TMP/missing.yaml"
    expect_exit 1 rackbench run "$TMP/missing.yaml" --local 1 --output "$TMP/missing" \
        --scratch "$TMP/scratch.local"
    one_line "agent local1: target 's': directory /nosuch does not exist on this host; create it"
    check "it is not created" [ ! -e /nosuch ]
}

test_unreachable()
{
    local start_ns
    expect_exit 3 run_errors "$TMP/none" --hosts 10.77.0.9 --connect-timeout 1s
    check "nothing was measured, and nothing is left" [ ! -e "$TMP/none" ]
    one_line "agent 10\.77\.0\.9: no answer from 10\.77\.0\.9:7411 within 1\.0 s; is rackbench"

    expect_exit 3 run_errors "$TMP/one" --hosts 10.77.0.1,10.77.0.9 --connect-timeout 1s
    one_line "agent 10\.77\.0\.9: no answer"
    check "the one that answered is not blamed" [ -z "$(grep "agent 10.77.0.1" <<<"$OUTPUT")" ]

    expect_exit 3 coordinate "$net" hosts --hosts 10.77.0.1,10.77.0.9 --insecure \
        --connect-timeout 1s
    expect_match "10\.77\.0\.1  $(hostname), Linux" "$OUTPUT"
    expect_match "10\.77\.0\.9  no answer" "$OUTPUT"

    # It takes the connection and says nothing.
    # shellcheck disable=SC2016 # for perl to expand
    netns_spawn "$net" 2 perl -MIO::Socket::INET -e 'my $l = IO::Socket::INET->new(Listen => 5,
        LocalAddr => "10.77.0.2:7499") or die; my @all;
        while (my $c = $l->accept) { push @all, $c }'
    wait_for 3 netns_exec "$net" c bash -c ": >/dev/tcp/10.77.0.2/7499"
    start_ns=$(date +%s%N)
    expect_exit 3 run_errors "$TMP/mute" --hosts 10.77.0.2:7499 --connect-timeout 1s
    one_line "agent 10\.77\.0\.2:7499: no answer from 10\.77\.0\.2:7499 within 1\.0 s"
    check "within the connect timeout" [ $(($(date +%s%N) - start_ns)) -lt 2500000000 ]
}

test_busy()
{
    local pid id
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/owner" \
        --hosts "10.77.0.[1-2]"
    pid=$!
    wait_for 5 running
    expect_exit 3 run_errors "$TMP/second" --hosts 10.77.0.2,10.77.0.3
    wait "$pid" || fail "the owner's run: exit status $?: $(cat "$TMP/run.err")"
    id=$(json "$TMP/owner/result.json" .run.id)
    one_line "agent 10\.77\.0\.2: busy with run $id since 20.* UTC"
    check_undisturbed "$TMP/owner/result.json"
    expect_exit 0 run_errors "$TMP/after" --hosts 10.77.0.2,10.77.0.3
}

test_full_agent()
{
    local dir
    dir=$(small_disk 6m)
    agent_spawn "$net" 3 --listen tcp://10.77.0.3:7412 --scratch "$dir"
    agent_spawn "$net" 4 --listen tcp://10.77.0.4:7412 --scratch "$dir"
    # Seen in advance: this much is not free.
    expect_exit 4 run_errors "$TMP/full1" --hosts 10.77.0.3:7412 --set targets.0.size=8MiB
    one_line "agent 10\.77\.0\.3:7412: target 's': needs 8 MiB in $dir, [0-9.]+ MiB are free"
    # Seen when it happens: there is room for one of the two files.
    expect_exit 4 run_errors "$TMP/full2" --hosts 10.77.0.3:7412,10.77.0.4:7412
    one_line "agent 10\.77\.0\.[34]:7412: .*lay out $dir/rackbench.*: No space left on device"
    check "no half of a file stays" [ -z "$(find "$dir" -name '*.part')" ]
}

test_full_coordinator()
{
    local dir
    dir=$(small_disk 96k)
    mkdir "$dir/run"
    expect_exit 4 run_errors "$dir/run" --hosts "10.77.0.[1-2]" --set interval=10ms \
        --set phases.0.runtime=30s
    one_line "journal.rbj: .*No space left on device"
    check "the agents did not go on to the end" [ "$SECONDS" -lt 45 ]
    expect_exit 0 coordinate "$net" report "$dir/run"
    expect_match "errors \([a-z0-9]+\): 2 hosts" "$OUTPUT"
    expect_match "read response +[0-9.]+" "$OUTPUT"
    expect_match "truncated" "$OUTPUT"
    # They hold what was not written, for `resume`, and another run that needs them has them at once.
    expect_exit 0 run_errors "$TMP/roomy" --hosts "10.77.0.[1-2]"
}

# What nobody should send: no ZMTP, a lot of nothing, and ZMTP that carries no frame of ours.
garbage_tcp()
{
    netns_exec "$net" c bash -c "exec 3<>/dev/tcp/10.77.0.1/7411; echo 'GET / HTTP/1.0' >&3"
    netns_exec "$net" c bash -c "head -c 100000 /dev/urandom >/dev/tcp/10.77.0.1/7411" \
        2>/dev/null || true # cut off
    # shellcheck disable=SC2016 # for perl to expand
    netns_exec "$net" c perl -MIO::Socket::INET -e '
        my $s = IO::Socket::INET->new(PeerAddr => "10.77.0.1:7411") or die;
        print $s "\xff" . "\0" x 8 . "\x7f\x03\0" . "NULL" . "\0" x 16 . "\0" . "\0" x 31;
        print $s "\x04\x2d\x05READY\x0bSocket-Type\0\0\0\x06DEALER\x08Identity\0\0\0\x04evil";
        $s->flush;
        for (1 .. 4) { # the other side may take its time to be ready
            select(undef, undef, undef, 0.4);
            print $s "\0\x04junk"; $s->flush }'
}

garbage_ipc()
{
    perl -MIO::Socket::UNIX -e '
        for my $text ("GET / HTTP/1.0\r\n\r\n", "\xff" x 5000, "") {
            my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die;
            print $s $text; $s->flush }' "$1"
}

test_garbage()
{
    local pid socket
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/noise" \
        --hosts "10.77.0.[1-2]" --set phases.0.runtime=3s
    pid=$!
    wait_for 5 running
    garbage_tcp
    wait "$pid" || fail "a run among garbage: exit status $?: $(cat "$TMP/run.err")"
    check_undisturbed "$TMP/noise/result.json"
    wait_for 5 grep -q "frame refused, from" "$TMP/agent.1.log"
    echo "ok: the agent has seen the frame"

    rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch.local" --output "$TMP/noise2" \
        >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    pid=$!
    wait_for 5 running
    socket=$(tr '\0' '\n' <"/proc/$(pgrep -P "$pid" rackbench-agent)/cmdline" |
        sed -n 's|^ipc://||p')
    garbage_ipc "$socket"
    wait "$pid" || fail "a local run among garbage: exit status $?: $(cat "$TMP/run.err")"
    check_undisturbed "$TMP/noise2/result.json"
}

# Two hosts read a loop device of which half the file is gone: every other read fails.
test_many_io_errors()
{
    local device start_ns
    device=$(loop_make 16)
    truncate -s 8M "$(loop_file "$device")"
    cat >"$TMP/many.yaml" <<PLAN
name: many
interval: 250ms
targets: {d: {devices: [$device]}}
phases:
  - {name: p, stop_when: {errors: 40}, jobs: [{name: j, target: d, rw: randread, rate_iops: 50,
      continue_on_error: read, runtime: 60s}]}
PLAN
    start_ns=$(date +%s%N)
    expect_exit 4 coordinate "$net" run "$TMP/many.yaml" --insecure --hosts "10.77.0.[1-2]" \
        --output "$TMP/many"
    one_line "phase p: [0-9]+ I/O errors on all hosts together, .*, and stop_when ends the run at 40"
    check "long before its time" [ $(($(date +%s%N) - start_ns)) -lt 30000000000 ]
    check_json "$TMP/many/result.json" '.run.status == "failed" and
        ([.phases[0].hosts[].total.read.errors] | length == 2 and all(. < 40)) and
        (.phases[0].cluster.read | .errors >= 40 and .errors < 120 and .ops > 0)'
}

netns_up "$net" 4
agents_up "$net" 3
test_input
test_unreachable
test_busy
test_full_agent
test_full_coordinator
test_garbage
test_many_io_errors
