#!/usr/bin/env bash
# What builds on a drive by modules of the kernel makes it a drive in use: md arrays, device mapper,
# LVM, bcache. Each is refused with its reason, and so is what carries the signature of one.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
for ((i = 0; i < 7; i++)); do
    guest_drive 32
done
guest_module raid1 dm-mod bcache
guest_program mkfs.ext4 mdadm dmsetup lvm make-bcache sha256sum
guest_enter
source "$(dirname "$0")/one_drive.sh"

# refuses DEVICE REGEX: nothing is written to it, whatever is allowed, and the reason is said.
refuses()
{
    local before
    before=$(sum "$1")
    plan "$1" "rw: randwrite, number_ios: 10"
    rm -rf "$TMP/refused"
    expect_exit 2 local_run run --allow-device "$1" --yes --output "$TMP/refused"
    expect_match "refused: $1: $2" "$OUTPUT"
    check "$1 has not changed" [ "$(sum "$1")" = "$before" ]
}

sum()
{
    sync
    sha256sum "$1"
}

test_mounted()
{
    mkfs.ext4 -q /dev/nvme0n1
    refuses /dev/nvme0n1 "it is signed \(ext4 filesystem\); run wipefs -a /dev/nvme0n1 if"
    mkdir "$TMP/mnt"
    mount -o ro /dev/nvme0n1 "$TMP/mnt"
    refuses /dev/nvme0n1 "it is mounted at $TMP/mnt; unmount it or choose another drive"
    plan /dev/nvme0n1 "rw: randread, number_ios: 10" "destructive: false"
    expect_exit 0 local_run run --output "$TMP/read"
    expect_exit 0 local_run check
    expect_match "warning: /dev/nvme0n1: it is mounted at $TMP/mnt; that use will show" "$OUTPUT"
    umount "$TMP/mnt"
}

# raid1 with its metadata at the end, so that a file system on it looks like one on the member.
test_md()
{
    modprobe raid1
    mdadm --create /dev/md0 --level=1 --raid-devices=2 --metadata=1.0 --run --assume-clean \
        /dev/nvme0n2 /dev/nvme0n3
    refuses /dev/nvme0n2 "it is held by /dev/md0; take /dev/md0 apart or choose another drive"
    mkfs.ext4 -q /dev/md0
    mount -o ro /dev/md0 "$TMP/mnt"
    refuses /dev/nvme0n3 "/dev/md0, built on it, is mounted at $TMP/mnt; unmount it"
    umount "$TMP/mnt"
    mdadm --stop /dev/md0
    refuses /dev/nvme0n3 "it is signed \(linux_raid_member raid\)"
}

test_dm()
{
    modprobe dm-mod
    dmsetup create linear --table "0 4096 linear /dev/nvme0n4 0"
    refuses /dev/nvme0n4 "it is held by /dev/dm-0; take /dev/dm-0 apart"
    plan /dev/dm-0 "rw: randwrite, number_ios: 100"
    expect_exit 0 local_run run --allow-device /dev/dm-0 --yes --output "$TMP/dm"
    dmsetup remove linear
    run_plan /dev/nvme0n4 "rw: randwrite, number_ios: 100"
}

test_lvm()
{
    lvm pvcreate /dev/nvme0n5
    refuses /dev/nvme0n5 "it is signed \(LVM2_member raid\)"
    lvm vgcreate vg /dev/nvme0n5
    refuses /dev/nvme0n5 "it is signed \(LVM2_member raid\)"
    lvm lvcreate --zero n --wipesignatures n --size 8M --name lv vg
    refuses /dev/nvme0n5 "it is held by /dev/dm-0; take /dev/dm-0 apart"
}

test_bcache()
{
    modprobe bcache
    make-bcache --bdev /dev/nvme0n6
    refuses /dev/nvme0n6 "it is signed \(bcache other\)"
    echo /dev/nvme0n6 >/sys/fs/bcache/register
    wait_for 5 test -b /dev/bcache0
    refuses /dev/nvme0n6 "it is held by /dev/bcache0; take /dev/bcache0 apart"
}

# The neighbour of all these, on the same controller.
test_free()
{
    run_plan /dev/nvme0n7 "rw: randwrite, number_ios: 100"
}

test_mounted
test_md
test_dm
test_lvm
test_bcache
test_free
