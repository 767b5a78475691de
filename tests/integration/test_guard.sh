#!/usr/bin/env bash
# A drive in use is not written to, whatever the plan and the agent allow: refused with the reason,
# by `run` and in the words of `check`, and not one byte of it has changed.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guarded.sh"

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

test_xfs()
{
    disk=$(loop_make 320) # it makes no smaller one
    mkfs.xfs -q "$disk"
    refuses "$disk" "$disk" "it is signed \(xfs filesystem\); run wipefs -a $disk if"
    loop_drop "$disk"
}

# Compressed memory has no file behind it: its bytes are read from the device.
test_zram()
{
    local zram
    zram=$(zram_make 32)
    mkfs.ext4 -q "$zram"
    refuses "$zram" "$zram" "it is signed \(ext4 filesystem\).* wipe: \[\"zram:${zram#/dev/zram}\"\]"
    mount -o ro "$zram" "$TMP/mnt"
    refuses "$zram" "$zram" "it is mounted at $TMP/mnt"
    umount "$TMP/mnt"
    mkswap "$zram" >/dev/null
    swapon --priority 0 "$zram"
    at_exit swap_off "$zram"
    refuses - "$zram" "it is in use as swap; run swapoff $zram"
    swap_off "$zram"
    zram_drop "$zram"
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
    hold "$disk"
    refuses "$disk" "$disk" "it is opened exclusively"
    end "$holder"
}

# ZFS shows no holder: it holds its drives open, and its uberblocks tell whose they are.
test_zfs()
{
    local i
    disk=$(loop_make 64) # libblkid looks at no smaller one
    for ((i = 0; i < 8; i++)); do
        printf '\x0c\xb1\xba\x00\x00\x00\x00\x00' |
            dd of="$disk" bs=1K seek=$((128 + i)) conv=notrunc status=none
    done
    refuses "$disk" "$disk" "it is signed \(zfs_member filesystem\)"
    hold "$disk"
    refuses "$disk" "$disk" "it is opened exclusively .*, and it is signed \(zfs_member filesystem\)"
    end "$holder"
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

test_free
test_not_said
test_mounted
test_xfs
test_partition
test_swap
test_stacked
test_zfs
test_other_namespace
test_twin
test_wipe
test_kinds
test_zram
