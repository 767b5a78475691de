#!/usr/bin/env bash
# What the agent may do while it works: the main thread what agent/privilege.h names, a worker
# nothing beyond the files it has open.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

# capabilities NUMBER...: the mask of these capabilities as /proc shows it.
capabilities()
{
    local mask=0 number
    for number in "$@"; do
        mask=$((mask | 1 << number))
    done
    printf '%016x' "$mask"
}

# status_of FILE KEY
status_of()
{
    awk -v key="$2:" '$1 == key {print $2}' "$1"
}

workers_at_work()
{
    grep -l '^w[0-9]' "/proc/$agent"/task/*/comm
}

disk=$(loop_make 32)
cat >"$TMP/plan.yaml" <<PLAN
targets:
  d: {devices: [$disk]}
  f: {size: 4MiB}
phases:
  - destructive: true
    runtime: 3s
    jobs:
      - {target: d, rw: randrw, rwmixtrim: 10, iodepth: 8}
      - {target: f, rw: randrw, ioengine: sync, fsync: 16}
PLAN
rackbench-agent --listen "tcp://127.0.0.1:7494" --scratch "$TMP/scratch" --allow-device "$disk" \
    2>"$TMP/agent.log" &
agent=$!
at_exit kill "$agent"
wait_for 5 grep -q "listening on" "$TMP/agent.log"

# DAC_OVERRIDE, DAC_READ_SEARCH, NET_ADMIN, IPC_LOCK, SYS_PTRACE, SYS_ADMIN, SYS_NICE, SYS_RESOURCE
most=$((16#$(capabilities 1 2 12 14 19 21 23 24)))
main=$((16#$(status_of "/proc/$agent/status" CapPrm)))
check "the main thread has no capability beyond those named" [ $((main & ~most)) = 0 ]
check "and cannot get one" [ $((16#$(status_of "/proc/$agent/status" CapBnd) & ~most)) = 0 ]
check "nor can what it would start" [ "$(status_of "/proc/$agent/status" NoNewPrivs)" = 1 ]

rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7494 --yes --output "$TMP/run" \
    >"$TMP/out" 2>&1 </dev/null &
run=$!
wait_for 10 grep -q "running" "$TMP/out"
found=0
while read -r comm; do
    for set in CapInh CapPrm CapEff CapAmb; do
        check "a worker has none: $set" \
            [ "$(status_of "${comm%/comm}/status" $set)" = 0000000000000000 ]
    done
    found=$((found + 1))
done < <(workers_at_work)
check "both workers were seen" [ "$found" -ge 2 ]
wait "$run" || fail "$(cat "$TMP/out")"
check_json "$TMP/run/result.json" '.phases[0].cluster |
    .read.ops > 0 and .write.ops > 0 and .trim.ops > 0 and .sync.ops > 0 and .read.errors == 0 and
    .write.errors == 0 and .trim.errors == 0'
