#!/usr/bin/env bash
# What a control group leaves an agent counts: buffers that do not fit into it are refused before the
# kernel kills for them, and a CPU quota is told.
source "$(dirname "$0")/../lib/check.sh"

need_root
memory=$(findmnt -n -o TARGET -t cgroup -O memory | head -n 1)
cpu=$(findmnt -n -o TARGET -t cgroup -O cpu | head -n 1)
if [ -z "$memory" ] || [ -z "$cpu" ]; then
    skip "no memory and cpu cgroup v1 here"
fi

# leave_group GROUP: processes that are in it go to the one above.
leave_group()
{
    local pid
    while read -r pid; do
        echo "$pid" >"$(dirname "$1")/cgroup.procs" || true
    done <"$1/cgroup.procs"
    rmdir "$1"
}

# make_group HIERARCHY: prints a new group in it.
make_group()
{
    local group="$1/rackbench-test-$$"
    mkdir "$group"
    at_exit leave_group "$group"
    echo "$group"
}

# inside COMMAND...: in both groups.
inside()
{
    (
        echo "$BASHPID" >"$small/cgroup.procs"
        echo "$BASHPID" >"$slow/cgroup.procs"
        exec "$@"
    )
}

small=$(make_group "$memory")
slow=$(make_group "$cpu")
echo 128M >"$small/memory.limit_in_bytes"
echo 150000 >"$slow/cpu.cfs_quota_us"
cat >"$TMP/plan.yaml" <<EOF
name: cgroup
targets: {f: {size: 8MiB}}
phases: [{name: p, jobs: [{name: j, target: f, rw: randread, bs: 1MiB, iodepth: 4, runtime: 1s}]}]
EOF
run=(rackbench run "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" --quiet)

expect_exit 0 inside "${run[@]}" --output "$TMP/fits"
check_json "$TMP/fits/result.json" '.events | any(.kind == "cpu_quota" and .host == "local1" and
    (.text | test("may use 1\\.50 CPUs")))'
expect_exit 1 inside "${run[@]}" --output "$TMP/large" --set phases.0.jobs.0.iodepth=256
expect_match "needs 25[0-9.]+ MiB of memory for 1 workers; [0-9.]+ [MG]iB are free on the host, and the \
agent's control group has room for [0-9.]+ MiB; lower" "$OUTPUT"
expect_exit 0 "${run[@]}" --output "$TMP/outside" --set phases.0.jobs.0.iodepth=256
check_json "$TMP/outside/result.json" '.events | all(.kind != "cpu_quota")'
