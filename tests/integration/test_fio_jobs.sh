#!/usr/bin/env bash
# fio's job files: what fio and rackbench do of the same file is the same number of operations and
# bytes where a job is bound by its size; job files that nobody here wrote (RACKBENCH_FIO_JOBS, else
# ../shared/fio-jobs) are imported or refused with a reason and a line.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
command -v jq >/dev/null || skip "needs jq"

# job NAME: the job file from standard input.
job()
{
    cat >"$TMP/$1.fio"
}

# fio_did NAME: "read OPS BYTES write OPS BYTES trim OPS BYTES" of all jobs together.
fio_did()
{
    mkdir -p "$TMP/files"
    (cd "$TMP" && fio --output-format=json --output="$TMP/$1.fio.json" "$TMP/$1.fio") >"$TMP/$1.log" 2>&1 ||
        fail "fio $1: $(cat "$TMP/$1.log")"
    jq -r '[.jobs[]] | [("read", "write", "trim") as $op |
        $op, (map(.[$op].total_ios) | add), (map(.[$op].io_bytes) | add)] | join(" ")' "$TMP/$1.fio.json"
    rm -rf "$TMP/files"
}

# we_did NAME: the same of ours.
we_did()
{
    mkdir -p "$TMP/files"
    rackbench run "$TMP/$1.fio" --local 1 --allow-device '/dev/loop*' --yes --scratch "$TMP/scratch" --output "$TMP/$1.run" --connect-timeout 30s \
        --quiet >"$TMP/$1.log" 2>&1 || fail "rackbench run $1: $(cat "$TMP/$1.log")"
    jq -r '[.phases[].cluster | ., .outside.ramp, .outside.drained] | [("read", "write", "trim") as $op |
        $op, (map(.[$op].ops // 0) | add), (map(.[$op].bytes // 0) | add)] | join(" ")' "$TMP/$1.run/result.json"
    rm -rf "$TMP/files" "$TMP/scratch"
}

# agree NAME [TOTALS]: both did the same; with `totals`, in the sum of reads and writes: which of them
# a mixed job does next is drawn.
# shellcheck disable=SC2016 # for awk to expand
agree()
{
    local fio ours filter='{print $2, $3, $5, $6, $8, $9}'
    [ "${2:-}" = totals ] && filter='{print $2 + $5 + $8, $3 + $6 + $9}'
    fio=$(fio_did "$1" | awk "$filter")
    ours=$(we_did "$1" | awk "$filter")
    [ "$fio" = "$ours" ] || fail "$1: fio did $fio, rackbench $ours"
    echo "ok: $1: $fio"
}

write_jobs()
{
    job sequential <<JOB
[global]
directory=$TMP/files
ioengine=libaio
direct=1
bs=64k
size=4m
[write]
rw=write
[read]
stonewall
rw=read
iodepth=8
JOB
    job random <<JOB
[global]
filename=$TMP/files/one
size=2m            ; of all jobs
direct=1
[fill]
rw=write
bs=128k
[once]
stonewall
ioengine=io_uring
rw=randread
iodepth=16
numjobs=3
[draws]
stonewall
rw=randwrite
norandommap
numjobs=2
JOB
    job bounds <<JOB
[global]
directory=$TMP/files
bs=4KiB            # 4000 to fio, and no direct I/O then
rw=write
[loops]
size=400k
loops=3
[io_size]
stonewall
size=1m
io_size=160k
[number_ios]
stonewall
size=1m
number_ios=10
[beyond]
stonewall
size=1m
number_ios=100000
[runtime]
stonewall
size=1m
runtime=1m
JOB
    job files <<JOB
[global]
directory=$TMP/files
bs=4k
rw=write
[clones]
size=64k
numjobs=4
[nrfiles]
stonewall
size=192k
nrfiles=3
ioengine=libaio
direct=1
iodepth=6
[filesize]
stonewall
filesize=1m
size=256k
rw=randread
JOB
    job offsets <<JOB
[global]
filename=$TMP/files/one
bs=4k
[offset]
rw=write
offset=256k
size=512k
[increment]
stonewall
rw=write
size=256k
offset_increment=256k
numjobs=3
JOB
    job verified <<JOB
[global]
filename=$TMP/files/one
bs=4k
size=1m
[w]
rw=write
verify=crc32c
[r]
stonewall
rw=randwrite
verify=md5
ioengine=libaio
iodepth=4
JOB
    job sizes <<JOB
[global]
filename=$TMP/files/one
size=10000
[odd]
rw=write
[ranges]
stonewall
size=8m
bs=8k,16k
rw=write
JOB
    job mixed <<JOB
[mixed]
filename=$TMP/files/one
size=8m
bs=8k
rw=randrw
rwmixread=70
JOB
    job delayed <<JOB
[global]
directory=$TMP/files
size=64k
rw=write
[first]
[second]
startdelay=1
JOB
}

test_agreement()
{
    local name
    for name in sequential random bounds files offsets verified sizes delayed; do
        agree "$name"
    done
    agree mixed totals
    check_json "$TMP/delayed.run/result.json" '.phases[0].seconds >= 0 and .phases[0].to_last.seconds >= 1'
}

# A drive of 64 MiB: whole, in part, in percent of it.
test_drive()
{
    local dev
    [ "$(id -u)" -eq 0 ] || skip "must be root"
    dev=$(loop_make 64)
    job drive <<JOB
[global]
filename=$dev
direct=1
ioengine=libaio
iodepth=8
bs=64k
[fill]
rw=write
[once]
stonewall
rw=randread
size=16m
numjobs=2
[percent]
stonewall
rw=write
offset=50%
size=25%
[some]
stonewall
rw=randwrite
bs=4k
io_size=1m
JOB
    agree drive
}

# The plan that is printed is the plan that is run.
test_import()
{
    rackbench plan import "$TMP/random.fio" >"$TMP/random.yaml"
    check "import and check agree" diff <(rackbench check "$TMP/random.yaml" 2>/dev/null | grep -v '^name:') \
        <(rackbench check "$TMP/random.fio" 2>/dev/null | grep -v '^name:')
    expect_match 'random.fio:[0-9]+: ioengine=io_uring|no ioengine: fio takes psync' "$(cat "$TMP/random.yaml")"
    printf '[a]\nsize=1m\nflow=8\n' >"$TMP/flow.fio"
    expect_exit 1 rackbench check "$TMP/flow.fio"
    expect_match 'flow.fio:3: flow=8: .*--lenient' "$OUTPUT"
    expect_exit 0 rackbench check --lenient "$TMP/flow.fio"
    expect_match 'flow.fio:3: flow=8: WARNING' "$OUTPUT"
    printf '[a]\nsize=1m\nnumjob=8\n' >"$TMP/typo.fio"
    expect_exit 1 rackbench run "$TMP/typo.fio"
    expect_match "typo.fio:3: numjob=8: fio 3.33 has no such option; did you mean 'numjobs'" "$OUTPUT"
    printf '[a]\nsize=1m\nramp_time=3\n' >"$TMP/ramp.fio"
    expect_exit 1 rackbench check "$TMP/ramp.fio"
    expect_match 'ramp.fio:3: ramp_time needs runtime' "$OUTPUT"
    printf 'bs=64k\n' >"$TMP/part"
    printf '[a]\nsize=$''{SIZE}\ninclude part\n' >"$TMP/include.fio"
    SIZE=5m expect_exit 0 rackbench plan import "$TMP/include.fio"
    expect_match 'size: 5MiB.*bs: 64KiB' "$OUTPUT"
}

# expected FILE: what becomes of a job file that ships with fio; nothing for one that is not known here.
expected()
{
    case $1 in
    aio-read | fio-rand-read | fio-rand-write | fio-seq-RW | fio-seq-read | fixed-rate-submission | \
        poisson-rate-submission | ssd-test | t0033 | waitfor) echo imported ;;
    null | sequence-distribution | t0010-* | t0011-* | t0014 | t0020 | t0022 | t0023 | zipf) echo 'ioengine=null: it does no I/O' ;;
    cpuio) echo 'ioengine=cpuio: it does no I/O' ;;
    netio) echo 'ioengine=net: it measures a network' ;;
    rados) echo 'ioengine=rados: it is no local drive' ;;
    page_fault) echo 'ioengine=page_fault: it moves memory' ;;
    falloc) echo 'ioengine=falloc: it makes or removes files' ;;
    libcufile-cufile) echo "ioengine=libcufile: it moves data to a GPU's memory" ;;
    1mbs_clients) echo 'ratemin=1024: a job that falls behind its rate is not ended' ;;
    backwards-read) echo 'rw=read:-8k: nothing runs backwards' ;;
    butterfly | flow) echo 'flow[a-z_]*=[0-9]*: jobs are not weighed' ;;
    disk-zone-profile) echo 'zonemode=strided: zones and strides are not there' ;;
    enospc-pressure) echo 'ignore_error=,ENOSPC: errors are told apart' ;;
    example_latency_steadystate) echo 'steadystate=lat:5%: ' ;;
    numa) echo 'numa_cpu_nodes=0: each host numbers its nodes' ;;
    surface-scan) echo 'fill_device=1: file systems are not filled up' ;;
    t0005-*) echo 'verify_backlog=32: blocks are read back after all were written' ;;
    t0007-*) echo 'rw=read:512k: sequential operations leave no gaps' ;;
    t0026) echo 'verify=md5: a job that only reads or only writes can be checked' ;;
    t0031) echo 'read_iolog=iolog: I/O logs are not replayed' ;;
    uring-cmd-ng) echo 'sqthread_poll=1: for ioengine=io_uring only' ;;
    esac
}

