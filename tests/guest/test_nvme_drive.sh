#!/usr/bin/env bash
# An NVMe drive by its block device: what we count is what the kernel counts, what is written is on
# it, and nothing is written that was not asked for.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_enter
source "$(dirname "$0")/one_drive.sh"

drive=/dev/nvme0n1
timed="iodepth: 4, ramp_time: 100ms, runtime: 300ms"

# part MIB COUNT: of what the drive holds.
part()
{
    dd if=$drive bs=1M skip="$1" count="$2" 2>/dev/null
}

# Each block of 4 KiB as a line.
blocks()
{
    xxd -p -c 4096
}

# written MIB COUNT: how many bytes other than 0 that part of the drive holds.
written()
{
    part "$1" "$2" | tr -d '\0' | wc -c
}

test_reads()
{
    local rw
    for rw in randread read; do
        run_plan $drive "rw: $rw, $timed" "destructive: false"
        as_kernel_counts read
        check "$rw writes nothing" [ "${FACTS[kernel.write.ios]}" = 0 ]
    done
    check "the drive is as empty as before" [ "$(written 0 16)" = 0 ]
    check_json "$result" '.hosts[0].drives[] | select(.path == "/dev/nvme0n1") |
        .serial == "rackbench-guest" and .size_bytes == 16 * 1048576 and
        .logical_block_bytes == 512'
}

# Whole blocks where they were asked for, and only there.
test_region()
{
    run_plan $drive "rw: write, bs: 64KiB, iodepth: 4, offset: 8MiB, size: 1MiB, io_size: 1MiB"
    check "16 operations" [ "${FACTS[write.ops]}" = 16 ]
    check "in front of the region is nothing" [ "$(written 0 8)" = 0 ]
    check "behind it neither" [ "$(written 9 7)" = 0 ]
    check "no two of its blocks are the same" [ "$(part 8 1 | blocks | sort -u | wc -l)" = 256 ]
}

test_writes()
{
    local rw
    for rw in randwrite write; do
        run_plan $drive "rw: $rw, $timed"
        as_kernel_counts write
        check "$rw reads nothing" [ "${FACTS[kernel.read.ios]}" = 0 ]
    done
    run_plan $drive "rw: randrw, bs: 16KiB, iodepth: 8, numjobs: 2, number_ios: 500"
    as_kernel_counts read
    as_kernel_counts write
    check "1000 operations of 16 KiB in all" \
        [ $((${FACTS[read.bytes]} + ${FACTS[write.bytes]})) = $((1000 * 16384)) ]
}

test_not_allowed()
{
    plan $drive "rw: randwrite, number_ios: 10"
    expect_exit 2 local_run run --yes --output "$TMP/refused"
    expect_match "refused: $drive: the agent does not allow writing to it; start .*--allow-device" \
        "$OUTPUT"
}

test_reads
test_region
test_writes
test_not_allowed
