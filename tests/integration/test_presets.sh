#!/usr/bin/env bash
# The reviewers' presets as they are, but for their times: on drives, from the first fill to the last
# point, each with the fills, points and rounds that it names.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
command -v jq >/dev/null || skip "needs jq"

dev=$(loop_make 32)

# short NAME: the preset on $dev, with tenths of a second for its seconds, minutes and hours.
short()
{
    rackbench plan show "$1" |
        sed -E 's/(ramp_time): [0-9]+s/\1: 0s/; s/runtime: [0-9]+[smh]/runtime: 100ms/' >"$TMP/$1.yaml"
    echo 'interval: 100ms' >>"$TMP/$1.yaml"
    expect_exit 0 rackbench run "$TMP/$1.yaml" --set "targets={d: {devices: [$dev]}}" --local 1 \
        --scratch "$TMP/scratch" --allow-device "$dev" --output "$TMP/$1" --quiet
    result=$TMP/$1/result.json
    check_json "$result" '.run.status == "done" and .run.marks == []'
}

# shellcheck disable=SC2016 # for jq to expand
test_drive_review()
{
    short drive-review
    check_json "$result" '[.prepare[] | [.kind, .passes, .to_last.bytes / 33554432]] ==
        [["fill", 2, 2], ["fill", 1, 1], ["fill", 1, 1], ["fill", 1, 1], ["fill", 1, 1]]'
    check_json "$result" '(.phases | length) == 230 and ([.phases[] | .cluster.read.ops // .cluster.write.ops | . > 0] | all)'
    check_json "$result" '[.phases[] | select(.name == "rand-read-64k") | .point | [.iodepth, .numjobs]] ==
        [[1, 2, 4, 8, 16, 32][] as $q | [1, 2, 4, 8][] as $j | [$q, $j]]'
    expect_match 'sweep rand-write-4k: 30 of 30 points' "$OUTPUT"
}

test_pts()
{
    short pts-throughput
    check_json "$result" '[.prepare[].kind] == ["discard", "fill", "discard", "fill"] and
        [.phases[].name] == ["write-128k", "read-128k", "write-1m", "read-1m"] and
        ([.phases[].steady_state | .metric == "bw" and .last_round >= 5] | all)'
    short pts-wsat
    check_json "$result" '[.prepare[] | [.kind, .passes]] == [["discard", 1], ["fill", 4]] and
        .prepare[1].kernel.local1[].write.sectors == 4 * 65536'
}

test_burn_in()
{
    short burn-in
    check_json "$result" '.phases | length == 3 and .[1].cluster.read.errors == 0 and
        .[0].to_last.bytes == 33554432 and .[1].to_last.bytes == 33554432'
}

test_drive_review
test_pts
test_burn_in
