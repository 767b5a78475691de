#!/usr/bin/env bash
# Before drives are written, `check` and `run` name each with model, serial number and size; a person at
# a terminal has to type the plan's name, and what is written then is what was shown, or nothing.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"

cat >"$TMP/plan.yaml" <<'PLAN'
name: wiper
targets:
  d: {devices: [/dev/nowhere]}
phases:
  - name: p
    destructive: true
    jobs:
      - {target: d, rw: randwrite, bs: 4KiB, offset: 1MiB, size: 2MiB, number_ios: 16}
  - name: r
    jobs:
      - {target: d, rw: randread, bs: 4KiB, number_ios: 16}
PLAN

# arguments COMMAND [ARGUMENT]...: the command line, for a shell.
arguments()
{
    local command=$1
    shift
    printf '%q ' rackbench "$command" "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" \
        --set "targets.d.devices=[$device]" --allow-device "$device" "$@"
}

# at_terminal STATUS KEYS ARGUMENT...: a run at a terminal of its own, where KEYS (printf's words) are
# typed once it asks.
at_terminal()
{
    local want=$1 keys=$2 got=0
    shift 2
    : >"$TMP/screen"
    {
        wait_for 30 grep -q "to go on: " "$TMP/screen"
        ${meanwhile:-true}
        # shellcheck disable=SC2059
        printf "$keys"
        sleep 1
    } | script --quiet --flush --return --command "$(arguments run --output "$TMP/run" "$@")" \
        "$TMP/screen" >/dev/null || got=$?
    [ "$got" -eq "$want" ] || fail "exit status $got instead of $want: $(cat "$TMP/screen")"
    echo "ok: exit status $want after '$keys'"
}

untouched()
{
    check "not one byte is written" cmp -n $((64 << 20)) "$device" /dev/zero
    check "no run directory is left" [ ! -e "$TMP/run" ]
}

# What is asked for is not given: another name, nothing, the end of input, Ctrl-C.
test_no()
{
    at_terminal 2 'wipe\n'
    expect_match "$device +- +loop:[^ ]+ +64 MiB +2 MiB from 1 MiB on: randwrite" "$(cat "$TMP/screen")"
    expect_match 'nothing was done' "$(cat "$TMP/screen")"
    untouched
    at_terminal 2 '\n'
    untouched
    at_terminal 2 '\004'
    untouched
    at_terminal 130 '\003'
    untouched
}

test_check()
{
    expect_exit 0 bash -c "$(arguments check)"
    expect_match "drives that will be written:
 +host +drive +model +serial +size +what of it
 +local1 +$device +- +loop:[^ ]+ +64 MiB +2 MiB from 1 MiB on: randwrite" "$OUTPUT"
    untouched
}

test_yes()
{
    at_terminal 0 'wiper\n'
    check_json "$TMP/run/result.json" '.run.status == "done"'
    check "it wrote" [ "$(cmp -n $((64 << 20)) "$device" /dev/zero 2>&1 | wc -l)" -eq 1 ]
    rm -r "$TMP/run"
}

# A drive that is another one when the run begins, here by its size, is not what was confirmed.
test_swapped()
{
    local meanwhile=shrink
    at_terminal 2 'wiper\n'
    expect_match 'not those that were confirmed' "$(cat "$TMP/screen")"
    check "not one byte is written" cmp -n $((32 << 20)) "$device" /dev/zero
    check "no run directory is left" [ ! -e "$TMP/run" ]
}

shrink()
{
    truncate -s 32M "$(loop_file "$device")"
    losetup --set-capacity "$device"
}

# Without a terminal, and with --yes at one, nothing is asked, but the drives are named.
test_unasked()
{
    expect_exit 0 bash -c "$(arguments run --output "$TMP/run" --quiet)"
    expect_match "will be lost:.*$device +- +loop:[^ ]+ +64 MiB" "$OUTPUT"
    rm -r "$TMP/run"
    script --quiet --flush --return --command "$(arguments run --output "$TMP/run" --yes)" \
        "$TMP/screen" </dev/null >/dev/null || fail "with --yes: $(cat "$TMP/screen")"
    check "nothing is asked with --yes" [ "$(grep -c "to go on" "$TMP/screen")" = 0 ]
    expect_match "will be lost:.*$device +- +loop:[^ ]+ +64 MiB" "$(cat "$TMP/screen")"
    rm -r "$TMP/run"
}

# Reads need no consent.
test_reads()
{
    sed '/name: p$/,/randwrite/d' "$TMP/plan.yaml" >"$TMP/reads.yaml"
    script --quiet --flush --return --command \
        "rackbench run $TMP/reads.yaml --local 1 --set 'targets.d.devices=[$device]' --output $TMP/run" \
        "$TMP/screen" </dev/null >/dev/null || fail "reads: $(cat "$TMP/screen")"
    check "a plan that reads asks nothing" [ "$(grep -c "lost\|to go on" "$TMP/screen")" = 0 ]
    rm -r "$TMP/run"
}

device=$(loop_make 64)
test_check
test_no
test_yes
test_unasked
test_reads
device=$(loop_make 64)
test_swapped
