#!/usr/bin/env bash
# Nothing that was measured is lost: not when the coordinator is killed, not when a link is cut or a
# host stopped for a while, not when the coordinator's disk is full. After each of these the result
# has exactly the operations that the kernel of each host counted.
#
# usage: tests/integration/test_resume.sh [long]     (by hand: a link that is down for 10 s and a host
# that is stopped for 30 s, and nothing else)
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root

net="rbr$$"
hosts="10.77.0.[1-2]"
dev1=$(loop_make 16)
dev2=$(loop_make 16)
touch "$TMP/drive"
cat >"$TMP/plan.yaml" <<PLAN
name: resume
interval: 100ms
lease: 1s
targets:
  d: {devices: [$TMP/drive]}
phases:
  - name: first
    destructive: true
    runtime: 4s
    jobs: [{name: j, target: d, rw: randwrite, rate_iops: 300}]
  - name: second
    destructive: true
    runtime: 500ms
    jobs: [{name: j, target: d, rw: randwrite, rate_iops: 300}]
PLAN

# agent_with DEVICE I OPTION...: an agent on host I, to which this device alone is the drive. Writes
# are what is counted: reads are also made by everybody who looks for signatures.
agent_with()
{
    local device=$1 i=$2
    shift 2
    # shellcheck disable=SC2016 # for the shell in there
    netns_spawn "$net" "$i" unshare --mount sh -c 'mount --bind "$0" "$1" && shift && exec "$@"' \
        "$device" "$TMP/drive" rackbench-agent --insecure --scratch "$TMP/scratch.$i" \
        --allow-device "$TMP/drive" "$@" \
        >"$TMP/agent.$i.log" 2>&1
    AGENT[i]=$!
    wait_for 5 grep -qE "listening on|dialling" "$TMP/agent.$i.log"
}

# start_run DIRECTORY ARGUMENT...: in the background; returns when a second of it is measured.
start_run()
{
    local directory=$1
    shift
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$directory" \
        --hosts "$hosts" "$@"
    RUN=$!
    wait_for 8 running
    sleep 1
}

kill_run()
{
    kill -KILL "$RUN"
    wait "$RUN" 2>/dev/null || true
}

# end_run STATUS SECONDS: the run ends with it, within so long.
end_run()
{
    local want=$1 end=$(($(date +%s%N) + $2 * 1000000000)) got=0
    wait "$RUN" || got=$?
    check "ended within $2 s" [ "$(date +%s%N)" -lt "$end" ]
    OUTPUT=$(cat "$TMP/run.out" "$TMP/run.err")
    [ "$got" = "$want" ] || fail "the run ended with $got instead of $want: $OUTPUT"
    echo "ok: the run ended with $want"
}

# expect_all FILE [PHASES]: on each host the operations of the result, wherever they count, are those
# of the kernel: one device each, 4 KiB an operation.
expect_all()
{
    local phases=${2:-2}
    check_json "$1" ".phases | length == $phases"
    jq -c '.phases[] | [.name, (.hosts | map(.total | [.write.ops, (.outside | map(.write.ops))])),
        (.kernel | map(.[].write.sectors / 8))]' "$1"
    # shellcheck disable=SC2016 # jq's variable
    check_json "$1" '[.phases[] | .kernel as $kernel | .hosts | to_entries[] |
        ((.value.total.write.ops // 0) + ([.value.total.outside[]?.write.ops] | add // 0)) ==
        ($kernel[.key] | map(.write.sectors / 8) | add)] | all'
}

# expect_replay DIRECTORY: the report made from the journal is what the command wrote.
expect_replay()
{
    coordinate "$net" report "$1" --format json >"$TMP/replay.json"
    check "the replay is the result" cmp -s "$TMP/replay.json" "$1/result.json"
}

test_within_the_lease()
{
    start_run "$TMP/within" --set lease=3s
    expect_exit 1 coordinate "$net" resume "$TMP/within"
    expect_match "the run is under way in process $RUN" "$OUTPUT"
    kill_run
    sleep 0.3
    expect_exit 0 coordinate "$net" resume "$TMP/within"
    expect_all "$TMP/within/result.json"
    check_json "$TMP/within/result.json" '.run.status == "done" and
        (.phases | map(.marks | contains(["truncated"])) | any | not)'
    check_json "$TMP/within/result.json" '.phases[0].seconds == 4 and .phases[1].seconds == 0.5'
    check_json "$TMP/within/result.json" '[.events[].kind] | contains(["resumed"]) and
        (contains(["cut_short"]) or contains(["lease_expired"]) | not)'
    expect_replay "$TMP/within"
    expect_exit 0 coordinate "$net" resume "$TMP/within"
    expect_match "nothing to resume" "$OUTPUT"
}

