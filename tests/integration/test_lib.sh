#!/usr/bin/env bash
# The test libraries themselves: hosts reach each other and lose each other, devices come and go,
# a throttled drive keeps to its rate, and nothing stays behind however a test ends.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

# script NAME: reads the body of a test from standard input, prints the path of its script.
script()
{
    {
        for lib in check netns devices; do
            echo "source '$ROOT/tests/lib/$lib.sh'"
        done
        cat
    } >"$TMP/$1.sh"
    echo "$TMP/$1.sh"
}

test_checks()
{
    expect_exit 1 bash "$(script check <<<'check "one is two" [ 1 = 2 ]')"
    expect_match "FAILED: one is two" "$OUTPUT"
    expect_exit 1 bash "$(script exit <<<'expect_exit 3 sh -c "echo why; exit 4"')"
    expect_match "why.*exit status 4 instead of 3" "$OUTPUT"
    expect_exit 1 bash "$(script match <<<'expect_match "^b" "abc"')"
    expect_exit 1 bash "$(script wait <<<'wait_for 1 false')"
    # shellcheck disable=SC2016 # for the inner script to expand
    expect_exit 77 bash "$(script skip <<<'x=$(skip "no reason"); echo "$x"')"
    echo '{"a": {"b": 7}}' >"$TMP/a.json"
    check "json reads a value" [ "$(json "$TMP/a.json" .a.b)" = 7 ]
    check_json "$TMP/a.json" '.a.b > 6'
    expect_exit 1 bash "$(script json <<<"check_json '$TMP/a.json' '.a.b > 7'")"
    expect_exit 1 bash "$(script none <<<"json '$TMP/a.json' .a.c")"
}

reaches()
{
    netns_exec "$1" "$2" ping -c 1 -W 1 -q "$3" >/dev/null
}

test_network()
{
    local net="rbt$$" pid status=0
    netns_up "$net" 3 10.78.0.1
    check "a host reaches the next" reaches "$net" 1 10.78.0.2
    check "the coordinator reaches the last" reaches "$net" c 10.78.0.3
    netns_link "$net" 2 down
    expect_exit 1 reaches "$net" 1 10.78.0.2
    netns_link "$net" 2 up
    check "and again when plugged in" wait_for 3 reaches "$net" 1 10.78.0.2

    netns_spawn "$net" 3 sleep 100
    pid=$!
    wait_for 2 grep -q sleep "/proc/$pid/comm"
    check "what was started runs in its namespace" [ "$(ip netns pids "$net-3")" = "$pid" ]
    netns_down "$net"
    wait "$pid" || status=$?
    check "what ran in it was terminated" [ "$status" = 143 ]
    check "no namespace is left" [ -z "$(ip netns list | grep "^$net-")" ]
    netns_down "$net"
}

test_devices()
{
    local loop zram file
    loop=$(loop_make 64)
    file=$(loop_file "$loop")
    check "the loop device has its size" [ "$(blockdev --getsize64 "$loop")" = $((64 << 20)) ]
    check "and direct I/O" grep -qx 1 "/sys/block/${loop#/dev/}/loop/dio"
    loop_drop "$loop"
    check "its file is gone" [ ! -e "$file" ]
    check "and so is it" [ ! -e "/sys/block/${loop#/dev/}/loop" ]
    loop_drop "$loop"

    zram=$(zram_make 32)
    check "the zram device has its size" [ "$(blockdev --getsize64 "$zram")" = $((32 << 20)) ]
    zram_drop "$zram"
    check "and is gone" [ ! -e "/sys/block/${zram#/dev/}" ]
    zram_drop "$zram"
}

# iops read|write: what fio reaches within the group, in a second at queue depth 8.
iops()
{
    throttle_exec "$group" fio --name=j --filename="$dev" --ioengine=io_uring --direct=1 \
        --rw="rand$1" --bs=4k --iodepth=8 --time_based --runtime=1 --output-format=json \
        >"$TMP/fio.json"
    json "$TMP/fio.json" ".jobs[0].$1.iops | round"
}

within()
{
    [ "$1" -le "$2" ] && [ "$2" -le "$3" ]
}

test_throttle()
{
    local dev group free held
    dev=$(loop_make 64)
    group=$(throttle_make)
    free=$(iops read)
    check "free: $free reads a second, above 2000" [ "$free" -gt 2000 ]
    throttle_iops "$group" "$dev" read 500
    held=$(iops read)
    check "held to 500 reads a second: $held" within 400 "$held" 600
    free=$(iops write)
    check "writes are free still: $free" [ "$free" -gt 2000 ]
    throttle_iops "$group" "$dev" write 300
    held=$(iops write)
    check "held to 300 writes a second: $held" within 240 "$held" 360
    throttle_iops "$group" "$dev" read 0
    check "lifted" [ "$(iops read)" -gt 2000 ]
    throttle_drop "$group"
}

# A test that is interrupted with everything in use leaves nothing behind.
test_removal()
{
    local net="rbx$$" pid directory loop group
    bash "$(script removal <<EOF2
netns_up $net 1
loop=\$(loop_make 16)
group=\$(throttle_make)
throttle_exec "\$group" true
netns_spawn $net 1 sleep 100
echo "\$TMP \$loop \$group" >"$TMP/made.new"
mv "$TMP/made.new" "$TMP/made"
sleep 0.1 && wait
EOF2
    )" &
    pid=$!
    wait_for 10 test -e "$TMP/made"
    kill -TERM "$pid"
    wait "$pid" && fail "the interrupted test must not pass"
    read -r directory loop group <"$TMP/made"
    check "no namespace is left" [ -z "$(ip netns list | grep "^$net-")" ]
    check "no loop device" [ ! -e "/sys/block/${loop#/dev/}/loop" ]
    check "no control group" [ ! -e "$group" ]
    check "no directory" [ ! -e "$directory" ]
}

test_checks
test_network
test_devices
test_throttle
test_removal
