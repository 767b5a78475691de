#!/usr/bin/env bash
# A run does not need its terminal, and is watched from another one: status and attach read the
# journal, disturb nothing, and tell a run that goes on from one that ended or whose coordinator died.
source "$(dirname "$0")/../lib/check.sh"

cat >"$TMP/plan.yaml" <<'PLAN'
name: long
interval: 250ms
targets:
  s: {size: 1MiB}
phases:
  - name: first
    runtime: 2s
    jobs:
      - {name: j, target: s, rw: randread, iodepth: 2, rate_iops: 400}
  - name: second
    runtime: 2s
    jobs:
      - {name: j, target: s, rw: randread, iodepth: 2, rate_iops: 400}
PLAN

# start NAME ARGUMENT...: a run of two local agents into $TMP/NAME; RUN is its pid. Returns in its
# first phase.
start()
{
    local name=$1
    shift
    rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch" --output "$TMP/$name" "$@" \
        >"$TMP/$name.out" 2>"$TMP/$name.err" </dev/null &
    RUN=$!
    wait_for 8 grep -q "first 1/2 running" "$TMP/$name.err"
}

test_status()
{
    start watched
    expect_exit 0 rackbench status "$TMP/watched"
    expect_match "long \([a-z0-9]+\): running" "$OUTPUT"
    expect_match "phase 1 of 2: first" "$OUTPUT"
    expect_match "of this phase: [01]s of 2s" "$OUTPUT"
    expect_match "left by the plan: [23]s" "$OUTPUT"
    expect_match "hosts: 2 of 2 answering" "$OUTPUT"
    rackbench status "$TMP/watched" --format json >"$TMP/status.json"
    check "it is one line" [ "$(wc -l <"$TMP/status.json")" = 1 ]
    check_json "$TMP/status.json" '.state == "running" and .run.name == "long" and
        (.run.id | length == 8) and (.phase | .name == "first" and .number == 1 and .of == 2 and
        .total_ns == 2000000000 and .elapsed_ns > 0) and (has("exit_code") | not)'
    check_json "$TMP/status.json" '.left | .ns > 2e9 and .ns < 4e9 and (.at_most or .open_end | not)'
    check_json "$TMP/status.json" '(.hosts | map(.name + " " + .state) ==
        ["local1 answering", "local2 answering"])'
    wait_for 2 cluster_figures
    expect_exit 1 rackbench status "$TMP/watched" --format csv
}

# The newest window of both hosts, 250 ms at 800 IOPS.
cluster_figures()
{
    rackbench status "$TMP/watched" --format json |
        jq -e '.cluster | .length_ns == 250000000 and (.read.ops - 200 | fabs) < 40'
}

test_attach()
{
    local out=$TMP/attach.out err=$TMP/attach.err got=0 id
    # One detaches, another stays to the end.
    rackbench attach "$TMP/watched" >"$TMP/left.out" 2>"$TMP/left.err" &
    local left=$!
    wait_for 5 grep -q "first 1/2 running" "$TMP/left.err"
    kill -INT "$left"
    wait "$left" || got=$?
    check "Ctrl-C ends the one that is attached with 130" [ "$got" = 130 ]
    expect_match "detached; the run goes on" "$(cat "$TMP/left.err")"
    check "and leaves the run alone" kill -0 "$RUN"
    expect_exit 0 rackbench attach "$TMP/watched" --json-lines
    grep '^{' <<<"$OUTPUT" >"$TMP/lines.json"
    check_json "$TMP/lines.json" 'select(.type == "result") | .exit_code == 0'
    jq -s 'map(select(.type == "window")) | length' "$TMP/lines.json" >"$TMP/windows"
    check "it saw every window of both phases" [ "$(cat "$TMP/windows")" = 16 ]
    got=0
    wait "$RUN" || got=$?
    check "the run ended well" [ "$got" = 0 ]
    rackbench attach "$TMP/watched" >"$out" 2>"$err"
    check "attach prints what run has printed" cmp "$out" "$TMP/watched.out"
    expect_exit 0 rackbench status "$TMP/watched"
    expect_match "long \([a-z0-9]+\): done" "$OUTPUT"
    rackbench status "$TMP/watched" --format json >"$TMP/status.json"
    check_json "$TMP/status.json" '.state == "done" and .exit_code == 0 and (has("phase") | not)'
    # By its id too, from where its directory is.
    id=$(json "$TMP/watched/result.json" .run.id)
    mv "$TMP/watched" "$TMP/long-20260101T000000Z-$id"
    expect_exit 0 env -C "$TMP" rackbench status "$id"
    expect_exit 1 rackbench status "$TMP/nothing"
    expect_match "is no run" "$OUTPUT"
}

