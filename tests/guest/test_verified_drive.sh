#!/usr/bin/env bash
# What is written to an NVMe drive with verify is read back and found right, by its block device and
# by passthrough, whichever wrote it; a byte that changed is found by both.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_enter
source "$(dirname "$0")/one_drive.sh"

block=/dev/nvme0n1
char=/dev/ng0n1
cmd="ioengine: io_uring_cmd"
sized="bs: 16KiB, iodepth: 8"

# flip OFFSET: changes a byte of the drive.
flip()
{
    local byte
    blockdev --flushbufs $block
    byte=$(dd if=$block bs=1 skip="$1" count=1 2>/dev/null | xxd -p)
    printf '%02x' $((0x$byte ^ 1)) | xxd -r -p |
        dd of=$block bs=1 seek="$1" conv=notrunc,fsync 2>/dev/null
}

# found DEVICE KEYS: a read that ends with the damage at 5000000, in the block from 4880 KiB on.
found()
{
    plan "$1" "$2" "destructive: false"
    expect_exit 4 local_run run --output "$(mktemp -d "$TMP/run.XXXXXX")"
    expect_match "verify: $1 at 4880 KiB \(sector 9760\): (expected sequence [0-9]+, )?found damaged \
data" "$OUTPUT"
}

# all_read DEVICE KEYS: the whole drive, without an error.
all_read()
{
    run_plan "$1" "$2" "destructive: false"
    check "all 1024 blocks" [ "${FACTS[read.ops]}" = 1024 ]
}

test_block_device()
{
    run_plan $block "rw: write, $sized, verify: true"
    as_kernel_counts write
    check "nothing was read" [ "${FACTS[kernel.read.ios]}" = 0 ]
    all_read $block "rw: read, $sized, numjobs: 2, verify_only: true"
    as_kernel_counts read
    all_read $char "$cmd, rw: read, $sized, verify_only: true"
}

# One pass and a half of a permutation: half of its blocks are newer than the others, none is stale.
test_passthrough()
{
    run_plan $char "$cmd, rw: randwrite, norandommap: false, $sized, number_ios: 1536,
        verify: true, verify_log: $TMP/log"
    check "all writes" [ "${FACTS[write.ops]}" = 1536 ]
    all_read $char "$cmd, rw: randread, norandommap: false, $sized, verify_only: true"
    all_read $char "$cmd, rw: read, $sized, verify_only: true, verify_log: $TMP/log"
    blockdev --flushbufs $block
    all_read $block "rw: read, $sized, verify_only: true"
}

test_damage()
{
    flip 5000000
    found $block "rw: read, $sized, verify_only: true"
    found $char "$cmd, rw: read, $sized, verify_only: true"
    found $char "$cmd, rw: read, $sized, verify_only: true, verify_log: $TMP/log"
}

test_block_device
test_passthrough
test_damage
