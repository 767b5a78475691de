# shellcheck shell=bash
# devices.sh - block devices that a test makes for itself, and slow ones; source it after check.sh.
# Needs root. Everything made here is removed at the end of the test, or earlier by hand; a device
# that this test did not make is never touched.

# loop_make SIZE_MIB: prints /dev/loopN: direct I/O on a file in a tmpfs of its own, so that reads
# and writes are truly asynchronous and cost memory only.
loop_make()
{
    local size_mib=$1 dir dev
    need_root
    dir=$(mktemp -d "$TMP/loop.XXXXXX")
    mount -t tmpfs -o "size=$((size_mib + 1))m" rackbench-test "$dir" >&2
    at_exit umount_quiet "$dir"
    truncate -s "${size_mib}M" "$dir/disk"
    dev=$(losetup --find --show --direct-io=on "$dir/disk") || skip "no loop device with direct I/O"
    at_exit loop_drop "$dev"
    echo "$dev"
}

# loop_file /dev/loopN: prints the file behind it (cut it short, and reads beyond fail with EIO).
loop_file()
{
    cat "/sys/block/${1#/dev/}/loop/backing_file"
}

# loop_drop /dev/loopN: detaches it and frees its memory. Idempotent.
loop_drop()
{
    local file
    file=$(loop_file "$1" 2>/dev/null) || return 0
    case $file in
    "$TMP"/*)
        losetup --detach "$1"
        # The device lives on until its last user closes it, and with it the mount.
        umount_quiet "$(dirname "$file")"
        ;;
    esac
}

umount_quiet()
{
    umount --lazy "$1" 2>/dev/null || true
}

# zram_make SIZE_MIB: prints /dev/zramN: compressed memory; its I/O goes through io-wq threads.
zram_make()
{
    local n
    need_root
    n=$(cat /sys/class/zram-control/hot_add 2>/dev/null) || skip "no zram here"
    touch "$TMP/zram$n"
    at_exit zram_drop "/dev/zram$n"
    echo "${1}M" >"/sys/block/zram$n/disksize"
    echo "/dev/zram$n"
}

# zram_drop /dev/zramN. Idempotent.
zram_drop()
{
    local name=${1#/dev/}
    [ -e "$TMP/$name" ] || return 0
    echo 1 >"/sys/block/$name/reset"
    echo "${name#zram}" >/sys/class/zram-control/hot_remove
    rm "$TMP/$name"
}

# throttle_make: prints a new control group (a directory) whose I/O can be held back. Uses the blkio
# controller of cgroup v1 and mounts it if nobody has; skips where the kernel has bound it to v2.
throttle_make()
{
    local hierarchy group
    need_root
    hierarchy=$(findmnt -n -o TARGET -t cgroup -O blkio | head -n 1)
    if [ -z "$hierarchy" ]; then
        hierarchy="$TMP/blkio"
        mkdir -p "$hierarchy"
        mount -t cgroup -o blkio blkio "$hierarchy" 2>/dev/null || skip "no blkio cgroup v1 here"
        at_exit umount_quiet "$hierarchy"
    fi
    group="$hierarchy/rackbench-test-$$-$BASHPID"
    mkdir "$group"
    at_exit throttle_drop "$group"
    echo "$group"
}

# throttle_drop GROUP: processes that are still in it go free. Idempotent.
throttle_drop()
{
    local pid
    [ -d "$1" ] || return 0
    while read -r pid; do
        echo "$pid" >"$(dirname "$1")/cgroup.procs" || true
    done <"$1/cgroup.procs"
    rmdir "$1"
}

# throttle_iops GROUP DEVICE read|write N: at most N operations a second by the whole group; 0 lifts
# the limit. May change while the group runs.
throttle_iops()
{
    local number
    number=$(cat "/sys/class/block/${2#/dev/}/dev")
    echo "$number $4" >"$1/blkio.throttle.$3_iops_device"
}

# throttle_move GROUP PID: a running process with all its threads moves into the group.
throttle_move()
{
    echo "$2" >"$1/cgroup.procs"
}

# throttle_exec GROUP COMMAND [ARGUMENT]...: runs COMMAND, and all that it starts, in the group.
throttle_exec()
{
    local group=$1
    shift
    (
        throttle_move "$group" "$BASHPID"
        exec "$@"
    )
}
