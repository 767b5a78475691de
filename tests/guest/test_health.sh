#!/usr/bin/env bash
# What an NVMe drive is and how it is, as the drive itself says: in the inventory, in the result, and
# against what we wrote. Its two namespaces are one drive; and it says that it is too hot.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
guest_drive 64
guest_drive 16
guest_nvme smart_critical_warning=2
guest_module null_blk dm-mod
guest_program nvme dmsetup
guest_enter
source "$(dirname "$0")/one_drive.sh"

# What the drive's own page says, by another program.
smart()
{
    nvme smart-log /dev/nvme0 -o json | jq -er ".$1"
}

test_identity()
{
    local firmware
    read -r firmware < <(nvme id-ctrl /dev/nvme0 -o json | jq -er .fr)
    expect_exit 0 rackbench hosts --local 1
    expect_match "firmware $firmware.*namespace 2.*\(volatile\).*power state 0 \(25.00 W\)" "$OUTPUT"
    expect_match "formats 512\+0\*.* 4096\+0 " "$OUTPUT"
    expect_match "PCI 0000:.*link x1 at 2.5 GT/s.*scheduler none" "$OUTPUT"
    run_plan /dev/nvme0n1 "rw: randread, number_ios: 100"
    check_json "$result" ".hosts[0].drives[] | select(.path == \"/dev/nvme0n2\") |
        .model == \"QEMU NVMe Ctrl\" and .serial == \"rackbench-guest\" and .nsid == 2 and
        .firmware == \"$firmware\" and .lba_format == {data_bytes: 512, metadata_bytes: 0} and
        (.lba_formats | length) >= 2 and .power_state == 0 and .power_max_mw == 25000 and
        .volatile_write_cache and (.wwid | startswith(\"nvme.\")) and .queues >= 1 and
        .link.width == 1 and .link.max_mts == 2500 and .pci == \"0000:00:02.0\""
    expect_exit 0 rackbench report "${result%/result.json}"
    expect_match "drives: 1 x QEMU NVMe Ctrl, 64 MiB, firmware $firmware" "$OUTPUT"
}

# counts KEYS BYTES: a run that writes so many bytes; the drive counts as many, in steps of 512000.
counts()
{
    local before after
    before=$(smart data_units_written)
    run_plan /dev/nvme0n1 "$1"
    after=$(smart data_units_written)
    check_json "$result" ".phases[0].health.local1.drives | length == 1 and
        (.[\"/dev/nvme0n1\"] | .written.our_bytes == $2 and
            (.written.drive_bytes - $2 | fabs) <= 512000 and
            .written.resolution_bytes == 512000 and
            .begin.data_units_written == $before and .end.data_units_written == $after and
            .written.drive_bytes == ($after - $before) * 512000 and
            .temperature_max_c == $(($(smart temperature) - 273)) and
            .throttled_s == 0 and .media_errors == 0)"
}

test_written()
{
    counts "rw: write, bs: 64KiB, iodepth: 4, io_size: 64MiB" $((64 << 20))
    # shellcheck disable=SC2016 # for jq to expand
    check_json "$result" '.phases[0] | .health.local1.readings as $r | ($r | length == 2) and
        $r[0].at_ns + $r[0].took_ns < 0 and $r[1].at_ns >= .interval.end_ns'
    counts "rw: randwrite, bs: 16KiB, iodepth: 4, number_ios: 1000" $((1000 * 16384))
}

# qemu's drive has state 0 alone, and refuses to be set; another state it does not have.
test_power_state()
{
    run_plan /dev/nvme0n1 "rw: randread, number_ios: 10, power_state: 0"
    check_json "$result" '.phases[0].health.local1.drives["/dev/nvme0n1"] | .power_state == 0 and
        .end.power_state == 0'
    check_json "$result" '.hosts[0].drives[] | select(.path == "/dev/nvme0n1") |
        .power_states | length == 1 and .[0].max_mw == 25000'
    expect_exit 0 rackbench hosts --local 1
    expect_match "power states 0: 25.00 W" "$OUTPUT"
    refused /dev/nvme0n1 "rw: randread, number_ios: 10, power_state: 5" \
        "power_state: /dev/nvme0n1 has no state 5; the drive has states 0-0"
    plan /dev/nvme0n1 "rw: randread, number_ios: 10, power_state: 0"
    expect_exit 2 local_run run --yes --output "$TMP/forbidden"
    expect_match "does not allow changing it; start the agent with --allow-device" "$OUTPUT"
}

# Every 10 s, at the same instants of the common clock, and marked in the series.
test_period()
{
    run_plan /dev/nvme0n1 "rw: randread, rate_iops: 50, runtime: 11s" "destructive: false"
    check_json "$result" '.phases[0] | (.health.local1.readings | length == 3) and
        (.health.local1.readings[1].at_ns - 1e10 | . >= 0 and . < 1e9) and
        ([.series.hosts.local1[] | select(.drives_read)] | length == 1 and
            .[0].at_ns >= 1e10 and .[0].at_ns < 11e9)'
}

test_hot()
{
    check_json "$result" '[.events[] | select(.kind == "hot")] | length == 1 and
        (.[0].text | test("/dev/nvme0n1 \\(S/N rackbench-guest\\): above its warning .*; now 50 C"))'
}

# An array is its members; which of them took what we wrote, it does not say.
test_array()
{
    modprobe null_blk queue_mode=2 gb=1
    wait_for 5 test -b /dev/nullb0
    modprobe dm-mod
    dmsetup create pair <<<"0 8192 linear /dev/nvme0n2 0
8192 8192 linear /dev/nullb0 0"
    run_plan /dev/dm-0 "rw: write, bs: 64KiB, iodepth: 4, io_size: 8MiB"
    check_json "$result" '.phases[0].health.local1.drives |
        (keys == ["/dev/nullb0", "/dev/nvme0n2"]) and
        (.["/dev/nvme0n2"] | .serial == "rackbench-guest" and .written.drive_bytes > 0 and
            (.written | has("our_bytes") | not) and .carries == ["/dev/dm-0"]) and
        (.["/dev/nullb0"] | .begin == {} and (has("written") | not))'
    check_json "$result" '.hosts[0].drives[] | select(.path == "/dev/dm-0") |
        (.members | sort) == ["/dev/nullb0", "/dev/nvme0n2"] and
        (.member_drives | map(.path, .serial) ==
            ["/dev/nullb0", null, "/dev/nvme0n2", "rackbench-guest"])'
    dmsetup remove pair
}

# The phase ends by itself, long before its time.
test_stop()
{
    plan /dev/nvme0n1 "rw: randread, runtime: 100s" "stop_when: {temperature: 50}"
    expect_exit 4 local_run run --yes --output "$TMP/stopped"
    expect_match "/dev/nvme0n1 \(S/N rackbench-guest\) is at 50 C, and stop_when ends the phase at 50 C" \
        "$OUTPUT"
    check_json "$TMP/stopped/result.json" '.run.status == "failed" and
        .phases[0].interval.end_ns < 5e9'
    run_plan /dev/nvme0n1 "rw: randread, number_ios: 10" "stop_when: {temperature: 51}"
}

test_identity
test_written
test_power_state
test_period
test_hot
test_stop
test_array
