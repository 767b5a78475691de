#!/usr/bin/env bash
# The same job by fio and by rackbench on a device that is held to a known rate, in turns: what one
# measures the other must. Fails where a median is off: IOPS by more than 2 %, p50 by more than 5 %.
#
# The depth is more than what the throttle lets through in a burst; at a lower one half of the
# operations would not wait at all, and p50 be that of the bare device.
#
# usage: tests/bench/bench_fio_pairs.sh [PAIRS [RW [IOPS]]]     (default: 5 randread 1000)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v fio >/dev/null || skip "no fio here"

pairs=${1-5}
rw=${2-randread}
limit=${3-1000}
op='read'
[[ $rw != *write ]] || op='write'
dev=$(loop_make 256)
group=$(throttle_make)
throttle_iops "$group" "$dev" "$op" "$limit"
cat >"$TMP/plan.yaml" <<PLAN
name: pair
targets:
  d: {devices: [$dev]}
phases:
  - name: pair
    destructive: true
    jobs:
      - {name: j, target: d, rw: $rw, bs: 4KiB, iodepth: 64, ramp_time: 2s, runtime: 10s}
PLAN

# Both print "IOPS P50_NS". fio's `lat` begins before the submission, as our service time does; its
# `clat` begins after it.
by_fio()
{
    throttle_exec "$group" fio --name=j --filename="$dev" --ioengine=io_uring --direct=1 \
        --rw="$rw" --bs=4k --iodepth=64 --time_based --ramp_time=2 --runtime=10 --norandommap \
        --lat_percentiles=1 --output-format=json >"$TMP/fio.json"
    json "$TMP/fio.json" ".jobs[0].$op | \"\(.iops) \(.lat_ns.percentile[\"50.000000\"])\""
}

by_rackbench()
{
    local directory
    directory=$(mktemp -d "$TMP/run.XXXXXX")
    throttle_exec "$group" rackbench run "$TMP/plan.yaml" --local 1 --allow-device "$dev" --yes \
        --quiet --scratch "$TMP/scratch" --output "$directory" >/dev/null 2>"$TMP/err" ||
        fail "$(cat "$TMP/err")"
    json "$directory/result.json" ".phases[0].cluster.$op | \"\(.iops) \(.service_ns.p50)\""
}

# pair NUMBER: prints "FIO_IOPS FIO_P50 OUR_IOPS OUR_P50"; every second pair in the other order.
pair()
{
    local fio ours
    if [ $(($1 % 2)) = 0 ]; then
        ours=$(by_rackbench)
        fio=$(by_fio)
    else
        fio=$(by_fio)
        ours=$(by_rackbench)
    fi
    echo "$fio $ours"
}

echo "$rw, 4 KiB, iodepth 64, $dev held to $limit IOPS; ramp 2 s, measured 10 s"
printf '%6s %12s %12s %9s %12s %12s %9s\n' pair "fio IOPS" "our IOPS" ratio "fio p50 us" \
    "our p50 us" ratio
for ((i = 1; i <= pairs; i++)); do
    pair "$i" | tee -a "$TMP/pairs" | awk -v i="$i" '{
        printf "%6d %12.1f %12.1f %9.4f %12.1f %12.1f %9.4f\n",
            i, $1, $3, $3 / $1, $2 / 1000, $4 / 1000, $4 / $2}'
done

# median OURS FIO: of the ratio of two of the four columns.
median()
{
    awk -v ours="$1" -v fio="$2" '{print $ours / $fio}' "$TMP/pairs" | sort -g |
        awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'
}

iops=$(median 3 1)
p50=$(median 4 2)
printf 'median of the ratios: IOPS %.4f, p50 %.4f\n' "$iops" "$p50"
awk -v iops="$iops" -v p50="$p50" 'BEGIN {
    exit !(iops >= 0.98 && iops <= 1.02 && p50 >= 0.95 && p50 <= 1.05)}' ||
    fail "outside: IOPS within 2 % and p50 within 5 % are right"
