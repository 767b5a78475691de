#!/usr/bin/env bash
# How far apart four hosts start, and how long a start takes: agents in four network namespaces, one
# run after the other. The hosts share a machine, thus a clock: the true offsets are 0, and what the
# bound of each clock promises can be checked.
#
# usage: tests/bench/bench_start.sh [STARTS]     (default: 30)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

starts=${1-30}
net="rbs$$"
cat >"$TMP/plan.yaml" <<'PLAN'
name: start
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: start
    runtime: 500ms
    jobs:
      - {name: j, target: s, rw: randread, bs: 4KiB, iodepth: 1, rate_iops: 100}
PLAN

# Bytes that the first agent has read from storage.
bytes_read()
{
    local key value
    while read -r key value; do
        [ "$key" != read_bytes: ] || echo "$value"
    done <"/proc/${AGENT[1]}/io"
}

# start NUMBER: prints "SKEW_NS BOUND_NS WORST_OFFSET_NS WORST_SHARE_OF_BOUND COMMAND_TO_IO_NS".
start()
{
    local directory=$TMP/run.$1 begin_ns io_ns before
    before=$(bytes_read)
    begin_ns=$(date +%s%N)
    coordinate_spawn "$net" run "$TMP/plan.yaml" --hosts "10.77.0.[1-4]" --insecure --quiet \
        --output "$directory"
    while [ "$(bytes_read)" = "$before" ]; do
        [ $(($(date +%s%N) - begin_ns)) -lt 10000000000 ] || fail "no I/O: $(cat "$TMP/run.err")"
        sleep 0.002
    done
    io_ns=$(($(date +%s%N) - begin_ns))
    wait $! || fail "$(cat "$TMP/run.err")"
    [ "$1" = 0 ] || jq -r --argjson io "$io_ns" '(.phases[0].start | "\(.skew_ns) \(.bound_ns)") +
        ([.hosts[].clock | (.offset_ns | fabs)] | " \(max)") +
        ([.hosts[].clock | (.offset_ns | fabs) / .bound_ns] | " \(max)") + " \($io)"' \
        "$directory/result.json" >>"$TMP/starts"
}

# line NAME COLUMN SCALE UNIT: median, 90th percentile and largest of a column.
line()
{
    awk -v c="$2" '{print $c}' "$TMP/starts" | sort -g |
        awk -v name="$1" -v scale="$3" -v unit="$4" '
        {v[NR] = $1 / scale}
        END {printf "%-28s %10.3f %10.3f %10.3f %s\n", name, v[int((NR + 1) / 2)],
             v[int(0.9 * NR + 0.999)], v[NR], unit}'
}

netns_up "$net" 4
agents_up "$net" 4
start 0 # lays out; not counted
for ((i = 1; i <= starts; i++)); do
    start "$i"
done
printf '%-28s %10s %10s %10s   (%d starts, 4 hosts)\n' "" median p90 max "$starts"
line "start skew" 1 1000 us
line "its bound" 2 1000 us
line "largest clock error" 3 1000 us
line "  as a share of its bound" 4 1 ""
line "command to first I/O" 5 1e6 ms
awk '$4 > 1 {n++} END {printf "clock bounds that did not hold: %d\n", n}' "$TMP/starts"
