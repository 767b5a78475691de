#!/usr/bin/env bash
# What a sweep shows where the limits are known: peak and knee where the throttle puts them, a cliff where it is
# lowered on the way; one slow device among four hosts is named with its share of the tail; and what rank cannot compare.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/../lib/netns.sh"
source "$(dirname "$0")/../lib/agents.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

# "${ALONE[@]}" COMMAND...: as on a machine with nothing else to do: /proc/stat stands still. No CPU is measured here,
# and where others use them all a point is client_bound and barred.
cp /proc/stat "$TMP/stat"
ALONE=(unshare --mount bash -c "mount --bind '$TMP/stat' /proc/stat && exec \"\$@\"" alone)

# begun N: the run in the background has come to its N-th point.
begun()
{
    [ "$(grep -c '"state":"running"' "$TMP/run.out")" -ge "$1" ]
}

# Each slot pauses 20 ms between two reads, so that it does 50 a second; the device does 300 at the most, which 8 slots
# reach. At 32 slots the limit is 100, and at 64 what it was.
# shellcheck disable=SC2016 # the dollars are those of jq
test_peak_knee_cliff()
{
    local dev group pid result=$TMP/grid/result.json
    local cluster='.sweeps[0].curves[] | select(.scope == "cluster") | . as $c | $c.points as $p'
    dev=$(loop_make 64)
    group=$(throttle_make)
    cat >"$TMP/plan.yaml" <<PLAN
name: verdict
interval: 100ms
targets: {d: {devices: [$dev]}}
phases:
  - name: grid
    ramp_time: 800ms
    runtime: 1500ms
    sweep: {iodepth: [1, 2, 4, 8, 16, 32, 64]}
    jobs: [{name: j, rw: randread, thinktime: 20ms}]
PLAN
    throttle_iops "$group" "$dev" read 300
    throttle_exec "$group" "${ALONE[@]}" rackbench run "$TMP/plan.yaml" --local 1 \
        --scratch "$TMP/scratch" --output "$TMP/grid" --json-lines >"$TMP/run.out" </dev/null &
    pid=$!
    wait_for 60 begun 6
    throttle_iops "$group" "$dev" read 100
    wait_for 20 begun 7
    throttle_iops "$group" "$dev" read 300
    check "the sweep is done" wait "$pid"
    jq -c "$cluster"' | $p[] | [.iodepth, .bytes_per_s / 4096, .mean_ns, .little]' "$result"
    check_json "$result" "$cluster"' | [$p[$c.knee, $c.qd1].iodepth] == [8, 1]'
    check_json "$result" "$cluster"' | $p[$c.peak] | .iodepth >= 8 and .iodepth != 32 and
        .bytes_per_s / 4096 > 270 and .bytes_per_s / 4096 < 340'
    check_json "$result" "$cluster"' | [.cliffs[] | [.axis, $p[.onset].iodepth, .recovered]] ==
        [["iodepth", 32, true]] and .cliffs[0].depth > 0.55 and .cliffs[0].depth < 0.75'
    check_json "$result" "$cluster"' | $p[$c.worst_mean].iodepth == 32'
    check_json "$result" '[.sweeps[0].curves[] | [.scope, .host, .drive]] ==
        [["cluster", null, null], ["host", "local1", null], ["drive", "local1", "'"$dev"'"]]'
    expect_exit 0 rackbench report "$TMP/grid"
    expect_match 'what it shows: read' "$OUTPUT"
    expect_match "cliff    iodepth [0-9]+ -> 32 at numjobs 1: .* MiB/s \(-[0-9]+ %\); back at 64" "$OUTPUT"
    check "a replay says the same" diff "$result" <(rackbench report "$TMP/grid" --format json)
}

