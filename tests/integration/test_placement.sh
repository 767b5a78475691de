#!/usr/bin/env bash
# Where workers run, by the kernel's word (Cpus_allowed_list of their threads), and whose limit it
# was: a job that the CPUs bound is client_bound, also with more workers than CPUs, and also where
# another process takes the CPU; one that the drive bounds is not.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"
ncpus=$(nproc)
[ "$ncpus" -ge 2 ] || skip "needs two CPUs"
first=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
second=$(taskset -cp $$ | sed 's/.*: //; s/.*[,-]//')

# plan JOB [TARGET]: a phase of three seconds, on a cached file unless a target is given.
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
targets: {t: ${2-"{directory: $TMP, size: 16MiB}"}}
phases: [{name: p, ramp_time: 500ms, runtime: 2500ms, jobs: [{rw: randread, $1}]}]
PLAN
}

measure()
{
    rm -rf "$TMP/run"
    "${1-env}" "${@:2}" rackbench run "$TMP/plan.yaml" --local 1 --quiet --scratch "$TMP/scratch" \
        --output "$TMP/run" >"$TMP/out" 2>&1 || fail "rackbench: $(cat "$TMP/out")"
}

# Prints what the kernel lets each worker's thread of the agents of coordinator PID run on.
allowed_to()
{
    local tasks
    mapfile -t tasks < <(pgrep -P "$1" | sed 's|.*|/proc/&/task|' |
        xargs -I{} grep -rls '^w0' --include=comm {} | sed 's|/comm$|/status|')
    [ ${#tasks[@]} = 0 ] || sed -n 's/^Cpus_allowed_list:\s*//p' "${tasks[@]}"
}

has_workers()
{
    [ "$(allowed_to "$1" | wc -l)" = "$2" ]
}

# bound N: measures the plan; $TMP/allowed holds, sorted, what N workers were bound to meanwhile.
bound()
{
    local pid
    rm -rf "$TMP/run"
    rackbench run "$TMP/plan.yaml" --local 1 --quiet --output "$TMP/run" >"$TMP/out" 2>&1 &
    pid=$!
    wait_for 10 has_workers "$pid" "$1"
    sleep 0.5 # a thread binds itself first thing
    allowed_to "$pid" | sort -n >"$TMP/allowed"
    wait "$pid" || fail "rackbench: $(cat "$TMP/out")"
}

host()
{
    check_json "$TMP/run/result.json" ".phases[0].hosts.local1 | $1"
}

# ---- where ----

plan "numjobs: 2, cpus_allowed: auto, direct: false, rate_iops: 1000"
bound 2
check "two workers are on a CPU each" [ "$(sort -u "$TMP/allowed" | grep -cx '[0-9]*')" = 2 ]
host '.placement | length == 1 and (.[0] | .job == "j0" and .worker == 0 and .workers == 2 and
    .how == "auto" and .cpus == 1)'
host "[.placement[0].cpu[] | tostring] | sort == ($(jq -Rc . "$TMP/allowed" | jq -sc .) | sort)"
check "the text says so" grep -q "workers: 2 on a CPU each" "$TMP/out"

plan "numjobs: $((ncpus + 1)), cpus_allowed: auto, direct: false, rate_iops: 100"
bound $((ncpus + 1))
check "more workers than CPUs are not bound" \
    [ "$(sort -u "$TMP/allowed")" = "$(sed -n 's/^Cpus_allowed_list:\s*//p' /proc/self/status)" ]
host ".placement[0] | .how == \"any\" and .cpus == $ncpus and (has(\"cpu\") | not)"
check_json "$TMP/run/result.json" "[.events[] | select(.kind == \"placement\") | .text] ==
    [\"cpus_allowed: auto: $((ncpus + 1)) workers are more than the $ncpus CPUs that \" +
     \"this agent may use: they share them, none is bound\"]"

plan "numjobs: 3, cpus_allowed: \"$first,$second\", cpus_allowed_policy: split, direct: false,
    rate_iops: 100"
bound 3
check "a list is split in turn" \
    [ "$(cat "$TMP/allowed")" = "$(printf '%s\n' "$first" "$first" "$second" | sort -n)" ]
host ".placement[0] | .how == \"split\" and .cpu == [$first, $second, $first]"

plan "numjobs: 2, cpus_allowed: auto, direct: false, rate_iops: 100"
measure taskset -c "$second"
host ".placement[0] | .how == \"any\" and .cpus == 1 and .cpu == [$second, $second]"

plan "cpus_allowed: \"$first\", direct: false, rate_iops: 100"
expect_exit 1 taskset -c "$second" rackbench run "$TMP/plan.yaml" --local 1 --quiet \
    --output "$TMP/none"
expect_match "'j0': cpus_allowed: $first: this agent may use none of them, only $second" "$OUTPUT"

# ---- whose limit ----

plan "numjobs: $((2 * ncpus)), iodepth: 8, direct: false"
measure
check_json "$TMP/run/result.json" '.phases[0].marks | contains(["client_bound"])'
host ".client_bound == [\"cpus\"] and .total.cpu_share < 0.9 and .cpu.worker_cpus == $ncpus"
host ".cpu.seconds > 2.3 and .cpu.seconds < 2.9"
host "(.total.cpu_share * $((2 * ncpus))) as \$used |
    .cpu.agent > 0.7 * \$used and .cpu.agent < 1.2 * \$used + 0.2"
check "the text says why" grep -q "client bound: local1, all $ncpus CPUs" "$TMP/out"

zram=$(zram_make 64)
plan "iodepth: 16, bs: 64k" "{devices: [$zram]}"
measure
check_json "$TMP/run/result.json" '.phases[0].marks | contains(["iowq"])'
host '.cpu.other_threads > 0.3 * .total.cpu_share' # the io-wq threads that do its work

# idle_on CPU: prints its idle ticks so far.
idle_on()
{
    awk -v cpu="cpu$1" '$1 == cpu { print $5 + $6 }' /proc/stat
}

dev=$(loop_make 64)
group=$(throttle_make)
throttle_iops "$group" "$dev" read 500
device="{devices: [$dev]}"
plan "iodepth: 4, cpus_allowed: \"$second\"" "$device"
before=$(idle_on "$second")
measure throttle_exec "$group"
idle_ticks=$(($(idle_on "$second") - before))
host '.total.cpu_share < 0.2'
# Over 60 idle ticks: the CPU was idle for a fifth of M at least.
if [ "$idle_ticks" -gt 60 ]; then
    host '(has("client_bound") | not) and .cpu.worker_cpus == 1 and .cpu.worker_busy_min <= 0.9'
else
    echo "the machine is busy: CPU $second was idle for $idle_ticks ticks in three seconds"
fi

taskset -c "$second" sh -c 'while :; do :; done' &
spinner=$!
at_exit kill "$spinner"
measure throttle_exec "$group"
host '.client_bound == ["cpus"] and .total.cpu_share < 0.2'
check_json "$TMP/run/result.json" '.phases[0] |
    .marks == ["client_bound"] and .little_verdict == "ok"'
