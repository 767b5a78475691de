#!/usr/bin/env bash
# Workers near their drive on a machine with two NUMA nodes of two CPUs, the drive at node 1: where
# their threads run and where their memory lies, by the kernel's word.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 16
guest_numa
guest_module loop
guest_enter
source "$(dirname "$0")/one_drive.sh"

# workers: their threads, as directories of /proc. In one go: this machine is slow.
workers()
{
    grep -ls '^w0' /proc/[0-9]*/task/*/comm | sed 's|/comm$||'
}

has_workers()
{
    [ "$(workers | wc -l)" = "$1" ]
}

# buffers: where a worker's 2048 pages of buffers lie, and the policy they were taken by. The kernel
# merges what lies side by side: there may be more.
buffers()
{
    grep -hE ' N[01]=[2-9][0-9]{3} ' "$(workers | head -1)/numa_maps"
}

# placed DEVICE N KEYS: N workers read for a while; $CPUS is what they may run on, $MEMORY where
# their buffers lie, $PLACEMENT what the result says.
placed()
{
    local pid tasks
    plan "$1" "rw: randread, bs: 64k, iodepth: 128, rate_iops: 50, runtime: 5s, $3" \
        "destructive: false"
    rm -rf "$TMP/run"
    local_run run --output "$TMP/run" >"$TMP/out" 2>&1 &
    pid=$!
    wait_for 60 grep -q ' running ' "$TMP/out"
    check "there are $2 workers" has_workers "$2"
    mapfile -t tasks < <(workers)
    CPUS=$(sed -n 's/^Cpus_allowed_list:\s*//p' "${tasks[@]/%//status}" | sort | tr '\n' ' ')
    MEMORY=$(buffers || true)
    wait "$pid" || fail "rackbench: $(cat "$TMP/out")"
    PLACEMENT=$(jq -c '.phases[0].hosts.local1.placement | map(del(.job, .drive))' \
        "$TMP/run/result.json")
}

is()
{
    check "$1: $2" [ "$2" = "$3" ]
}

is "the drive is at node" "$(cat /sys/block/nvme0n1/device/numa_node)" 1

placed /dev/nvme0n1 1 "numjobs: 1"
is "by default on the node's CPUs" "$CPUS" "2-3 "
is "and said so" "$PLACEMENT" \
    '[{"worker":0,"workers":1,"how":"near","cpus":2,"node":1,"drive_node":1}]'
check "its memory is of the node: $MEMORY" grep -qE ' prefer[^ ]*:1 .* N1=[2-9]...' <<<"$MEMORY"

placed /dev/nvme0n1 2 "numjobs: 2, cpus_allowed: auto"
is "a CPU each of the node" "$CPUS" "2 3 "

modprobe loop
mknod /dev/loop0 b 7 0 2>/dev/null || true
losetup -r /dev/loop0 /dev/nvme0n1
placed /dev/loop0 3 "numjobs: 3, cpus_allowed: auto"
is "a loop device is where its drive is; what does not fit goes elsewhere" \
    "$(jq -c '[.[] | [.workers, .node, .drive_node]]' <<<"$PLACEMENT")" "[[2,1,1],[1,0,1]]"
check_json "$TMP/run/result.json" '[.events[] | select(.kind == "placement").text] ==
    ["cpus_allowed: auto: 1 of 3 workers are not on their drive\u0027s NUMA node, whose CPUs " +
     "are all taken or not allowed"]'
losetup -d /dev/loop0