test_failed_run()
{
    start failed
    kill -INT "$RUN"
    wait "$RUN" || true
    for command in status attach; do
        expect_exit 130 rackbench $command "$TMP/failed"
        expect_match "rackbench: interrupted" "$OUTPUT"
    done
}

test_killed_coordinator()
{
    local got=0
    start killed
    rackbench attach "$TMP/killed" >"$TMP/attach.out" 2>"$TMP/attach.err" &
    local attached=$!
    wait_for 5 grep -q running "$TMP/attach.err"
    kill -KILL "$RUN"
    wait "$RUN" 2>/dev/null || true
    wait "$attached" || got=$?
    check "attach ends with its coordinator" [ "$got" = 5 ]
    expect_match "its coordinator is gone" "$(cat "$TMP/attach.err")"
    expect_exit 5 rackbench status "$TMP/killed"
    expect_match "long \([a-z0-9]+\): its coordinator is gone" "$OUTPUT"
    rackbench status "$TMP/killed" --format json 2>/dev/null >"$TMP/status.json" || true
    check_json "$TMP/status.json" '.state == "gone" and .phase.name == "first"'
}

# script(1) gives it a terminal, and takes it away.
test_terminal_gone()
{
    command -v script >/dev/null || skip "no script(1) here"
    script --quiet --return --command "exec rackbench run '$TMP/plan.yaml' --local 2 \
        --scratch '$TMP/scratch' --output '$TMP/hung'" "$TMP/typescript" </dev/zero >/dev/null &
    local terminal=$! run
    wait_for 8 grep -q "first 1/2 running" "$TMP/typescript"
    run=$(pgrep --parent "$terminal" rackbench)
    kill -KILL "$terminal"
    wait "$terminal" 2>/dev/null || true
    sleep 0.3
    check "it goes on without its terminal" kill -0 "$run"
    expect_exit 0 rackbench status "$TMP/hung"
    expect_exit 0 rackbench attach "$TMP/hung" --quiet
    expect_match "phase second: from .*measured 0\.000 s to 2\.000 s" "$OUTPUT"
    wait_for 3 test -s "$TMP/hung/result.json"
    wait_for 3 jq -e '.run.status == "done" and (.phases | length) == 2' "$TMP/hung/result.json"
}

# Whoever reads its standard output and error goes away: no signal ends it.
test_reader_gone()
{
    local fifo=$TMP/fifo run got=0
    mkfifo "$fifo"
    rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch" --output "$TMP/piped" \
        >"$fifo" 2>&1 </dev/null &
    run=$!
    head -n 3 "$fifo" >/dev/null
    wait "$run" || got=$?
    check "it says that it could not print ($got)" [ "$got" = 4 ]
    check_json "$TMP/piped/result.json" '.run.status == "done" and (.phases | length) == 2'
}

# A host that is stopped is named before it is given up, and why once it is.
test_silent_host()
{
    start silent --set lease=5s --set phases.0.runtime=20s --set on_host_loss=continue
    local stopped
    stopped=$(pgrep --parent "$RUN" rackbench-agent | head -n 1)
    kill -STOP "$stopped"
    sleep 3
    expect_exit 0 rackbench status "$TMP/silent"
    expect_match "hosts: 1 of 2 answering" "$OUTPUT"
    check_json <(rackbench status "$TMP/silent" --format json) '.hosts[0] | .state == "silent" and
        .behind_ns > 2e9'
    expect_match "  local1 no answer: its last window ended [0-9.]+ s ago" "$OUTPUT"
    wait_for 8 status_tells "  local1 lost: no answer for [0-9.]+ s while running"
    expect_match "last events.* local1 host_lost: no answer" "$(rackbench status "$TMP/silent")"
    kill -INT "$RUN"
    kill -CONT "$stopped"
    wait "$RUN" || true
}

status_tells()
{
    rackbench status "$TMP/silent" | grep -qE "$1"
}

test_status
test_attach
test_silent_host
test_failed_run
test_killed_coordinator
test_terminal_gone
test_reader_gone
