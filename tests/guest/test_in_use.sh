#!/usr/bin/env bash
# What builds on a drive by modules of the kernel makes it a drive in use: md arrays, device mapper,
# multipath, LVM, bcache. Each is refused with its reason, and so is what carries the signature of
# one; the array itself may be written to while neither it nor what it is made of is used.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
for ((i = 0; i < 8; i++)); do
    guest_drive 32
done
guest_module raid1 dm-multipath dm-round-robin bcache loop
guest_program mkfs.ext4 mdadm dmsetup lvm make-bcache sfdisk sha256sum
guest_enter
source "$(dirname "$0")/one_drive.sh"

# refuses DEVICE REGEX [DISK [KEYS]]: nothing is written to it, whatever is allowed, and the reason is
# said. DISK: whose bytes those are; KEYS: more of the job.
refuses()
{
    local before disk=${3-$1}
    before=$(sum "$disk")
    plan "$1" "rw: randwrite, number_ios: 10${4+, $4}"
    rm -rf "$TMP/refused"
    expect_exit 2 local_run run --allow-device "$1" --yes --output "$TMP/refused"
    expect_match "refused: $1: $2" "$OUTPUT"
    check "$disk has not changed" [ "$(sum "$disk")" = "$before" ]
}

# writes DEVICE JQ: an array may be written to, and the result says what it is made of.
writes()
{
    run_plan "$1" "rw: randwrite, number_ios: 100"
    check_json "$result" ".hosts[0].drives[] | select(.path == \"$1\") | $2"
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
    refuses /dev/nvme0n2 "it is held by md array /dev/md0; take that apart or choose another drive"
    writes /dev/md0 '.member_drives | map(.path, .serial) ==
        ["/dev/nvme0n2", "rackbench-guest", "/dev/nvme0n3", "rackbench-guest"]'
    check_json "$result" '.phases[0].health.local1.drives["/dev/nvme0n2"] |
        .serial == "rackbench-guest" and .carries == ["/dev/md0"]'
    expect_exit 0 local_run check --allow-device /dev/md0
    expect_match "/dev/md0 .*OVERWRITES .* on /dev/nvme0n2 \(S/N rackbench-guest\), /dev/nvme0n3 " \
        "$OUTPUT"
    modprobe loop
    losetup /dev/loop0 /dev/nvme0n3
    refuses /dev/md0 "its member /dev/nvme0n3 is behind loop device /dev/loop0; run losetup -d"
    losetup -d /dev/loop0
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
    refuses /dev/nvme0n4 "it is held by device-mapper device /dev/dm-0 \(linear\); take that apart"
    writes /dev/dm-0 '.members == ["/dev/nvme0n4"]'
    # Device mapper does not mind a second one, wherever it begins.
    dmsetup create other --table "0 4096 linear /dev/nvme0n4 2048"
    refuses /dev/dm-0 "its member /dev/nvme0n4 is held by device-mapper device /dev/dm-1 \(other\)"
    dmsetup remove other
    dmsetup remove linear
    run_plan /dev/nvme0n4 "rw: randwrite, number_ios: 100"
}

test_multipath()
{
    modprobe dm-multipath
    modprobe dm-round-robin
    dmsetup create mpatha --uuid mpath-3600a098000f0a1b2c3d4 \
        --table "0 65536 multipath 0 0 1 1 round-robin 0 1 1 /dev/nvme0n4 1000"
    refuses /dev/nvme0n4 "it is a path of multipath device /dev/dm-0 \(mpatha\); name that one or"
    writes /dev/dm-0 '.member_drives[0].path == "/dev/nvme0n4"'
    dmsetup remove mpatha
}

