#!/usr/bin/env bash
# What Linux 6.1 lacks is refused by name before the phase starts; `fallback: allow` takes the
# alternative, and the result says so.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_module null_blk
guest_enter
source "$(dirname "$0")/one_drive.sh"

# lacks DEVICE KEYS WHY REMEDY INSTEAD
lacks()
{
    refused "$1" "number_ios: 100, $2" "'j' on $1: .*$3.*; $4 or set fallback: allow"
    run_plan "$1" "number_ios: 100, $2, fallback: allow"
    expect_match "job 'j' on $1: .*$3.*: $5" "${FACTS[fallbacks]}"
}

# BLOCK_URING_CMD_DISCARD came with 6.12.
test_discard()
{
    lacks /dev/nvme0n1 "rw: trim, iodepth: 4" "this kernel has no asynchronous discard" \
        "leave trims out of the job" "ioctl\(BLKDISCARD\)"
    as_kernel_counts trim discard
}

# A drive without a queue to poll: this kernel takes polled reads and completes them by interrupt
# all the same; only queue/io_poll tells (later ones end them with EOPNOTSUPP).
test_no_poll_queue()
{
    modprobe null_blk queue_mode=2 poll_queues=0 gb=1
    wait_for 5 test -b /dev/nullb0
    lacks /dev/nullb0 "rw: randread, iodepth: 4, hipri: true" \
        "the target does not support polled I/O" "drop hipri" "completions come by interrupt"
    as_kernel_counts read
}

# A synchronous call with RWF_HIPRI succeeds and does not poll.
test_sync_hipri()
{
    lacks /dev/nvme0n1 "rw: randread, ioengine: sync, hipri: true" "hipri: Linux since 5.19 does not poll for synchronous I/O" \
        "take ioengine: io_uring, drop hipri" \
        "completions come by interrupt"
    as_kernel_counts read
}

test_discard
test_no_poll_queue
test_sync_hipri
