#!/usr/bin/env bash
# How long drives rest between two phases: four hosts in network namespaces, the same run with one
# phase of 100 ms and with eleven. The difference less ten phases is ten gaps: draining, rows,
# PREPARE, clocks, ARM.
#
# usage: tests/bench/bench_gap.sh [RUNS]     (default: 10)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

runs=${1-10}
net="rbg$$"

# plan PHASES
plan()
{
    local i
    echo "{name: gap, targets: {s: {size: 1MiB}}, phases: ["
    for ((i = 1; i <= $1; i++)); do
        echo "{name: p$i, runtime: 100ms, jobs: [{name: j, target: s, rw: randread, bs: 4KiB}]},"
    done
    echo "]}"
}

# seconds PLAN: of a run of it.
seconds()
{
    local directory
    directory=$(mktemp -u "$TMP/run.XXXXXX")
    coordinate "$net" run "$1" --hosts "10.77.0.[1-4]" --insecure --quiet --output "$directory" \
        >"$TMP/run.out" 2>"$TMP/run.err" || fail "$(cat "$TMP/run.err")"
    json "$directory/result.json" .run.seconds
}

plan 1 >"$TMP/one.yaml"
plan 11 >"$TMP/eleven.yaml"
netns_up "$net" 4
agents_up "$net" 4
seconds "$TMP/one.yaml" >"$TMP/first" # lays out; not counted
for ((r = 1; r <= runs; r++)); do
    echo "$(seconds "$TMP/eleven.yaml") $(seconds "$TMP/one.yaml")"
done | awk '{print ($1 - $2 - 1) * 100}' | sort -g | awk '
    {v[NR] = $1}
    END {printf "gap between two phases: median %.1f, largest %.1f ms (%d runs of 10 gaps)\n",
         v[int((NR + 1) / 2)], v[NR], NR}'
