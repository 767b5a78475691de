#!/usr/bin/env bash
# How far apart hosts start, and how long a start takes: agents in network namespaces, one run after
# the other. The hosts share a machine, thus a clock: the true offsets are known, and so is the true
# skew (probe.sh), so what the bounds promise can be checked in every start. Four hosts, two hosts,
# and four whose clocks lie hours apart and drift by 100 ppm.
#
# usage: tests/bench/bench_start.sh [STARTS]     (default: 30)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
source "$(dirname "$0")/probe.sh"
need_root

starts=${1-30}
net="rbs$$"
runtime_ns=200000000
cat >"$TMP/plan.yaml" <<'PLAN'
name: start
interval: 250ms
targets:
  s: {size: 4MiB}
phases:
  - name: start
    runtime: 200ms
    jobs:
      - {name: j, target: s, rw: randread, bs: 4KiB, iodepth: 1, rate_iops: 100}
PLAN

# start NAME HOSTS NUMBER: appends a line of figures, as `table` names them, to $TMP/NAME.
start()
{
    local directory=$TMP/$1.$3 probed
    coordinate "$net" run "$TMP/plan.yaml" --hosts "10.77.0.[1-$2]" --insecure --quiet \
        --output "$directory" >"$TMP/run.out" 2>"$TMP/run.err" || fail "$(cat "$TMP/run.err")"
    probed=$(probe_take "$2" rackbench)
    [ "$3" != 0 ] || return 0
    # shellcheck disable=SC2086 # four numbers
    set -- "$1" "$directory" $probed
    jq -r --argjson skew "$3" --argjson first "$4" --argjson last "$5" --argjson wall "$6" \
        --argjson runtime "$runtime_ns" '
        .phases[0].start as $start |
        [.hosts[].clock | select(.offset_ns | fabs < 1e9)] as $same |
        "\($start.skew_ns) \($skew) \($start.bound_ns) \(($skew - $start.skew_ns) | fabs) " +
        "\([$same[] | .offset_ns | fabs] | max) " +
        "\([$same[] | (.offset_ns | fabs) / .bound_ns] | max) " +
        "\($first) \($last) \($wall - $first - $runtime)"' "$2/result.json" >>"$TMP/$1"
}

# line FILE NAME COLUMN SCALE UNIT: median, 90th percentile and largest of a column.
line()
{
    awk -v c="$3" '{print $c}' "$1" | sort -g | awk -v name="$2" -v scale="$4" -v unit="$5" '
        {v[NR] = $1 / scale}
        END {printf "%-34s %10.3f %10.3f %10.3f %s\n", name, v[int((NR + 1) / 2)],
             v[int(0.9 * NR + 0.999)], v[NR], unit}'
}

# table NAME TITLE
table()
{
    local file=$TMP/$1
    printf '\n%-34s %10s %10s %10s   (%d starts)\n' "$2" median p90 max "$starts"
    line "$file" "start skew" 1 1000 us
    line "$file" "start skew, by the probe" 2 1000 us
    line "$file" "its bound" 3 1000 us
    line "$file" "largest clock error of a start" 5 1000 us
    line "$file" "  as a share of its bound" 6 1 ""
    line "$file" "command to first I/O" 7 1e6 ms
    line "$file" "end of the phase to end of command" 9 1e6 ms
    awk '$6 > 1 {n++} END {printf "clock bounds that did not hold: %d\n", n}' "$file"
    awk '$4 > $3 {n++} END {printf "starts whose bound did not hold: %d\n", n}' "$file"
}

# mode NAME HOSTS TITLE
mode()
{
    local i
    for ((i = 0; i <= starts; i++)); do # the first lays out, and is not counted
        start "$1" "$2" "$i"
    done
    table "$1" "$3"
}

netns_up "$net" 4
probe_up "$net" 4 rackbench
agents_up "$net" 4
mode four 4 "four hosts"
mode two 2 "two hosts"
for ((i = 1; i <= 4; i++)); do
    kill "${AGENT[i]}"
    wait "${AGENT[i]}" || true
done
agent_up "$net" 1 10.77.0.1 --test-clock 2h,100
agent_up "$net" 2 10.77.0.2 --test-clock 36h,-100
agent_up "$net" 3 10.77.0.3 --test-clock 0s
agent_up "$net" 4 10.77.0.4 --test-clock 300d,50
mode apart 4 "four hosts, clocks apart"
