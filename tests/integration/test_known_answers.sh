#!/usr/bin/env bash
# Figures that are known from elsewhere: the kernel's counters of a device, a device held to a known
# rate, an offered rate, a given amount of work.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

phase=0 # the one that the checks are of

# plan KEYS [PHASE]: a plan with one job on device $dev; PHASE is a line of the plan that comes
# before.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: known
interval: 250ms
targets:
  d: {devices: [$dev]}
phases:
  ${2-}
  - {name: p, destructive: true, jobs: [{name: j, target: d, $1}]}
PLAN
}

# run_plan NAME [COMMAND...]: by one embedded agent, in front of it what COMMAND says; $result is
# its result.json.
run_plan()
{
    local directory=$TMP/$1
    shift
    expect_exit 0 "$@" rackbench run "$TMP/plan.yaml" --local 1 --allow-device "$dev" --yes \
        --scratch "$TMP/scratch" --output "$directory"
    result=$directory/result.json
    check_json "$result" '.run.status == "done" and ([.phases[].cluster | .read, .write, .trim |
        select(. != null).errors] | add) == 0'
}

# stat_of FIELD: of the device, as /sys/block/DEV/stat numbers them from 1.
stat_of()
{
    awk -v field="$1" '{print $field}' "/sys/block/${dev#/dev/}/stat"
}

# ours read|write ops|bytes: all that rackbench counts: measured, ramp, drained, and before T0.
ours()
{
    json "$result" ".phases[$phase].cluster | (.$1.$2 // 0) + ([.outside[].$1.$2 // 0] | add)"
}

kernels()
{
    json "$result" ".phases[$phase].kernel.local1[\"$dev\"].$1.$2"
}

# compare_counts: of the last run, in sectors and in operations: none lost, none twice.
compare_counts()
{
    local op
    for op in read write; do
        check "$rw on $dev: sectors of $op: $(ours $op bytes) bytes are what the kernel counts" \
            [ "$(ours $op bytes)" = $(($(kernels $op sectors) * 512)) ]
        check "and operations: $(ours $op ops)" [ "$(ours $op ops)" = "$(kernels $op ios)" ]
    done
}

# compare_with_kernel RW [KEYS]: what we count is what the kernel counts.
compare_with_kernel()
{
    local rw=$1 reads writes before_read before_write
    plan "rw: $rw, bs: 4KiB, iodepth: 4, numjobs: 2, ramp_time: 100ms, runtime: 300ms${2-}"
    before_read=$(stat_of 3)
    before_write=$(stat_of 7)
    run_plan "kernel-${dev##*/}-$rw"
    reads=$(($(stat_of 3) - before_read))
    writes=$(($(stat_of 7) - before_write))
    compare_counts
    # Our own reading includes the guard's looks at the device, which are reads.
    check "the kernel's witness is the test's own reading, too: $writes sectors written" \
        [ "$(kernels write sectors)" = "$writes" ]
    check "$reads read, with the guard's looks" [ "$(kernels read sectors)" -le "$reads" ]
    check "which are few" [ "$reads" -le $(($(kernels read sectors) + 20000)) ]
    case $rw in
    read | randread) check "nothing was written" [ "$writes" = 0 ] ;;
    write | randwrite) check "nothing was read in it" [ "$(kernels read ios)" = 0 ] ;;
    rw | randrw) check "both" [ "$(ours read ops)" -gt 50 ] ;;
    esac
}

test_kernel()
{
    local rw make
    for make in loop_make zram_make; do
        dev=$($make 64)
        echo 2 >"/sys/block/${dev#/dev/}/queue/nomerges"
        for rw in read write randread randwrite rw randrw; do
            compare_with_kernel "$rw"
        done
    done
}

# data_in OFFSET_MIB SIZE_MIB: how many bytes other than 0 that part of the device holds.
data_in()
{
    blockdev --flushbufs "$dev"
    dd if="$dev" bs=1M skip="$1" count="$2" iflag=direct status=none | tr -d '\0' | wc -c
}

