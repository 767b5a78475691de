#!/usr/bin/env bash
# A drive in use is not written to, whatever the plan and the agent allow: refused with the reason,
# by `run` and in the words of `check`, and not one byte of it has changed.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root

# guarded COMMAND ARGUMENT...: rackbench with one embedded agent that allows all there is.
guarded()
{
    local command=$1
    shift
    rackbench "$command" "$TMP/plan.yaml" --local 1 --scratch "$TMP/scratch" "$@"
}

# plan DEVICE RW [PHASE KEYS]
plan()
{
    cat >"$TMP/plan.yaml" <<PLAN
name: guard
targets:
  d: {devices: [$1]}
phases:
  - {name: p, ${3-destructive: true,} jobs: [{name: j, target: d, rw: $2, runtime: 300ms}]}
PLAN
}

sum()
{
    [ "$1" != - ] || return 0
    sync
    sha256sum "$(loop_file "$1")"
}

# Every run has a directory of its own.
run_guarded()
{
    guarded run --output "$(mktemp -d "$TMP/run.XXXXXX")" "$@"
}

# refuses DISK DEVICE REGEX [ALLOWANCE]: writing to DEVICE is refused for the reason, and DISK keeps
# its bytes (-: nobody looks).
refuses()
{
    local disk=$1 device=$2 reason=$3 allowed=${4-$2} before
    plan "$device" randwrite
    before=$(sum "$disk")
    expect_exit 2 run_guarded --yes --allow-device "$allowed"
    expect_match "rackbench: agent local1: refused: $device: $reason" "$OUTPUT"
    check "not one byte has changed" [ "$(sum "$disk")" = "$before" ]
    expect_exit 2 guarded check --allow-device "$allowed"
    expect_match "REFUSED: $device: $reason" "$OUTPUT"
    check "nor by check" [ "$(sum "$disk")" = "$before" ]
}

# fresh: a new $disk.
fresh()
{
    disk=$(loop_make 32)
}

test_free()
{
    fresh
    plan "$disk" randwrite
    expect_exit 0 guarded check --allow-device "$disk"
    expect_match "local1  d  $disk  32 MiB  OVERWRITES" "$OUTPUT"
    expect_match "would overwrite 1 drive; nothing was touched" "$OUTPUT"
    expect_exit 0 run_guarded --allow-device "$disk"
    check "a free disk is written to when all is said" \
        [ "$(head -c 1M "$disk" | tr -d '\0' | head -c 1 | wc -c)" = 1 ]
    expect_exit 0 run_guarded --allow-device "/dev/loop*"
}

test_not_said()
{
    fresh
    refuses "$disk" "$disk" "the agent does not allow writing to it; start .*--allow-device $disk" \
        /dev/nosuch
    # Without `destructive` the plan itself is wrong.
    local before
    before=$(sum "$disk")
    plan "$disk" write "destructive: false,"
    expect_exit 1 run_guarded --yes --allow-device "$disk"
    expect_match "plan.yaml:5:.*job 'j' writes to the devices .*destructive: true to phase 'p'" \
        "$OUTPUT"
    expect_exit 1 guarded check --allow-device "$disk"
    check "$disk has not changed" [ "$(sum "$disk")" = "$before" ]
}

test_mounted()
{
    fresh
    mkfs.ext4 -q "$disk"
    refuses "$disk" "$disk" "it is signed \(ext4 filesystem\); run wipefs -a $disk if"
    mkdir "$TMP/mnt"
    mount -o ro "$disk" "$TMP/mnt"
    at_exit umount_quiet "$TMP/mnt"
    refuses "$disk" "$disk" "it is mounted at $TMP/mnt; unmount it or choose another drive"
    ln -s "$disk" "$TMP/alias"
    refuses "$disk" "$TMP/alias" "it is mounted at $TMP/mnt"

    plan "$disk" randread
    expect_exit 0 guarded check
    expect_match "warning: $disk: it is mounted at $TMP/mnt; that use will show" "$OUTPUT"
    expect_exit 0 run_guarded
    umount "$TMP/mnt"
}

test_partition()
{
    local file
    fresh
    file=$(loop_file "$disk")
    losetup --detach "$disk"
    losetup --partscan --direct-io=on "$disk" "$file"
    printf 'label: gpt\nsize=12MiB\nsize=12MiB\n' | sfdisk -q "$disk"
    # Not every kernel reads the table itself.
    partx --add "$disk" 2>/dev/null || true
    wait_for 3 test -b "${disk}p2"
    refuses "$disk" "$disk" "it is signed \(gpt partition table\)"
    mkfs.ext4 -q "${disk}p1"
    mount -o ro "${disk}p1" "$TMP/mnt"
    refuses "$disk" "$disk" "partition ${disk}p1 is mounted at $TMP/mnt; unmount it"
    refuses "$disk" "${disk}p1" "it is mounted at $TMP/mnt"
    # Its neighbour shares no block with it.
    plan "${disk}p2" randread
    expect_exit 0 guarded check
    check "no warning for the other partition" [ -z "$(grep warning <<<"$OUTPUT")" ]
    umount "$TMP/mnt"
}