# Copies of the directory, on the machine of the run and on another one (host 2 here): nothing is
# taken from a run that goes on, and rows that a copy lacks are told at once.
test_copy()
{
    local before
    start_run "$TMP/original" --set phases.0.runtime=11s --set lease=5s
    cp -r "$TMP/original" "$TMP/copy1"
    cp -r "$TMP/original" "$TMP/copy2"
    sleep 1.2
    expect_exit 1 coordinate "$net" resume "$TMP/copy1"
    expect_match "is under way in another process of this machine: .* a copy" "$OUTPUT"
    expect_exit 5 netns_exec "$net" 2 rackbench resume "$TMP/copy1" --connect-timeout 1s
    expect_match "another coordinator of this run is at work" "$OUTPUT"
    kill_run
    before=$(date +%s%N)
    expect_exit 5 netns_exec "$net" 2 rackbench resume "$TMP/copy2"
    expect_match "its rows [0-9]+ to [0-9]+ were acknowledged to another journal" "$OUTPUT"
    check "told at once" [ $(($(date +%s%N) - before)) -lt 3500000000 ]
    expect_exit 0 coordinate "$net" resume "$TMP/original"
    expect_all "$TMP/original/result.json"
    check_json "$TMP/original/result.json" '.run.status == "done" and .phases[0].seconds == 11 and
        ([.events[].kind] | contains(["host_lost"]) | not)'
}

test_after_the_lease()
{
    local size
    start_run "$TMP/after"
    kill_run
    sleep 1.4
    expect_still write_bytes "the agents' last I/O is within the lease and half a second"
    printf 'torn' >>"$TMP/after/journal.rbj"
    size=$(stat -c %s "$TMP/after/journal.rbj")
    expect_exit 130 coordinate "$net" resume "$TMP/after"
    expect_match "its 4 bytes are cut" "$OUTPUT"
    expect_match "rackbench: interrupted: a phase was cut short" "$OUTPUT"
    check "the journal has grown" [ "$(stat -c %s "$TMP/after/journal.rbj")" -gt "$size" ]
    expect_all "$TMP/after/result.json"
    check_json "$TMP/after/result.json" '.run.status == "truncated" and
        (.phases[0].marks | contains(["truncated"])) and .phases[0].seconds < 4 and
        .phases[0].interval.common_share > 0.5'
    check_json "$TMP/after/result.json" '.phases[1].seconds == 0.5 and
        (.phases[1].marks | contains(["truncated"]) | not)'
    expect_replay "$TMP/after"
    expect_exit 130 coordinate "$net" resume "$TMP/after"
    expect_match "nothing to resume: the run has ended as truncated \(interrupted: " "$OUTPUT"
}

test_collect_only()
{
    start_run "$TMP/collect"
    kill_run
    expect_exit 130 coordinate "$net" resume --collect "$TMP/collect"
    expect_still write_bytes "what ran was stopped"
    expect_all "$TMP/collect/result.json" 1
    check_json "$TMP/collect/result.json" '.phases[0].seconds < 4'
}

test_restarted_agent()
{
    start_run "$TMP/restarted" --set on_host_loss=continue --set lease=10s
    kill_run
    kill -KILL "${AGENT[2]}"
    wait "${AGENT[2]}" 2>/dev/null || true
    agent_with "$dev2" 2 --listen tcp://10.77.0.2:7411
    expect_exit 5 coordinate "$net" resume "$TMP/restarted"
    check_json "$TMP/restarted/result.json" '[.events[] | select(.host == "10.77.0.2") | .kind][:2] ==
        ["host_lost", "rows_lost"]'
    check_json "$TMP/restarted/result.json" '.phases[0].hosts["10.77.0.1"].total.write.ops > 700'
}