# fill_device: with data in all of its 64 MiB.
fill_device()
{
    plan "rw: write, bs: 1MiB, iodepth: 4, io_size: 64MiB"
    run_plan "fill-${dev##*/}-$((++fills))"
}
fills=0

# compare_trims RW [KEYS]: what we count is what the kernel counts.
compare_trims()
{
    local rw=$1 op name=read
    plan "rw: $rw, bs: 16KiB, numjobs: 2, ramp_time: 100ms, runtime: 300ms, ${2-iodepth: 4}"
    run_plan "trim-$((++trims))"
    check "$rw on $dev: $(ours trim ops) trims" [ "$(ours trim ops)" -gt 50 ]
    for op in trim write read; do
        name=$op
        [ "$op $rw" = "read randrw" ] || [ "$op" != read ] || continue # others may look at it
        [ "$op" != trim ] || name=discard
        check "the sectors of $name are the kernel's: $(ours $op bytes) bytes" \
            [ "$(ours $op bytes)" = $(($(kernels $name sectors) * 512)) ]
        check "and operations: $(ours $op ops)" [ "$(ours $op ops)" = "$(kernels $name ios)" ]
    done
}

trims=0

test_trim()
{
    dev=$(loop_make 64)
    echo 2 >"/sys/block/${dev#/dev/}/queue/nomerges"
    compare_trims trim
    compare_trims randtrim
    compare_trims randrw "iodepth: 4, rwmixtrim: 30"
    compare_trims write "iodepth: 4, rwmixtrim: 50"
    check "half of them" near "$(ours trim ops)" "$(ours write ops)" 20
    compare_trims randtrim "ioengine: sync"
    fill_device
    plan "rw: trim, bs: 64KiB, offset: 8MiB, size: 4MiB, number_ios: 64"
    run_plan trim-region
    check "64 trims of 64 KiB" [ "$(kernels discard sectors)" = $((4 << 11)) ]
    check "the region is empty" [ "$(data_in 8 4)" = 0 ]
    check "in front of it the data stays" [ "$(data_in 0 8)" -gt $((7 << 20)) ]
    check "and behind it" [ "$(data_in 12 4)" -gt $((3 << 20)) ]
}

# zram counts no discard: its witness is what it still holds.
test_trim_zram()
{
    dev=$(zram_make 64)
    held()
    {
        awk '{print $1}' "/sys/block/${dev#/dev/}/mm_stat"
    }
    fill_device
    check "64 MiB are held" [ "$(held)" = $((64 << 20)) ]
    plan "rw: randtrim, bs: 16KiB, iodepth: 4, norandommap: false, number_ios: 1024"
    run_plan trim-zram
    check "1024 trims of 16 KiB" [ "$(ours trim bytes)" = $((16 << 20)) ]
    check "that much is gone" [ "$(held)" = $((48 << 20)) ]
    check "and reads as zeros" near "$(data_in 0 64)" $((48 << 20)) 1
}

# A file system that can zero a range on the drive's own account, for a loop device on it.
zeroing_loop()
{
    local under
    under=$(loop_make 96)
    mkfs.ext4 -q -O ^has_journal "$under"
    mkdir "$TMP/ext4"
    mount "$under" "$TMP/ext4"
    at_exit umount_quiet "$TMP/ext4"
    truncate -s 64M "$TMP/ext4/disk"
    dev=$(losetup --find --show --direct-io=on "$TMP/ext4/disk")
    at_exit losetup --detach "$dev"
}