test_swap()
{
    fresh
    mkswap "$disk" >/dev/null
    refuses "$disk" "$disk" "it is signed \(swap"
    swapon --priority 0 "$disk"
    at_exit swap_off "$disk"
    # The kernel may write to it meanwhile, so that its bytes prove nothing.
    refuses - "$disk" "it is in use as swap; run swapoff $disk"
    swap_off "$disk"
}

swap_off()
{
    swapoff "$1" 2>/dev/null || true
}

# The disk under another loop device, and one that somebody holds open.
test_stacked()
{
    local upper
    fresh
    upper=$(losetup --find --show "$disk")
    at_exit detach "$upper"
    refuses "$disk" "$disk" ".*$upper"
    detach "$upper"
    fresh
    perl -e 'use Fcntl; $| = 1; sysopen(F, $ARGV[0], O_RDONLY | O_EXCL) or die;
        print "open\n"; sleep 60' "$disk" >"$TMP/holder" &
    local pid=$!
    at_exit end "$pid"
    wait_for 3 grep -q open "$TMP/holder"
    refuses "$disk" "$disk" "it is opened exclusively"
    end "$pid"
}

# Mounted where we cannot see it but by looking for it.
test_other_namespace()
{
    fresh
    mkfs.ext4 -q "$disk"
    unshare --mount --propagation private bash -c "mount -o ro $disk $TMP/mnt && echo mounted
        sleep 60" >"$TMP/elsewhere" &
    local pid=$!
    at_exit end "$pid"
    wait_for 3 grep -q mounted "$TMP/elsewhere"
    refuses "$disk" "$disk" "it is mounted at $TMP/mnt in the mount namespace of process [0-9]+ "
    end "$pid"
}

# Two loop devices over one file: what is mounted from one would change under it.
test_twin()
{
    local twin
    fresh
    mkfs.ext4 -q "$disk"
    twin=$(losetup --find --show "$(loop_file "$disk")")
    at_exit detach "$twin"
    refuses "$disk" "$disk" "it is signed"
    mount -o ro "$twin" "$TMP/mnt"
    refuses "$disk" "$disk" "$twin, a loop device over the same file, is mounted at $TMP/mnt"
    umount "$TMP/mnt"
    detach "$twin"
    test_unlinked_twin
}

# ... also when the file has no name any more, and the file system does not begin where the disk does.
test_unlinked_twin()
{
    local file before
    fresh
    file=$(loop_file "$disk")
    twin=$(losetup --find --show --offset 16M "$file")
    mkfs.ext4 -q "$twin"
    mount -o ro "$twin" "$TMP/mnt"
    rm "$file"
    plan "$disk" randwrite
    before=$(sha256sum <"$twin")
    expect_exit 2 run_guarded --yes --allow-device "$disk"
    expect_match "$twin, a loop device over the same file, is mounted at $TMP/mnt" "$OUTPUT"
    check "not one byte has changed" [ "$(sha256sum <"$twin")" = "$before" ]
    umount "$TMP/mnt"
    detach "$twin"
    detach "$disk"
    umount_quiet "$(dirname "$file")"
}

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

# A signature, and nothing else, may be overridden: by the plan, by name, and by the agent.
test_wipe()
{
    local file
    fresh
    mkfs.ext4 -q "$disk"
    file=$(loop_file "$disk")
    plan "$disk" randwrite
    echo "wipe: ['loop:$file']" >>"$TMP/plan.yaml"
    expect_exit 2 run_guarded --yes --allow-device "$disk"
    expect_match "is signed \(ext4 filesystem\); .*wipe: \[\"loop:$file\"\] .*--allow-wipe" \
        "$OUTPUT"
    mount -o ro "$disk" "$TMP/mnt"
    expect_exit 2 run_guarded --yes --allow-device "$disk" --allow-wipe
    expect_match "it is mounted at" "$OUTPUT"
    umount "$TMP/mnt"
    sed -i "s|loop:|loop:/other|" "$TMP/plan.yaml"
    expect_exit 2 run_guarded --yes --allow-device "$disk" --allow-wipe
    check "still signed" [ "$(blkid -p -o value -s TYPE "$disk")" = ext4 ]
    sed -i "s|loop:/other|loop:|" "$TMP/plan.yaml"
    expect_exit 0 run_guarded --yes --allow-device "$disk" --allow-wipe
}

# Drives by what they are: all that nobody uses, or by model.
test_kinds()
{
    local free
    fresh
    free=$disk
    fresh
    mkfs.ext4 -q "$disk"
    cat >"$TMP/plan.yaml" <<PLAN
targets:
  d: {devices: all-unused}
phases:
  - jobs: [{target: d, rw: randread, runtime: 300ms}]
PLAN
    expect_exit 0 guarded check
    expect_match "d  $free  32 MiB  reads" "$OUTPUT"
    check "a signed one is not among them" [ -z "$(grep "d  $disk " <<<"$OUTPUT")" ]
    sed -i 's/devices: all-unused/model: "no such *"/' "$TMP/plan.yaml"
    expect_exit 1 guarded check
    expect_match "no device matches its model, serial and pci; this host has .*$free" "$OUTPUT"
}

detach()
{
    losetup --detach "$1" 2>/dev/null || true
}

end()
{
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
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

test_free
test_not_said
test_mounted
test_partition
test_swap
test_stacked
test_other_namespace
test_twin
test_swapped
test_wipe
test_kinds
test_directories