# Each is imported, or refused in words that name its file and a line.
test_others()
{
    local dir=${RACKBENCH_FIO_JOBS:-$ROOT/../shared/fio-jobs} file want imported=0 refused=0
    compgen -G "$dir/*.fio" >/dev/null || {
        echo "no job files in $dir: RACKBENCH_FIO_JOBS names a directory"
        return
    }
    for file in "$dir"/*.fio; do
        if OUTPUT=$(FIO_DIR=/data GPU_DEV_IDS=0 rackbench plan import "$file" 2>&1); then
            echo "$OUTPUT" >"$TMP/other.yaml"
            rackbench check "$TMP/other.yaml" >"$TMP/other.log" 2>&1 ||
                grep -q "other.yaml:" "$TMP/other.log" || fail "$file: $(cat "$TMP/other.log")"
            OUTPUT=imported
            imported=$((imported + 1))
        else
            [[ $OUTPUT =~ ^rackbench:\ .*\.fio:[0-9]+:\ .+ ]] || fail "$file: $OUTPUT"
            echo "refused: ${OUTPUT#rackbench: }"
            refused=$((refused + 1))
        fi
        want=$(expected "$(basename "$file" .fio)")
        [[ $OUTPUT =~ $want ]] || fail "$file: expected '$want', got '$OUTPUT'"
    done
    echo "ok: of $((imported + refused)) job files $imported are imported, the others refused with a reason"
    [ "$imported" -gt 0 ] || fail "none of $dir is imported"
}

write_jobs
test_import
test_others
command -v fio >/dev/null || skip "needs fio"
test_agreement
test_drive