test_zeroes()
{
    local engine
    zeroing_loop
    echo 2 >"/sys/block/${dev#/dev/}/queue/nomerges"
    for engine in "io_uring, iodepth: 4" sync; do
        fill_device
        plan "rw: randwrite, write_mode: zeroes, ioengine: $engine, bs: 64KiB, offset: 8MiB, size: 4MiB,
            norandommap: false, io_size: 4MiB"
        run_plan "zeroes-${engine%%,*}"
        check "64 ranges of 64 KiB, $engine" [ "$(ours write ops)" = 64 ]
        check "are what the kernel has written" [ "$(kernels write sectors)" = $((4 << 11)) ]
        check "in as many operations" [ "$(kernels write ios)" = 64 ]
        check "the region is empty" [ "$(data_in 8 4)" = 0 ]
        check "in front of it the data stays" [ "$(data_in 0 8)" -gt $((7 << 20)) ]
        check "and behind it" [ "$(data_in 12 4)" -gt $((3 << 20)) ]
        check_json "$result" "(.phases[0].marks | index(\"iowq\") != null) ==
            $([ "$engine" = sync ] && echo false || echo true)"
    done
}

# A write that is to be stable makes the drive flush: the kernel counts that, at least once for each
# where they come one after the other (twice by pwrite).
test_sync()
{
    local sync engine before flushes
    dev=$(loop_make 64)
    for engine in io_uring sync; do
        for sync in none sync dsync; do
            before=$(stat_of 16)
            plan "rw: randwrite, sync: $sync, ioengine: $engine, number_ios: 300"
            run_plan "sync-$engine-$sync"
            flushes=$(($(stat_of 16) - before))
            if [ "$sync" = none ]; then
                check "300 writes, $flushes flushes" [ "$flushes" = 0 ]
            else
                check "300 writes, sync: $sync by $engine: $flushes flushes" [ "$flushes" -ge 300 ]
            fi
        done
    done
}

# Blocks that are verified cost no operation more; mixed modes cannot be.
test_verified()
{
    local rw make fill="- {name: fill, destructive: true, jobs: [{name: f, target: d, rw: write,
        bs: 4KiB, iodepth: 32, verify: true}]}"
    for make in loop_make zram_make; do
        dev=$($make 16)
        echo 2 >"/sys/block/${dev#/dev/}/queue/nomerges"
        for rw in write randwrite; do
            compare_with_kernel "$rw" ", verify: true"
        done
        phase=1
        for rw in read randread; do
            plan "rw: $rw, bs: 4KiB, iodepth: 4, numjobs: 2, ramp_time: 100ms, runtime: 300ms,
                verify: true" "$fill"
            run_plan "verified-${dev##*/}-$rw"
            compare_counts
            check "and checked: $(ours read ops)" [ "$(ours read ops)" -gt 50 ]
        done
        phase=0
    done
}

# near VALUE GOAL PERCENT
near()
{
    awk -v v="$1" -v g="$2" -v p="$3" 'BEGIN {exit !((v - g) ^ 2 <= (g * p / 100) ^ 2)}'
}

# The kernel lets so many through; one more is a fault of ours.
test_throttle()
{
    local group iops
    dev=$(loop_make 64)
    group=$(throttle_make)
    throttle_iops "$group" "$dev" read 800
    plan "rw: randread, iodepth: 16, ramp_time: 2s, runtime: 10s"
    run_plan throttled throttle_exec "$group"
    iops=$(json "$result" .phases[0].cluster.read.iops)
    check "a device that gives 800 IOPS shows $iops" near "$iops" 800 1
    # Little's law: 16 in flight at 800 a second take 20 ms each.
    check "and a mean latency of 20 ms" \
        near "$(json "$result" .phases[0].cluster.read.service_ns.mean)" 20000000 1
    throttle_drop "$group"
}

