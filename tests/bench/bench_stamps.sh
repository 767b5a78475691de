#!/usr/bin/env bash
# The truth of the stamps: our service time beside the device's, as the kernel's tracepoints
# block_rq_issue and block_rq_complete show it (bpftrace). Ours has to be longer, by no more than what
# lies between: 5 us in the median at iodepth 1, p99 of the loop's turns at 32.
#
# Mean and median of the same reads may never be shorter than the device's. How much longer the median
# is, is told by a run without tracing in turn with it: tracing takes 1 to 2 us outside of what it
# measures.
#
# usage: tests/bench/bench_stamps.sh [ROUNDS]     (default: 5 of 2 s)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/program.sh"
need_root
command -v bpftrace >/dev/null || skip "no bpftrace here"

rounds=${1-5}
bad=""
core=$(($(nproc) - 1))
engine=$(program engine_cost)

# Whoever issues a request, block_bio_queue is in the thread whose read it is. Counted in steps of 0.1
# us: bpftrace's own histograms cannot tell medians.
cat >"$TMP/device.bt" <<'BT'
tracepoint:block:block_bio_queue /comm == "engine_cost" && args->nr_sector == 8/
{
    @ours[args->dev, args->sector] = 1;
}
tracepoint:block:block_rq_issue /@ours[args->dev, args->sector]/
{
    delete(@ours[args->dev, args->sector]);
    @start[args->dev, args->sector] = nsecs;
}
tracepoint:block:block_rq_complete /@start[args->dev, args->sector]/
{
    $ns = nsecs - @start[args->dev, args->sector];
    @mean = avg($ns);
    @reads[$ns / 100] = count();
    delete(@start[args->dev, args->sector]);
}
END
{
    clear(@start);
    clear(@ours);
}
BT

# traced PATH IODEPTH: prints "DEVICE_MEAN DEVICE_P50 OUR_MEAN OUR_P50 TURN_P99 READS TRACED" [ns], all
# of the same reads.
traced()
{
    # Its file system in a mount namespace of its own: nobody else need see it.
    # shellcheck disable=SC2016
    unshare --mount bash -c 'mount -t tracefs tracefs /sys/kernel/tracing &&
        BPFTRACE_MAP_KEYS_MAX=65536 exec bpftrace "$0" -c "$1"' "$TMP/device.bt" \
        "$(command -v taskset) -c $core $engine $1 $2 2s 1" >"$TMP/out" 2>"$TMP/err" ||
        skip "no tracing here: $(cat "$TMP/err")"
    grep -q '^@reads' "$TMP/out" || fail "nothing traced: $(cat "$TMP/err")"
    tr '[]:' ' ' <"$TMP/out" | sort -k2n | awk '/^iops/ {ours = $6 " " $8 " " $12 " " $14}
        /^@mean / {mean = $2}
        /^@reads/ {step[++n] = $2 * 100; count[n] = $3; all += $3}
        END {for (i = 1; i < n && (seen += count[i]) * 2 < all; i++);
            print mean, step[i], ours, all}'
}

# untraced PATH IODEPTH: prints the median.
untraced()
{
    taskset -c "$core" "$engine" "$1" "$2" 2s 1 | awk '/^iops/ {print $8}'
}

# compare TARGET PATH: at iodepth 1 and 32; the differences of a round, their medians over all.
compare()
{
    local qd i seen p50 limit
    for qd in 1 32; do
        for ((i = 0; i < rounds; i++)); do
            seen=$(traced "$2" "$qd")
            echo "$seen $(untraced "$2" "$qd")"
        done >"$TMP/rounds"
        p50=$(median "$TMP/rounds" 'c8 - c2' %.0f)
        limit=5000
        [ "$qd" = 1 ] || limit=$(median "$TMP/rounds" c5 %.0f)
        printf '%-6s %7d' "$1" "$qd"
        printf ' %10s' "$(median "$TMP/rounds" c2 %.0f)" "$(median "$TMP/rounds" c4 %.0f)" \
            "$(median "$TMP/rounds" c8 %.0f)" "$p50" "$limit" "$(median "$TMP/rounds" 'c3 - c1' %.0f)" \
            "$(median "$TMP/rounds" '100 * c7 / c6' %.2f)"
        echo
        awk '$3 < $1 || $4 < $2 {print; exit 1}' "$TMP/rounds" ||
            bad+="$1 at $qd: ours is shorter than the device's; "
        [ "$p50" -le "$limit" ] || bad+="$1 at $qd: ours is longer by more than $limit ns; "
    done
}

echo "4 KiB random direct reads, service time beside the device's; medians of $rounds rounds [ns]"
printf '%-6s %7s %10s %10s %10s %10s %10s %10s %10s\n' target iodepth "device p50" "our p50" \
    untraced longer "at most" "mean +" "traced %"
compare loop "$(loop_make 256)"
compare file "$(random_file)"
[ -z "$bad" ] || fail "$bad"
