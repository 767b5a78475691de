#!/usr/bin/env bash
# The same start by rackbench and by fio client/server, in turns, stamped by the same probe in the
# kernel: four hosts in network namespaces, 100 reads a second each for two seconds.
#
# usage: tests/bench/bench_peers.sh [STARTS]     (default: 15)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
source "$(dirname "$0")/probe.sh"
need_root
command -v fio >/dev/null || skip "needs fio"

starts=${1-15}
net="rbo$$"
cat >"$TMP/plan.yaml" <<'PLAN'
name: peers
targets:
  s: {size: 4MiB}
phases:
  - name: peers
    runtime: 2s
    jobs:
      - {name: j, target: s, rw: randread, bs: 4KiB, iodepth: 1, rate_iops: 100}
PLAN

fio_job()
{
    printf '[global]\nioengine=io_uring\ndirect=1\nrw=randread\nbs=4k\nsize=4m\nrate_iops=100\n'
    printf 'runtime=2\ntime_based\ndirectory=%s\n[j]\n' "$TMP/fio.$1"
}

by_rackbench()
{
    coordinate "$net" run "$TMP/plan.yaml" --hosts "10.77.0.[1-4]" --insecure --quiet \
        --output "$TMP/run.$1"
}

by_fio()
{
    local i clients=()
    for ((i = 1; i <= 4; i++)); do
        clients+=("--client=10.77.0.$i" "$TMP/job.$i")
    done
    netns_exec "$net" c fio "${clients[@]}"
}

# measure TOOL NUMBER
measure()
{
    "by_$1" "$2" >"$TMP/run.out" 2>&1 || fail "$1: $(tail -5 "$TMP/run.out")"
    probe_take 4 "$1" >"$TMP/taken"
    [ "$2" = 0 ] || cat "$TMP/taken" >>"$TMP/$1"
}

# line TOOL NAME COLUMN
line()
{
    awk -v c="$3" '{print $c / 1e6}' "$TMP/$1" | sort -g | awk -v name="$1: $2" '
        {v[NR] = $1}
        END {printf "%-40s %10.3f %10.3f %10.3f ms\n", name, v[int((NR + 1) / 2)],
             v[int(0.9 * NR + 0.999)], v[NR]}'
}

netns_up "$net" 4
probe_up "$net" 4 rackbench fio
agents_up "$net" 4
for ((i = 1; i <= 4; i++)); do
    mkdir "$TMP/fio.$i"
    fio_job "$i" >"$TMP/job.$i"
    netns_spawn "$net" "$i" fio --server >"$TMP/fio.$i.log" 2>&1
done
sleep 1
for ((s = 0; s <= starts; s++)); do # the first lays out, and is not counted
    measure rackbench "$s"
    measure fio "$s"
done
printf '%-40s %10s %10s %10s   (%d starts, 4 hosts)\n' "" median p90 max "$starts"
for tool in rackbench fio; do
    line "$tool" "start skew" 1
    line "$tool" "command to first I/O" 2
    line "$tool" "wall of a job of 2 s" 4
done
for tool in elbencho ior; do
    command -v "$tool" >/dev/null || echo "$tool is not installed and was left out"
done
