#!/usr/bin/env bash
# What was judged is what is written to: a path, a device or a directory that leads elsewhere once the
# plan is loaded is refused, and so are links out of what is allowed.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guarded.sh"

# The path leads to another drive once the run has begun.
test_swapped()
{
    local first other before
    fresh
    first=$disk
    fresh
    other=$disk
    ln -s "$first" "$TMP/drive"
    cat >"$TMP/plan.yaml" <<PLAN
targets:
  r: {devices: [$first]}
  d: {devices: [$TMP/drive]}
phases:
  - jobs: [{target: r, rw: randread, runtime: 2s, rate_iops: 100}]
  - {destructive: true, jobs: [{target: d, rw: randwrite, runtime: 300ms}]}
PLAN
    before=$(sum "$other")
    rm -f "$TMP/out"
    run_guarded --yes --allow-device '/dev/loop*' --allow-device "$TMP/drive" \
        >"$TMP/out" 2>&1 </dev/null &
    local pid=$! status=0
    wait_for 5 grep -q "running" "$TMP/out"
    ln -sfn "$other" "$TMP/drive"
    wait "$pid" || status=$?
    check "exit status 2" [ "$status" = 2 ]
    expect_match "$TMP/drive: is another device than when the plan was loaded" "$(cat "$TMP/out")"
    check "not one byte of the other drive has changed" [ "$(sum "$other")" = "$before" ]
}

# The path leads to the same device, and that to another file: as if a drive had been replaced.
test_replaced()
{
    local file other pid status=0
    fresh
    file=$(loop_file "$disk")
    other=$(dirname "$file")/other
    truncate -s 32M "$other"
    cat >"$TMP/plan.yaml" <<PLAN
targets:
  f: {size: 1MiB}
  d: {devices: [$disk]}
phases:
  - jobs: [{target: f, rw: randread, runtime: 2s, rate_iops: 100}]
  - {destructive: true, jobs: [{target: d, rw: randwrite, runtime: 300ms}]}
PLAN
    rm -f "$TMP/out"
    run_guarded --yes --allow-device "$disk" >"$TMP/out" 2>&1 </dev/null &
    pid=$!
    wait_for 5 grep -q "running" "$TMP/out"
    losetup --detach "$disk"
    losetup --direct-io=on "$disk" "$other"
    wait "$pid" || status=$?
    check "exit status 2" [ "$status" = 2 ]
    expect_match "$disk: is another device than when the plan was loaded: it was loop:$file, \
it is loop:$other now; run again if that is meant" "$(cat "$TMP/out")"
    check "not one byte of either has changed" \
        [ "$(cat "$file" "$other" | tr -d '\0' | wc -c)" = 0 ]
}

# A directory that nobody has allowed, and a link that leads out of one that is.
test_directories()
{
    local pid
    mkdir "$TMP/allowed" "$TMP/other"
    ln -s "$TMP/other" "$TMP/allowed/link"
    rackbench-agent --listen tcp://127.0.0.1:7493 --scratch "$TMP/scratch" \
        --allow-path "$TMP/allowed" 2>"$TMP/agent.log" &
    pid=$!
    at_exit end "$pid"
    wait_for 5 grep -q "listening on" "$TMP/agent.log"
    for directory in "$TMP/other" "$TMP/allowed/link" "$TMP/allowed/../other"; do
        cat >"$TMP/plan.yaml" <<PLAN
targets:
  s: {directory: $directory, size: 1MiB}
phases:
  - jobs: [{target: s, rw: write, number_ios: 10}]
PLAN
        expect_exit 1 rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7493 \
            --output "$(mktemp -d "$TMP/run.XXXXXX")"
        expect_match "the agent does not allow directory .*--allow-path $TMP/other" "$OUTPUT"
    done
    check "nothing was written there" [ -z "$(ls "$TMP/other")" ]
    sed -i "s|directory: [^,]*|directory: $TMP/allowed|" "$TMP/plan.yaml"
    # The file itself leads out.
    head -c 1M /dev/urandom >"$TMP/other/precious"
    sha256sum "$TMP/other/precious" >"$TMP/sum"
    ln -s "$TMP/other/precious" "$TMP/allowed/rackbench.127.0.0.1:7493.s.0"
    expect_exit 1 rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7493 --output "$TMP/dir.link"
    expect_match "s.0 is not a regular file; remove it" "$OUTPUT"
    rm "$TMP/allowed/rackbench.127.0.0.1:7493.s.0"
    ln "$TMP/other/precious" "$TMP/allowed/rackbench.127.0.0.1:7493.s.0"
    expect_exit 1 rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7493 --output "$TMP/dir.hard"
    expect_match "s.0 has other hard links; it may hold somebody's data" "$OUTPUT"
    check "not one byte has changed" sha256sum --quiet --check "$TMP/sum"
    rm "$TMP/allowed/rackbench.127.0.0.1:7493.s.0" "$TMP/other/precious"
    expect_exit 0 rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7493 --output "$TMP/dir.good"
    test_swapped_directory
    end "$pid"
}

# An allowed directory that becomes a link to another one while the run is on.
test_swapped_directory()
{
    local status
    mkdir "$TMP/allowed/moves"
    cat >"$TMP/plan.yaml" <<PLAN
targets:
  r: {directory: $TMP/allowed, size: 1MiB}
  s: {directory: $TMP/allowed/moves, size: 1MiB}
phases:
  - jobs: [{target: r, rw: randread, runtime: 2s, rate_iops: 100}]
  - jobs: [{target: s, rw: write, number_ios: 10}]
PLAN
    swap_directory "$TMP/other"
    check "exit status 1" [ "$status" = 1 ]
    expect_match "is now at $TMP/other, which the agent does not allow" "$(cat "$TMP/out")"
    check "nothing was written there, either" [ -z "$(ls "$TMP/other")" ]
    rm "$TMP/allowed/moves"
    mkdir "$TMP/allowed/moves" "$TMP/allowed/else"
    swap_directory "$TMP/allowed/else"
    check "exit status 2" [ "$status" = 2 ]
    expect_match "moves: is another directory than when the plan was loaded" "$(cat "$TMP/out")"
    check "nor to one that is allowed" [ -z "$(ls "$TMP/allowed/else")" ]
}

# swap_directory TO: runs the plan and makes the second phase's directory a link to TO; sets $status.
swap_directory()
{
    local run
    rm -f "$TMP/out"
    rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1:7493 \
        --output "$(mktemp -d "$TMP/run.XXXXXX")" >"$TMP/out" 2>&1 </dev/null &
    run=$!
    wait_for 5 grep -q "running" "$TMP/out"
    rmdir "$TMP/allowed/moves"
    ln -s "$1" "$TMP/allowed/moves"
    status=0
    wait "$run" || status=$?
}

test_swapped
test_replaced
test_directories
