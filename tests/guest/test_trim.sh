#!/usr/bin/env bash
# Trim and Write Zeroes on a drive that reads trimmed blocks as zeros: the region that the plan names
# is gone and nothing else is, by system calls, through io_uring and by NVMe passthrough, and the
# kernel counts as many.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_enter
source "$(dirname "$0")/one_drive.sh"

# written MIB COUNT: how many bytes other than 0 that part of the drive holds.
written()
{
    blockdev --flushbufs /dev/nvme0n1
    dd if=/dev/nvme0n1 bs=1M skip="$1" count="$2" 2>/dev/null | tr -d '\0' | wc -c
}

fill()
{
    run_plan /dev/nvme0n1 "rw: write, bs: 64KiB, iodepth: 4, io_size: 16MiB"
    check "the drive is full" [ "$(written 0 16)" -gt $((15 << 20)) ]
}

empty_region()
{
    check "the region is empty" [ "$(written 8 4)" = 0 ]
    check "in front of it the data stays" [ "$(written 0 8)" -gt $((7 << 20)) ]
    check "and behind it" [ "$(written 12 4)" -gt $((3 << 20)) ]
}

region="bs: 64KiB, offset: 8MiB, size: 4MiB, io_size: 4MiB"

test_sync()
{
    fill
    run_plan /dev/nvme0n1 "rw: trim, ioengine: sync, $region"
    as_kernel_counts trim discard
    check "64 trims of 64 KiB" [ "${FACTS[trim.ops]}" = 64 ]
    check "nothing else was done instead" [ -z "${FACTS[fallbacks]}" ]
    empty_region
}

test_uring()
{
    fill
    run_plan /dev/nvme0n1 "rw: trim, iodepth: 4, fallback: allow, $region"
    as_kernel_counts trim discard
    empty_region
    run_plan /dev/nvme0n1 "rw: randrw, rwmixtrim: 20, iodepth: 4, fallback: allow, number_ios: 1000"
    as_kernel_counts read
    as_kernel_counts write
    as_kernel_counts trim discard
}

test_passthrough()
{
    fill
    run_plan /dev/ng0n1 "rw: trim, ioengine: io_uring_cmd, iodepth: 4, $region"
    check "64 trims of 64 KiB" [ "${FACTS[trim.ops]}" = 64 ]
    empty_region
    fill
    # More than one command could read: a trim moves nothing.
    run_plan /dev/ng0n1 "rw: trim, ioengine: io_uring_cmd, bs: 4MiB, offset: 8MiB, number_ios: 1"
    empty_region
}

test_zeroes()
{
    local engine
    for engine in sync "io_uring, iodepth: 4"; do
        fill
        run_plan /dev/nvme0n1 "rw: write, write_mode: zeroes, ioengine: $engine, $region"
        as_kernel_counts write
        check "nothing was done instead" [ -z "${FACTS[fallbacks]}" ]
        empty_region
    done
    fill
    run_plan /dev/ng0n1 "rw: write, write_mode: zeroes, ioengine: io_uring_cmd, iodepth: 4, $region"
    check "64 ranges of 64 KiB" [ "${FACTS[write.ops]}" = 64 ]
    empty_region
    run_plan /dev/ng0n1 "rw: randrw, write_mode: zeroes, ioengine: io_uring_cmd, number_ios: 500"
    check "read and zeroed" [ $((${FACTS[read.ops]} + ${FACTS[write.ops]})) = 500 ]
}

test_sync
test_uring
test_passthrough
test_zeroes