test_lvm()
{
    lvm pvcreate /dev/nvme0n5
    refuses /dev/nvme0n5 "it is signed \(LVM2_member raid\)"
    lvm vgcreate vg /dev/nvme0n5
    refuses /dev/nvme0n5 "it is signed \(LVM2_member raid\)"
    lvm lvcreate --zero n --wipesignatures n --size 8M --name lv vg
    refuses /dev/nvme0n5 "it is held by LVM volume /dev/dm-0 \(vg-lv\); take that apart"
    writes /dev/dm-0 '.member_drives[0].path == "/dev/nvme0n5"'
    lvm lvcreate --zero n --wipesignatures n --size 8M --name other vg
    mkfs.ext4 -q /dev/dm-1
    mount -o ro /dev/dm-1 "$TMP/mnt"
    local before
    before=$(sum /dev/dm-1)
    run_plan /dev/dm-0 "rw: randwrite, number_ios: 100"
    check_json "$result" '.events[] | select(.kind == "warning").text |
        test("its member /dev/nvme0n5 also carries LVM volume /dev/dm-1 .vg-other.")'
    check "the other volume has not changed" [ "$(sum /dev/dm-1)" = "$before" ]
    umount "$TMP/mnt"
    lvm vgchange --activate n vg
}

test_bcache()
{
    modprobe bcache
    make-bcache --bdev /dev/nvme0n6
    refuses /dev/nvme0n6 "it is signed \(bcache other\)"
    echo /dev/nvme0n6 >/sys/fs/bcache/register
    wait_for 5 test -b /dev/bcache0
    refuses /dev/nvme0n6 "it is held by bcache device /dev/bcache0; take that apart"
    writes /dev/bcache0 '.member_drives[0].path == "/dev/nvme0n6"'
    echo 1 >/sys/block/bcache0/bcache/stop
}

# A whole disk of which a partition is mounted, under each of its names.
test_partition()
{
    local reason="partition /dev/nvme0n8p1 is mounted at $TMP/mnt; unmount it"
    printf 'label: gpt\nsize=12MiB\nsize=12MiB\n' | sfdisk -q /dev/nvme0n8
    wait_for 5 test -b /dev/nvme0n8p2
    mkfs.ext4 -q /dev/nvme0n8p1
    mount -o ro /dev/nvme0n8p1 "$TMP/mnt"
    refuses /dev/nvme0n8 "$reason"
    mkdir -p /dev/disk/by-id
    ln -s ../../nvme0n8 /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_rackbench-guest_8
    refuses /dev/disk/by-id/nvme-QEMU_NVMe_Ctrl_rackbench-guest_8 "$reason"
    wait_for 5 test -c /dev/ng0n8
    refuses /dev/ng0n8 "$reason" /dev/nvme0n8 "ioengine: io_uring_cmd"
    refuses /dev/nvme0n8p1 "it is mounted at $TMP/mnt"
    run_plan /dev/nvme0n8p2 "rw: randwrite, number_ios: 100"
    umount "$TMP/mnt"
}

# The drive is pulled and put back once the run has begun: under its name, but is it still it?
test_pulled()
{
    local pci before status=0
    before=$(sum_all)
    cat >"$TMP/plan.yaml" <<PLAN
lease: 30s
targets:
  f: {size: 1MiB}
  d: {devices: [/dev/nvme0n7]}
phases:
  - jobs: [{target: f, rw: randread, direct: false, runtime: 4s, rate_iops: 10}]
  - {destructive: true, jobs: [{target: d, rw: randwrite, number_ios: 10}]}
PLAN
    local_run run --allow-device /dev/nvme0n7 --yes --output "$TMP/pulled" >"$TMP/out" 2>&1 &
    local pid=$!
    wait_for 20 grep -q running "$TMP/out"
    pci=$(realpath /sys/class/nvme/nvme0/device)
    echo 1 >"$pci/remove"
    echo 1 >/sys/bus/pci/rescan
    wait_for 10 test -b /dev/nvme0n7
    wait "$pid" || status=$?
    check "exit status 2" [ "$status" = 2 ]
    # The kernel may also give the name to another namespace of it.
    expect_match "/dev/nvme0n7: is another device .*: it was .*QEMU NVMe Ctrl, S/N rackbench-guest" \
        "$(cat "$TMP/out")"
    check "nothing was written to it" [ "$(sum_all)" = "$before" ]
}

sum_all()
{
    local drive
    for drive in /dev/nvme0n?; do
        sum "$drive" | cut -d ' ' -f 1
    done | sort
}

# The neighbour of all these, on the same controller.
test_free()
{
    run_plan /dev/nvme0n7 "rw: randwrite, number_ios: 100"
}

test_mounted
test_md
test_dm
test_multipath
test_lvm
test_bcache
test_partition
test_free
test_pulled
