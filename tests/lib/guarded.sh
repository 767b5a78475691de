# shellcheck shell=bash
# guarded.sh - plans that write to a drive or directory they should not; source it after check.sh.
# Needs root.

source "$(dirname "${BASH_SOURCE[0]}")/devices.sh"
need_root

# guarded COMMAND ARGUMENT...: rackbench with one embedded agent that allows all there is.
guarded()
{
    local command=$1
    shift
    rackbench "$command" "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" "$@"
}

# plan DEVICE RW [PHASE KEYS]
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: guard
targets:
  d: {devices: [$1]}
phases:
  - {name: p, ${3-destructive: true,} jobs: [{name: j, target: d, rw: $2, runtime: 300ms}]}
PLAN
}

sum()
{
    [ "$1" != - ] || return 0
    sync
    sha256sum "$(loop_file "$1" 2>/dev/null || echo "$1")"
}

# Every run has a directory of its own.
run_guarded()
{
    guarded run --output "$(mktemp -d "$TMP/run.XXXXXX")" "$@"
}

# refuses DISK DEVICE REGEX [ALLOWANCE]: writing to DEVICE is refused for the reason, and DISK keeps
# its bytes (-: nobody looks).
refuses()
{
    local disk=$1 device=$2 reason=$3 allowed=${4-$2} before
    plan "$device" randwrite
    before=$(sum "$disk")
    expect_exit 2 run_guarded --yes --allow-device "$allowed"
    expect_match "rackbench: agent local1: refused: $device: $reason" "$OUTPUT"
    check "not one byte has changed" [ "$(sum "$disk")" = "$before" ]
    expect_exit 2 guarded check --allow-device "$allowed"
    expect_match "REFUSED: $device: $reason" "$OUTPUT"
    check "nor by check" [ "$(sum "$disk")" = "$before" ]
}

# fresh: a new $disk.
fresh()
{
    disk=$(loop_make 32)
}

# hold DEVICE: $holder opens it exclusively.
hold()
{
    rm -f "$TMP/holder"
    perl -e 'use Fcntl; $| = 1; sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) or die;
        print "open\n"; sleep 60' "$1" >"$TMP/holder" &
    holder=$!
    at_exit end "$holder"
    wait_for 3 grep -q open "$TMP/holder"
}

swap_off()
{
    swapoff "$1" 2>/dev/null || true
}

detach()
{
    losetup --detach "$1" 2>/dev/null || true
}

end()
{
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}
