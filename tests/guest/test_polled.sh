#!/usr/bin/env bash
# Polled completion (hipri) where there is a target for it: an NVMe drive and null_blk. It is polled
# indeed: the drive raises no interrupts.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_module null_blk
guest_enter
source "$(dirname "$0")/one_drive.sh"

# nvme_run KEYS: 2000 reads, and sets $raised to the interrupts it took.
nvme_run()
{
    local before
    before=$(interrupts)
    run_plan /dev/nvme0n1 "rw: randread, number_ios: 2000, $1" "destructive: false"
    raised=$(($(interrupts) - before))
    as_kernel_counts read
    check "nothing else was done instead" [ -z "${FACTS[fallbacks]}" ]
}

# The guard's looks at the drive raise some hundreds in either case.
test_nvme()
{
    local raised
    nvme_run "iodepth: 1"
    check "by interrupt: $raised interrupts" [ "$raised" -gt 1500 ]
    nvme_run "iodepth: 1, hipri: true"
    check "polled: $raised interrupts" [ "$raised" -lt 1000 ]
    nvme_run "iodepth: 8, hipri: true, sqthread_poll: true"
    check "polled by the kernel's thread: $raised interrupts" [ "$raised" -lt 1000 ]
    run_plan /dev/nvme0n1 "rw: randrw, iodepth: 8, numjobs: 2, number_ios: 1000, hipri: true"
    as_kernel_counts read
    as_kernel_counts write
}

test_null_blk()
{
    modprobe null_blk queue_mode=2 poll_queues=1 gb=1
    wait_for 5 test -b /dev/nullb0
    run_plan /dev/nullb0 "rw: randrw, iodepth: 8, hipri: true, number_ios: 2000"
    as_kernel_counts read
    as_kernel_counts write
    check "nothing else was done instead" [ -z "${FACTS[fallbacks]}" ]
}

test_nvme
test_null_blk