test_rate()
{
    local iops
    dev=$(loop_make 64)
    plan "rw: randrw, iodepth: 16, rate_iops: 1000, ramp_time: 500ms, runtime: 3s"
    run_plan rate
    iops=$(json "$result" '.phases[0].cluster | .read.iops + .write.iops')
    check "1000 IOPS offered, $iops achieved" near "$iops" 1000 1
    check_json "$result" '.phases[0].cluster | .generator_lateness_ns.p50 <=
        ([.read.response_ns.p50, .write.response_ns.p50] | max) and
        (.generator_lateness_ns | 0 < .p50 and .p50 <= .p99 and .p99 <= .max)'
    plan "rw: randread, iodepth: 4, numjobs: 3, rate_iops: 500, runtime: 2s"
    run_plan rate3
    iops=$(json "$result" .phases[0].cluster.read.iops)
    check "three workers with 500 each: $iops" near "$iops" 1500 3 # 2 s: a late wake-up weighs 1 %
    # The end is by the common clock, the schedule by the host's: one operation more, of each worker.
    check_json "$result" '.phases[0].cluster.offered.ops | . >= 3000 and . <= 3003'
}

# thinks SLOTS PAUSE_NS RESPONSE_NS: a slot's cycle is its pause and its response, which has our own
# lateness in it.
thinks()
{
    awk -v n="$1" -v t="$2" -v r="$3" 'BEGIN {print n * 1e9 / (t + r)}'
}

# n slots, a service time of s and pauses of t: n / (s + t) operations a second.
test_thinktime()
{
    local iops response
    dev=$(loop_make 64)
    plan "rw: randread, iodepth: 8, thinktime: 20ms, ramp_time: 200ms, runtime: 4s"
    run_plan thinktime
    iops=$(json "$result" .phases[0].cluster.read.iops)
    response=$(json "$result" .phases[0].cluster.read.response_ns.mean)
    check "8 slots that pause for 20 ms: $iops IOPS at a response of $response ns" \
        near "$iops" "$(thinks 8 20000000 "$response")" 2
    check "not more than the pauses allow" near "$iops" 350 15
    check_json "$result" '.phases[0].cluster | .cpu_share < 0.2 and
        .read.response_ns.mean >= .read.service_ns.mean and
        .generator_lateness_ns.p50 <= .read.response_ns.p50'
    check_json "$result" '.phases[0] | has("little") | not' # its slots are idle on purpose
    plan "rw: randrw, iodepth: 2, numjobs: 2, thinktime: 20ms, thinktime_blocks: 5, runtime: 4s"
    run_plan thinktime5
    iops=$(json "$result" '.phases[0].cluster | .read.iops + .write.iops')
    response=$(json "$result" '.phases[0].cluster | (.read.response_ns.mean * .read.ops +
        .write.response_ns.mean * .write.ops) / (.read.ops + .write.ops)')
    check "2 x 2 slots that pause after every fifth: $iops IOPS" \
        near "$iops" "$(thinks 4 4000000 "$response")" 2
}

test_amount()
{
    dev=$(loop_make 64)
    plan "rw: randwrite, iodepth: 8, numjobs: 2, number_ios: 3000, rate_iops: 2000"
    run_plan number
    check_json "$result" '.phases[0].to_last | .ops == 6000 and .bytes == 6000 * 4096 and
        .seconds > 0'
    check "number_ios: exactly 3000 by each of two workers" [ "$(ours write ops)" = 6000 ]
    check "and the kernel has seen them" [ "$(kernels write sectors)" = $((6000 * 8)) ]
    # `common` ends with the first worker that is done: it holds no more than all.
    check_json "$result" '.phases[0] | .cluster.write.ops <= .to_last.ops and
        .cluster.write.ops > 1000 and .seconds < .to_last.seconds + 0.000001'

    plan "rw: write, bs: 64KiB, iodepth: 4, io_size: 20MiB"
    run_plan amount
    check_json "$result" '.phases[0].to_last | .bytes == 20 * 1048576 and .ops == 320'
    check "io_size: exactly 20 MiB" [ "$(ours write bytes)" = $((20 << 20)) ]
    plan "rw: read, iodepth: 4, number_ios: 1000000, runtime: 500ms"
    run_plan first
    check_json "$result" '.phases[0].seconds == 0.5 and .phases[0].cluster.read.ops < 1000000'
}

test_kernel
test_trim
test_trim_zram
test_zeroes
test_sync
test_verified
test_throttle
test_rate
test_thinktime
test_amount
