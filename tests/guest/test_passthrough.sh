#!/usr/bin/env bash
# NVMe passthrough: commands to /dev/ng0n1 do what reads and writes of /dev/nvme0n1 do, and the
# drive itself counts as many as we do. The guard follows the name to its block device.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_program nvme mkfs.ext4
guest_enter
source "$(dirname "$0")/one_drive.sh"

# How many commands of the host's the drive has counted: host_read_commands, ...
counted()
{
    nvme smart-log /dev/nvme0 -o json | jq -er ".$1"
}

# What the drive holds, past the kernel's cache of the block device.
part()
{
    blockdev --flushbufs /dev/nvme0n1
    dd if=/dev/nvme0n1 bs=1M skip="$1" count="$2" 2>/dev/null
}

written()
{
    part "$1" "$2" | tr -d '\0' | wc -c
}

# drive_counts OP KEYS LOOKS: a run whose operations of that kind the drive counts one by one, with
# fewer than LOOKS of the guard's.
drive_counts()
{
    local op=$1 before after looks
    before=$(counted "host_${op}_commands")
    run_plan /dev/ng0n1 "ioengine: io_uring_cmd, $2"
    after=$(counted "host_${op}_commands")
    looks=$((after - before - ${FACTS[$op.ops]}))
    check "${FACTS[$op.ops]} operations of $op" [ "${FACTS[$op.ops]}" -ge 16 ]
    check "are as many commands of the drive's, and $looks more" [ "$looks" -ge 0 ]
    check "which are few" [ "$looks" -lt "$3" ]
}

test_write()
{
    drive_counts write "rw: write, bs: 64KiB, iodepth: 4, offset: 8MiB, size: 1MiB, io_size: 1MiB" 1
    check "in front of the region is nothing" [ "$(written 0 8)" = 0 ]
    check "behind it neither" [ "$(written 9 7)" = 0 ]
    check "no two of its blocks are the same" \
        [ "$(part 8 1 | xxd -p -c 4096 | sort -u | wc -l)" = 256 ]
    drive_counts write "rw: randwrite, iodepth: 8, numjobs: 2, number_ios: 500" 1
    drive_counts write "rw: randwrite, sync: dsync, iodepth: 8, number_ios: 500" 1
}

test_read()
{
    local before raised
    drive_counts read "rw: randread, iodepth: 4, number_ios: 2000" 400
    before=$(interrupts)
    drive_counts read "rw: randread, iodepth: 4, number_ios: 2000, hipri: true" 400
    raised=$(($(interrupts) - before))
    check "polled: $raised interrupts" [ "$raised" -lt 1000 ]
    check "nothing else was done instead" [ -z "${FACTS[fallbacks]}" ]
}

test_refused()
{
    refused /dev/ng0n1 "rw: randread, number_ios: 10" "ioengine: io_uring_cmd"
    refused /dev/nvme0n1 "rw: randread, number_ios: 10, ioengine: io_uring_cmd" "/dev/ng"
    refused /dev/ng0n1 "rw: randread, ioengine: io_uring_cmd, bs: 1MiB, number_ios: 10" \
        "takes no read of 1048576 bytes in one command .*; lower bs"
}

test_guard()
{
    plan /dev/ng0n1 "rw: randwrite, ioengine: io_uring_cmd, number_ios: 10"
    expect_exit 2 local_run run --yes --output "$TMP/not_allowed"
    expect_match "refused: /dev/ng0n1: the agent does not allow writing to it" "$OUTPUT"
    mkfs.ext4 -q /dev/nvme0n1
    mkdir "$TMP/mnt"
    mount -o ro /dev/nvme0n1 "$TMP/mnt"
    expect_exit 2 local_run run --allow-device /dev/ng0n1 --yes --output "$TMP/mounted"
    expect_match "refused: /dev/ng0n1: it is mounted at $TMP/mnt" "$OUTPUT"
    umount "$TMP/mnt"
}

test_write
test_read
test_refused
test_guard
