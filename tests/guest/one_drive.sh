# shellcheck shell=bash
# one_drive.sh - runs on one drive of the virtual machine, held against the kernel's own counters;
# source it after guest.sh. jq is slow in there, so that a run is read once, into FACTS:
# OP.ops and OP.bytes (OP is read, write, trim, sync) of all that rackbench counts, measured, ramp,
# drained and before T0; kernel.OP.ios and kernel.OP.sectors (read, write, discard), where the
# device has them; fallbacks: what was done instead of what the plan says. Lease and patience are
# long, as the host may be busy.

declare -A FACTS

# plan DEVICE KEYS [PHASE KEYS]: a plan with one job.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: guest
interval: 250ms
lease: 30s
targets:
  d: {devices: [$1]}
phases:
  - {name: p, ${3-destructive: true}, jobs: [{name: j, target: d, $2}]}
PLAN
}

# local_run COMMAND [ARGUMENT]...: rackbench with one embedded agent, on the plan.
local_run()
{
    rackbench "$1" "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" --connect-timeout 60s \
        "${@:2}"
}

# run_plan DEVICE KEYS [PHASE KEYS]: must succeed without an error of I/O; $result is its
# result.json.
run_plan()
{
    local directory name value queue=/sys/block/${1#/dev/}/queue
    # Merged operations would count once.
    [ ! -e "$queue" ] || echo 2 >"$queue/nomerges"
    plan "$@"
    directory=$(mktemp -d "$TMP/run.XXXXXX")
    expect_exit 0 local_run run --allow-device "$1" --yes --output "$directory"
    result=$directory/result.json
    FACTS=()
    while IFS='=' read -r name value; do
        FACTS[$name]=$value
    done < <(facts "$1")
    check "$2: done without an error" [ "${FACTS[status]} ${FACTS[errors]}" = "done 0" ]
}

facts()
{
    jq -r --arg device "$1" '.phases[0] as {$cluster, $kernel} |
        "status=\(.run.status)",
        "fallbacks=\([.events[] | select(.kind == "fallback").text] | join("; "))",
        "errors=\([$cluster | .[] | objects | .errors // 0] | add)",
        (("read", "write", "trim", "sync") as $op | ("ops", "bytes") as $what |
            "\($op).\($what)=\([$cluster, $cluster.outside[] | .[$op][$what] // 0] | add)"),
        ($kernel.local1[$device] // {} | to_entries[] | .key as $op | .value | to_entries[] |
            "kernel.\($op).\(.key)=\(.value)")' "$result"
}

# refused DEVICE KEYS REGEX: `run` ends with exit status 1 and names what does not work.
refused()
{
    plan "$1" "$2"
    expect_exit 1 local_run run --allow-device "$1" --yes --output "$(mktemp -d "$TMP/run.XXXXXX")"
    expect_match "$3" "$OUTPUT"
}

# as_kernel_counts OP [KERNEL'S OP]: operations and bytes, and there are some.
as_kernel_counts()
{
    local op=$1 kernel=kernel.${2-$1}
    check "${FACTS[$op.ops]} operations of $op" [ "${FACTS[$op.ops]}" -gt 50 ]
    check "are what the kernel counts" [ "${FACTS[$op.ops]}" = "${FACTS[$kernel.ios]}" ]
    check "and ${FACTS[$op.bytes]} bytes" \
        [ "${FACTS[$op.bytes]}" = $((${FACTS[$kernel.sectors]} * 512)) ]
}

# interrupts: how many the queues of the NVMe drive have raised.
interrupts()
{
    awk '/nvme0q/ {n += $2} END {print n + 0}' /proc/interrupts
}