# Of the run before: a loop device that nobody filled is no drive of the tables.
test_not_comparable()
{
    expect_exit 0 rackbench rank "$TMP/grid"
    expect_match 'not comparable: grid at iodepth 8, numjobs 1: loop device, not known to be steady' "$OUTPUT"
    rackbench rank "$TMP/grid" --format json >"$TMP/rank.json"
    check_json "$TMP/rank.json" '.drives | length == 1 and .[0].ranks == [] and
        (.[0].not_comparable | length == 7)'
    expect_exit 1 rackbench rank "$TMP/grid" --format csv
    expect_exit 1 rackbench rank "$TMP/grid" "$TMP/grid"
    expect_match 'rank takes one RUN, or --specs and two drives' "$OUTPUT"
}

test_specs()
{
    expect_exit 0 rackbench rank --specs CD8P-R cd9p-r
    expect_match 'rated_rand_write_4k +200 -> 450 kIOPS +2.25 x' "$OUTPUT"
    expect_match 'rated_seq_read_128k +12000 -> 14800 MB/s +\+23 %' "$OUTPUT"
    expect_match 'rated_rand_read_4k +2000 -> 2600 kIOPS +\+30 %' "$OUTPUT"
    expect_match 'power_active_typ +21 -> 23 W' "$OUTPUT"
    expect_exit 1 rackbench rank --specs 9550 CD9P-R
    expect_match "'9550' may be 9550max-12.8 or 9550pro-7.68" "$OUTPUT"
    expect_exit 1 rackbench rank --specs nobody CD9P-R
    expect_match "no drive 'nobody' in the tables; there are cd9p-r-7.68, " "$OUTPUT"
}

# Files of four hosts on one device: each host may do 2000 reads a second, the last 40 and less and less. With 16 in
# flight its reads take from 0.4 s to over 1 s, those of the others at most the 0.1 s in slices of which the throttle
# works.
test_straggler()
{
    local dev i pid group net="rbv$$" result=$TMP/four/result.json
    dev=$(loop_make 128)
    mkfs.ext4 -q "$dev"
    mkdir "$TMP/mnt"
    mount "$dev" "$TMP/mnt"
    at_exit umount_quiet "$TMP/mnt"
    cat >"$TMP/plan.yaml" <<PLAN
name: four
targets: {s: {size: 16MiB}}
phases:
  - name: even
    ramp_time: 500ms
    runtime: 4s
    jobs: [{name: j, target: s, rw: randread, iodepth: 16}]
PLAN
    netns_up "$net" 4
    for i in 1 2 3 4; do
        ln -sfn "$TMP/mnt/$i" "$TMP/scratch.$i"
        mkdir "$TMP/mnt/$i"
    done
    agents_up "$net" 4
    for i in 1 2 3 4; do
        group=$(throttle_make)
        throttle_iops "$group" "$dev" read $((i < 4 ? 2000 : 40))
        throttle_move "$group" "${AGENT[i]}"
    done
    coordinate_spawn "$net" run "$TMP/plan.yaml" --insecure --hosts "10.77.0.[1-4]" \
        --output "$TMP/four"
    pid=$!
    wait_for 20 running
    for i in 34 28 22 18 14; do
        sleep 0.6
        throttle_iops "$group" "$dev" read "$i" # of the last
    done
    check "the run is done" wait "$pid"
    jq -c '.phases[0].stragglers' "$result"
    check_json "$result" '[.phases[0].stragglers[] | [.host, .op, .peers]] ==
        [["10.77.0.4", "read", 4]]'
    check_json "$result" '.phases[0].stragglers[0] | (.by | index("throughput") != null) and
        .bytes_per_s.value / .bytes_per_s.median < 0.1 and (.by | index("tail") != null) and .tail_share > 0.5'
    expect_match 'straggler: .*10.77.0.4.s.0 on 10.77.0.4, read: .* below' "$(cat "$TMP/run.out")"
    expect_match 'holds [0-9]+ % of the operations over p99.9' "$(tr -s ' \n' ' ' <"$TMP/run.out")"
}

test_peak_knee_cliff
test_not_comparable
test_specs
test_straggler
