#!/usr/bin/env bash
# What many hosts cost: agents on one machine, each on a port of its own, one phase of a second. The
# wall time of a whole run (connect, measure clocks, prepare, run, report) and the coordinator's own
# CPU time per agent. Workers read at a low rate, so that the machine is not what is measured.
#
# usage: tests/bench/bench_fleet.sh [AGENTS [RUNS]]     (default: 64 5)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

agents=${1-64}
runs=${2-5}
net="rbf$$"
hosts=""
cat >"$TMP/plan.yaml" <<'PLAN'
name: fleet
targets:
  s: {size: 1MiB}
phases:
  - name: fleet
    runtime: 1s
    jobs:
      - {name: j, target: s, rw: randread, bs: 4KiB, iodepth: 1, rate_iops: 10}
PLAN

# run NUMBER: appends a line of figures, as they are named below, to $TMP/runs.
run()
{
    local directory=$TMP/run.$1 TIMEFORMAT='%R %U %S' wall user sys
    { time netns_exec "$net" 1 rackbench run "$TMP/plan.yaml" --hosts "$hosts" --insecure --quiet \
        --output "$directory" >"$TMP/run.out" 2>"$TMP/run.err" || fail "$(cat "$TMP/run.err")"; } \
        2>"$TMP/time"
    read -r wall user sys <"$TMP/time"
    check_json "$directory/result.json" ".phases[0].cluster.read.ops == 10 * $agents" >/dev/null
    [ "$1" = 0 ] || jq -r --argjson w "$wall" --argjson u "$user" --argjson s "$sys" \
        --argjson n "$agents" '[.hosts[].clock.offset_ns | fabs] as $off |
        "\($w * 1000) \(($u + $s) * 1000 / $n) \(.phases[0].start.skew_ns) \($off | max) " +
        "\($off | sort[length / 2 | floor]) \([.hosts[].clock.bound_ns] | max)"' \
        "$directory/result.json" >>"$TMP/runs"
}

netns_up "$net" 1
for ((i = 1; i <= agents; i++)); do
    agent_spawn "$net" 1 --listen "tcp://127.0.0.1:$((8000 + i))"
    hosts+="${hosts:+,}127.0.0.1:$((8000 + i))"
done
sleep 2
run 0 # lays out; not counted
for ((r = 1; r <= runs; r++)); do
    run "$r"
done

# line NAME COLUMN SCALE UNIT: median and largest of a column.
line()
{
    awk -v c="$2" '{print $c}' "$TMP/runs" | sort -g | awk -v name="$1" -v scale="$3" -v unit="$4" '
        {v[NR] = $1 / scale}
        END {printf "%-32s %10.3f %10.3f %s\n", name, v[int((NR + 1) / 2)], v[NR], unit}'
}
printf '%-32s %10s %10s   (%d runs, %d agents)\n' "" median max "$runs" "$agents"
line "wall of a run of 1 s" 1 1 ms
line "coordinator's CPU per agent" 2 1 ms
line "start skew" 3 1000 us
line "worst clock error" 4 1000 us
line "median clock error" 5 1000 us
line "worst clock bound" 6 1000 us