# test_away NAME AWAY BACK SECONDS: both directions of a cut cable, or a process that does not run,
# for longer than the lease.
test_away()
{
    local name=$1 away=$2 back=$3 seconds=$4
    start_run "$TMP/$name" --set on_host_loss=continue --set phases.0.runtime=$((seconds + 5))s
    $away
    sleep "$seconds"
    check "no answer was noted" grep -q "1/2 hosts" "$TMP/run.err"
    $back
    end_run 5 9
    jq -c '.events[] | select(.kind != "resumed") | [.at_ns / 1e9, .host, .kind, .text]' \
        "$TMP/$name/result.json"
    expect_all "$TMP/$name/result.json"
    check_json "$TMP/$name/result.json" '[.events[] | select(.host == "10.77.0.2") | .kind] |
        index("no_answer") < index("host_lost") and index("host_lost") < index("host_back") and
        index("host_back") < index("rows_in")'
    check_json "$TMP/$name/result.json" '[.events[] | select(.kind == "no_answer") | .text |
        capture("for (?<s>[0-9.]+) s").s | tonumber <= 2] | all'
    check_json "$TMP/$name/result.json" ".phases[0] | .seconds == $seconds + 5 and
        .hosts[\"10.77.0.1\"].total.write.ops > 250 * .seconds and
        .hosts[\"10.77.0.2\"].total.write.ops > 100"
    # Its rate is over the time that it was there for: a stopped one until it was woken.
    check_json "$TMP/$name/result.json" '.phases[0].seconds - .phases[0].hosts["10.77.0.2"].seconds > 1'
    check_json "$TMP/$name/result.json" '.phases[0].hosts["10.77.0.2"] | .seconds > 0.5 and
        (.seconds - .lost.after_ns / 1e9 | fabs) < 1e-6 and
        (.total.write | .ops / .iops) - .seconds < 1e-6 and
        .seconds - (.total.write | .ops / .iops) < 1e-6'
    check_json "$TMP/$name/result.json" '.phases[0].series.cluster | map(.hosts) |
        first == 2 and last == 1'
    expect_replay "$TMP/$name"
}

pull_cable() { netns_link "$net" 2 down; }
plug_cable() { netns_link "$net" 2 up; }
stop_agent() { kill -STOP "${AGENT[2]}"; }
wake_agent() { kill -CONT "${AGENT[2]}"; }

# Down for good: the run ends without the host, and its rows can be fetched once it is there.
test_fetched_later()
{
    start_run "$TMP/later" --set on_host_loss=continue
    pull_cable
    end_run 5 7
    expect_match "1 host may still hold rows: rackbench resume $TMP/later" "$OUTPUT"
    check_json "$TMP/later/result.json" '.phases[0].hosts["10.77.0.2"].total.write.ops < 1100'
    expect_exit 5 coordinate "$net" resume "$TMP/later" --connect-timeout 1s --quiet
    expect_match "1 host may still hold rows" "$OUTPUT"
    plug_cable
    expect_exit 5 coordinate "$net" resume "$TMP/later" --quiet
    expect_all "$TMP/later/result.json"
    check_json "$TMP/later/result.json" '[.events[] | select(.kind == "rows_in") | .host] ==
        ["10.77.0.2"]'
    expect_replay "$TMP/later"
    expect_exit 5 coordinate "$net" resume "$TMP/later"
    expect_match "nothing to resume" "$OUTPUT"
}

test_full_disk()
{
    mkdir "$TMP/disk"
    mount -t tmpfs -o size=1m rackbench-test "$TMP/disk"
    at_exit umount_quiet "$TMP/disk"
    dd if=/dev/zero of="$TMP/disk/filler" bs=4k count=249 status=none
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/disk/run" \
        --hosts "$hosts" --set phases.0.runtime=20s
    RUN=$!
    end_run 4 12
    expect_match "rackbench: journal .*: No space left on device" "$OUTPUT"
    expect_match "2 hosts may still hold rows" "$OUTPUT"
    expect_still write_bytes "the agents have stopped"
    expect_exit 0 coordinate "$net" report "$TMP/disk/run"
    expect_match "2 hosts, .*truncated" "$OUTPUT"
    rm "$TMP/disk/filler"
    expect_exit 130 coordinate "$net" resume "$TMP/disk/run"
    expect_all "$TMP/disk/run/result.json"
    expect_replay "$TMP/disk/run"
}

# search_of DIRECTORY LEASE RUNTIME SIGN: a search for a rate that no drive keeps, so that its end is
# known; killed when it says SIGN. The first one is a closed loop, and runs its time.
search_of()
{
    sed "0,/runtime: 4s/s//runtime: $3/; 0,/rate_iops: 300/s//latency_target: 1us/" \
        "$TMP/plan.yaml" >"$TMP/search.yaml"
    coordinate_spawn "$net" run "$TMP/search.yaml" --insecure --output "$TMP/$1" \
        --hosts "$hosts" --set lease="$2" --json-lines
    RUN=$!
    wait_for 8 grep -q "$4" "$TMP/run.out"
    kill_run
}

# expect_search FILE: each step asks for what the ones before it leave in question.
expect_search()
{
    jq -c '.searches[0].steps | map([.step, .rate_iops, .kept])' "$1"
    check_json "$1" '.searches | length == 1 and .[0].verdict == "not_reached" and
        (.[0].steps | length > 4 and ([.[].rate_iops // 0] | .[1:] | . == (sort | reverse)))'
    expect_all "$1" "$(jq '.phases | length' "$1")"
}

test_search()
{
    search_of search 5s 600ms '"step":3'
    expect_exit 0 coordinate "$net" resume "$TMP/search"
    check_json "$TMP/search/result.json" '.run.status == "done" and
        (.phases | length) == (.searches[0].steps | length) + 1'
    expect_search "$TMP/search/result.json"
    expect_replay "$TMP/search"
    search_of cut 1s 3s '"running".*"step":1'
    sleep 1.4
    expect_exit 130 coordinate "$net" resume "$TMP/cut"
    expect_search "$TMP/cut/result.json"
    check_json "$TMP/cut/result.json" '.phases | map(.step) | .[:3] == [1, 2, 3]'
    check_json "$TMP/cut/result.json" '[.phases[] | .marks | contains(["truncated"])] |
        .[0] and (.[1:] | any | not)'
    check_json "$TMP/cut/result.json" '.phases[1].seconds == 3 and
        (.phases[1].point | has("rate_iops") | not)'
    check_json "$TMP/cut/result.json" '.phases[-1] | .name == "second" and .seconds == 0.5'
    expect_replay "$TMP/cut"
}

# Agents that dial out find the new coordinator by themselves.
test_joined()
{
    kill -TERM "${AGENT[@]}"
    agent_with "$dev1" 1 --join tcp://10.77.0.254:7410 --name one
    agent_with "$dev2" 2 --join tcp://10.77.0.254:7410 --name two
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --output "$TMP/joined" --hosts one,two \
        --listen tcp://10.77.0.254:7410 --set lease=3s
    RUN=$!
    wait_for 8 running
    sleep 1
    kill_run
    expect_exit 0 coordinate "$net" resume "$TMP/joined"
    expect_all "$TMP/joined/result.json"
}

test_embedded()
{
    sed "s|$TMP/drive|$dev1|" "$TMP/plan.yaml" >"$TMP/local.yaml"
    rm -f "$TMP/run.err"
    rackbench run "$TMP/local.yaml" --scratch "$TMP/local" --output "$TMP/embedded" \
        --allow-device "$dev1" \
        >"$TMP/run.out" 2>"$TMP/run.err" </dev/null &
    RUN=$!
    wait_for 8 running
    sleep 0.7
    kill_run
    expect_exit 130 rackbench resume "$TMP/embedded"
    expect_match "the embedded agents of a --local run end with its coordinator" "$OUTPUT"
    check_json "$TMP/embedded/result.json" '.phases[0].cluster.write.ops > 50'
}

netns_up "$net" 2
agent_with "$dev1" 1 --listen tcp://10.77.0.1:7411
agent_with "$dev2" 2 --listen tcp://10.77.0.2:7411
if [ "${1-}" = long ]; then
    test_away cable pull_cable plug_cable 10
    test_away stopped stop_agent wake_agent 30
    exit
fi
test_within_the_lease
test_copy
test_after_the_lease
test_collect_only
test_away cable pull_cable plug_cable 3
test_away stopped stop_agent wake_agent 3
test_fetched_later
test_full_disk
test_restarted_agent
test_search
test_joined
test_embedded
