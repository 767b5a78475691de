#!/usr/bin/env bash
# The engine beside t/io_uring and fio: 4 KiB random reads by one worker on one core, each tool in
# turn and every second round in the other order; what is printed are medians of the ratios inside a
# round. Targets: a file in the page cache ("cached": it shows the tool, not the device), a loop
# device over memory and a file, both with direct I/O; then `sync` and system calls on zram.
#
# All submit and reap in batches of a quarter of iodepth, or, with "batch" 1, neither side does.
# fio has registered files and buffers, and full latencies. t/io_uring keeps no latencies, and counts
# from one second to the next, by a sleep.
#
# usage: tests/bench/bench_engine.sh [ROUNDS [TARGET]...]     (default: 7 cached loop file zram)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/program.sh"
need_root
command -v fio >/dev/null || skip "no fio here"

rounds=${1-7}
shift || true
[ $# -gt 0 ] || set -- cached loop file zram
core=$(($(nproc) - 1))
ours=$(program engine_cost)
pread=$(program pread_loop)
tool=$(bash "$(dirname "$0")/get_t_io_uring.sh")

# prepare NAME: makes the target; sets `path`, and `direct` to 0 for what goes through the cache.
prepare()
{
    direct=1
    case $1 in
    cached | file)
        path=$(random_file)
        [ "$1" = file ] || direct=0
        ;;
    loop) path=$(loop_make 256) ;;
    zram)
        path=$(zram_make 256)
        dd if=/dev/urandom of="$path" bs=1M oflag=direct status=none 2>/dev/null || true # to its end
        ;;
    *) fail "there is no target '$1'; take cached, loop, file or zram" ;;
    esac
}

# The first three print "IOPS CPU_NS P50_NS": of an operation the CPU time, user + system, and the
# median of its service time (fio: `lat`).
by_us()
{
    local how=(buffered)
    [ "$direct" = 0 ] || how=()
    taskset -c "$core" "$ours" "$path" "$1" 1s "$2" "${how[@]}" | figures_of_ours
}

by_sync()
{
    taskset -c "$core" "$ours" "$path" 1 1s 1 sync | figures_of_ours
}

figures_of_ours()
{
    awk '/^iops/ {print $2, $4, $8}'
}

by_fio()
{
    local together=()
    [ "$2" = 1 ] || together=(--iodepth_batch="$2" --iodepth_batch_complete_min="$2"
        --iodepth_batch_complete_max="$1")
    taskset -c "$core" fio --name=j --filename="$path" --rw=randread --bs=4k --ioengine=io_uring \
        --direct="$direct" --iodepth="$1" --registerfiles=1 --fixedbufs=1 --nonvectored=1 \
        --norandommap=1 --lat_percentiles=1 --thread --time_based --randrepeat=0 --invalidate=0 \
        --runtime=1 "${together[@]}" --output-format=json |
        jq -r '.jobs[0] | "\(.read.iops) \((.usr_cpu + .sys_cpu) * 1e7 / .read.iops)" +
            " \(.read.lat_ns.percentile["50.000000"])"'
}

by_t_io_uring()
{
    taskset -c "$core" "$tool" -p0 -d"$1" -s"$2" -c"$2" -X1 -O"$direct" -n1 -r2 "$path" |
        sed -nE 's/^IOPS=([0-9.]+)([MK]?),.*/\1 \2/p' |
        awk '{print $1 * ($2 == "M" ? 1e6 : $2 == "K" ? 1e3 : 1)}'
}

by_pread()
{
    taskset -c "$core" "$pread" "$path" 1
}

# round NUMBER COMMAND COMMAND COMMAND: one line of what they print, in this order; each takes
# $iodepth and $batch. In every second round they run the other way round.
round()
{
    local a b c
    if [ $(($1 % 2)) = 0 ]; then
        a=$("$2" "$iodepth" "$batch")
        b=$("$3" "$iodepth" "$batch")
        c=$("$4" "$iodepth" "$batch")
    else
        c=$("$4" "$iodepth" "$batch")
        b=$("$3" "$iodepth" "$batch")
        a=$("$2" "$iodepth" "$batch")
    fi
    echo "$a $b $c"
}

# cell TARGET COMMAND COMMAND COMMAND: all rounds of one, into $TMP/cell.
cell()
{
    local i
    for ((i = 0; i < rounds; i++)); do
        round "$i" "$2" "$3" "$4"
    done >"$TMP/cell"
}

# show TARGET: the line of a cell of by_us by_fio by_t_io_uring.
show()
{
    printf '%-8s %7d %5d' "$1" "$iodepth" "$batch"
    printf ' %9s' "$(median "$TMP/cell" 'c1 / 1000' %.0f)" "$(median "$TMP/cell" 'c1 / c7')" \
        "$(median "$TMP/cell" 'c1 / c4')" "$(median "$TMP/cell" c2 %.0f)" \
        "$(median "$TMP/cell" 'c2 / c5')" "$(median "$TMP/cell" 'c3 / 1000' %.1f)" \
        "$(median "$TMP/cell" 'c3 / c6')"
    echo
}

beside_fio()
{
    for iodepth in 1 32 128; do
        batch=$((iodepth / 4 > 1 ? iodepth / 4 : 1))
        cell "$1" by_us by_fio by_t_io_uring
        show "$1"
        if [ "$1" = cached ] && [ "$iodepth" -gt 1 ]; then
            batch=1
            cell "$1" by_us by_fio by_t_io_uring
            show "$1"
        fi
    done
}

on_zram()
{
    iodepth=1 batch=1
    cell zram by_sync by_t_io_uring by_pread
    echo "zram, iodepth 1: sync $(median "$TMP/cell" 'c1 / 1000' %.0f)k IOPS," \
        "of t/io_uring's $(median "$TMP/cell" 'c1 / c4')," \
        "of bare preads' $(median "$TMP/cell" 'c1 / c5')"
}

echo "4 KiB random reads, one worker on core $core, $rounds rounds of 1 s; medians; CPU user + system"
printf '%-8s %7s %5s %9s %9s %9s %9s %9s %9s %9s\n' target iodepth batch kIOPS "/t_uring" "/fio" \
    "CPU ns" "/fio" "p50 us" "/fio"
for name in "$@"; do
    prepare "$name"
    if [ "$name" = zram ]; then
        on_zram
    else
        beside_fio "$name"
    fi
done
