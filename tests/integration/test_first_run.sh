#!/usr/bin/env bash
# What somebody meets first, on one machine and without a word of configuration: `run quick`, its
# outputs, `report`, `check`, `clean` and the built-in plans.
source "$(dirname "$0")/../lib/check.sh"

short=(--set phases.0.runtime=2s --set phases.0.ramp_time=500ms --set targets.0.size=4MiB)
mkdir "$TMP/work"
cd "$TMP/work"

# quick ARGUMENT...: a short run of the preset that must end well; $TMP/out and $TMP/err are its
# outputs, $run its directory.
quick()
{
    rackbench run quick "${short[@]}" "$@" >"$TMP/out" 2>"$TMP/err" </dev/null ||
        fail "run quick $*: exit status $?: $(cat "$TMP/err")"
    run=$(sed -n 's/^run directory: //p' "$TMP/err")
    check "run quick $* names its run directory" [ -f "$run/result.json" ]
}

# agents: pids of the embedded agents that this test has started.
agents()
{
    local pid
    for pid in $(pgrep -f -- --embedded); do
        [ "$(readlink "/proc/$pid/cwd")" != "$TMP/work" ] || echo "$pid"
    done
}

four_agents()
{
    [ "$(agents | wc -l)" = 4 ]
}

test_agents()
{
    local pid socket
    rackbench run quick "${short[@]}" >"$TMP/out" 2>"$TMP/err" </dev/null &
    pid=$!
    wait_for 5 four_agents
    socket=$(tr '\0' '\n' <"/proc/$(agents | head -n 1)/cmdline" | sed -n 's|^ipc://||p')
    check "agents are reached through a directory that is ours alone" \
        [ "$(stat -c %a "$(dirname "$socket")")" = 700 ]
    wait "$pid" || fail "run quick: exit status $?"
    check "no agent is left" [ -z "$(agents)" ]
    check "nor the directory" [ ! -e "$(dirname "$socket")" ]
}

test_quick()
{
    quick
    check "the run directory holds plan, journal and result" \
        [ "$(cd "$run" && echo *)" = "journal.rbj plan.resolved.yaml plan.yaml result.json" ]
    expect_match "^quick-[0-9]{8}T[0-9]{6}Z-[a-z0-9]+$" "$run"
    check "four embedded agents" [ "$(grep -c '^  local[1-4] ' "$TMP/out")" = 4 ]
    expect_match "read response +[0-9.]+k? " "$(cat "$TMP/out")"
    expect_match "start skew [0-9.]+ [mnu]?s \+- [0-9.]+ [mnu]?s" "$(cat "$TMP/out")"
    expect_match "randrw 1/1 running .* 4/4 hosts" "$(cat "$TMP/err")"
    check "the table alone is on standard output" [ "$(head -c 6 "$TMP/out")" = "quick " ]
    check "no control characters where no terminal is" \
        [ -z "$(grep -l -P '[\x00-\x08\x0b-\x1f]' "$TMP/out" "$TMP/err")" ]
    check_json "$run/result.json" '.run.name == "quick" and .run.status == "done" and
        .run.marks == [] and ([.events[].kind] - ["max_skew", "common_share", "steal"] == [])'
    check_json "$run/result.json" '.phases[0] | .seconds == 2 and (.hosts | length) == 4 and
        .cluster.read.ops > 100 and .cluster.write.ops > 50 and .cluster.read.errors == 0'
    # 70 % reads; four workers make thousands of operations of it.
    check_json "$run/result.json" '.phases[0].cluster | .read.ops / (.read.ops + .write.ops) |
        . > 0.65 and . < 0.75'
}

# cluster_rate FILE: the plain number of the table's line for all operations.
cluster_rate()
{
    awk '$1 == "all" && NF == 3 {print $3}' "$1"
}

# --units changes a number and its title together, and bytes a second stay what they are.
test_units()
{
    rackbench report "$run" --units mb >"$TMP/decimal"
    check "MB/s is said" grep -q "IOPS  *MB/s" "$TMP/decimal"
    check "and MiB/s is not" [ "$(grep -c "MiB/s" "$TMP/decimal")" = 0 ]
    check "a MB is smaller" awk -v binary="$(cluster_rate "$TMP/out")" \
        -v decimal="$(cluster_rate "$TMP/decimal")" \
        'BEGIN {exit !(binary > 1 && (decimal / binary) / 1.048576 - 1 < 0.1 / binary &&
                       1 - (decimal / binary) / 1.048576 < 0.1 / binary)}'
    check "--units MB/s is the same" cmp "$TMP/decimal" <(rackbench report "$run" --units MB/s)
    check "JSON and CSV have bytes" cmp <(rackbench report "$run" --format csv) \
        <(rackbench report "$run" --format csv --units mb)
    expect_exit 1 rackbench report "$run" --units kib
}

test_report()
{
    local id=${run##*-}
    rackbench report "$run" >"$TMP/again"
    check "report RUN prints the same table" cmp "$TMP/out" "$TMP/again"
    rackbench report "$id" >"$TMP/again"
    check "so does report ID" cmp "$TMP/out" "$TMP/again"
    rackbench report "$id" --format json >"$TMP/again.json"
    check "and as JSON what result.json holds" cmp "$run/result.json" "$TMP/again.json"
    check "report | head is no error" bash -c "set -o pipefail; rackbench report $run --format csv |
        head -n 1 >/dev/null || [ \$? = 141 ]"
    test_units
    expect_exit 1 rackbench report nosuch
    expect_match "'nosuch' is no run: .*journal.rbj" "$OUTPUT"
}

test_outputs()
{
    quick --local 2 --quiet
    check "--local 2: two of them" [ "$(grep -c '^  local[1-9] ' "$TMP/out")" = 2 ]
    check "--quiet: no live line, the table stays" \
        [ "$(grep -vc '^run directory: ' "$TMP/err")$(head -c 6 "$TMP/out")" = "0quick " ]
    quick --local 1 --format json
    check "--format json: standard output is result.json" cmp "$TMP/out" "$run/result.json"
    quick --local 1 --json-lines
    check "--json-lines: every line is an object" \
        [ "$(jq -r .type "$TMP/out" | wc -l)" = "$(wc -l <"$TMP/out")" ]
    check "the last one is the result" [ "$(tail -n 1 "$TMP/out" | jq -r '.type + " " + .run.status')" \
        = "result done" ]
    check "its windows hold what the result does" [ "$(jq -s '[.[] | select(.type == "window" and
        (.ramp | not)) | .read.ops] | add' "$TMP/out")" = \
        "$(jq .phases[0].cluster.read.ops "$run/result.json")" ]
}

# state DIRECTORY: every file in it and what it holds.
state()
{
    (cd "$1" && find . -printf '%p %s %T@\n' | sort)
}

test_check()
{
    local before
    rm -rf rackbench-scratch
    before=$(state .)
    expect_exit 0 rackbench check quick
    expect_match "rwmixread: 70" "$OUTPUT"
    expect_match "duration: 18s," "$OUTPUT"
    expect_exit 0 rackbench check quick --local 2
    expect_match "local2  scratch  .*/rackbench.local2.scratch.0  256 MiB  lays out" "$OUTPUT"
    expect_match "would lay out 512 MiB of files; nothing was touched" "$OUTPUT"
    check "check touches nothing" [ "$(state .)" = "$before" ]
    expect_exit 1 rackbench check quick --set phases.0.jobs.0.iodepth=0
    expect_match "iodepth: 0 is out of range" "$OUTPUT"
}

test_clean()
{
    local others
    quick --local 2
    check "files are laid out" [ "$(find rackbench-scratch -name 'rackbench.local*' | wc -l)" = 2 ]
    # What is of another host, another target, or nobody's is not touched.
    others=(rackbench-scratch/local1/{mine,rackbench.local1.scratcX.0,rackbench.local1.scratch.0.bak}
        rackbench-scratch/local1/rackbench.local2.scratch.0)
    touch "${others[@]}"
    expect_exit 0 rackbench clean quick --local 2
    expect_match "local1  removed 1 files?, 4 MiB" "$OUTPUT"
    check "clean removes these, and those alone" [ "$(find rackbench-scratch -type f | sort)" = \
        "$(printf '%s\n' "${others[@]}" | sort)" ]
}

test_plans()
{
    local name
    expect_exit 0 rackbench plan list
    expect_match "quick +A first look" "$OUTPUT"
    # One preset looks for the trace in the working directory.
    awk -f "$ROOT/tests/lib/conversation.awk" "$ROOT/tests/data/traces/conversation.txt" \
        >"$TMP/mooncake_conversation.jsonl"
    while read -r name _; do
        rackbench plan show "$name" >"$TMP/$name.yaml"
        (cd "$TMP" && rackbench check "$name.yaml") >"$TMP/resolved.file"
        (cd "$TMP" && rackbench check "$name") >"$TMP/resolved.preset"
        check "plan show $name is the plan that $name runs" \
            cmp "$TMP/resolved.file" "$TMP/resolved.preset"
    done <<<"$OUTPUT"
    expect_exit 1 rackbench plan show nosuch
    expect_exit 1 rackbench run nosuch
    expect_exit 0 rackbench --version
    expect_exit 0 rackbench-agent --version
    expect_exit 1 rackbench frobnicate
    expect_match "unknown command 'frobnicate'" "$OUTPUT"
}

test_agents
test_quick
test_report
test_outputs
test_check
test_clean
test_plans
