# shellcheck shell=bash
# guest.sh - a test that runs in a virtual machine with NVMe drives and a kernel that has modules;
# source it after check.sh. Say what the machine needs, then enter it:
#
#     guest_drive 64              # MiB; the first is /dev/nvme0n1, the next /dev/nvme0n2
#     guest_nvme smart_critical_warning=2  # more about the controller, as qemu has it
#     guest_module null_blk       # can be loaded there (modprobe)
#     guest_numa                  # two NUMA nodes of two CPUs each, all drives at node 1
#     guest_program mdadm         # beside bash, busybox, jq, rackbench and rackbench-agent
#     guest_enter
#
# Outside, guest_enter boots the machine, which runs the same test, and ends with the test's status.
# Inside it returns, and what follows is an ordinary test (check.sh; not devices.sh, not netns.sh).
#
# The machine is emulated in software: for function, not for speed. It has one core (four with
# guest_numa) and 512 MiB; to boot and end it takes about 10 s. Its kernel lies in build/guest
# (deploy/packages.sh --test).

GUEST_FILES="$ROOT/build/guest"
GUEST_TREE="$TMP/guest"
GUEST_LIMIT_S=240
GUEST_DRIVES=()
GUEST_MACHINE=(-smp 1)
GUEST_SLOT=
GUEST_NVME=
# What it starts from, and what the kernel is told about that.
GUEST_START=(-initrd "$TMP/initrd")
GUEST_APPEND=

guest_is_inside()
{
    [ -e /guest-test ]
}

guest_drive()
{
    ! guest_is_inside || return 0
    local image=$TMP/drive.${#GUEST_DRIVES[@]}
    truncate -s "$1M" "$image"
    GUEST_DRIVES+=("$image")
}

# A root of PCI says which node it is at; it wants a machine that is younger than the default.
guest_numa()
{
    ! guest_is_inside || return 0
    local half=memory-backend-ram,size=256M
    GUEST_MACHINE=(-machine q35 -smp 4 -object "$half,id=m0" -object "$half,id=m1"
        -numa "node,nodeid=0,cpus=0-1,memdev=m0" -numa "node,nodeid=1,cpus=2-3,memdev=m1"
        -device "pxb-pcie,id=far,bus_nr=128,bus=pcie.0,numa_node=1"
        -device "pcie-root-port,id=far1,bus=far,chassis=1")
    GUEST_SLOT=,bus=far1
}

# guest_nvme PROPERTY=VALUE...: of the controller.
guest_nvme()
{
    local property
    for property in "$@"; do
        GUEST_NVME+=,$property
    done
}

# guest_module NAME...: with what they depend on.
guest_module()
{
    ! guest_is_inside || return 0
    local name modules file
    modules=$(cd "$GUEST_FILES" && echo lib/modules/*)
    for name in "$@"; do
        # A line is the module's file, a colon, the files that it depends on.
        grep "/${name//[-_]/[-_]}\.ko:" "$GUEST_FILES/$modules/modules.dep" >"$TMP/dep" ||
            fail "the virtual machine's kernel has no module $name"
        for file in $(tr -d : <"$TMP/dep"); do
            install -D -m 644 "$GUEST_FILES/$modules/$file" "$GUEST_TREE/$modules/$file"
        done
    done
    cp "$GUEST_FILES/$modules/modules.dep" "$GUEST_TREE/$modules/"
}

# guest_program NAME...: of build/guest or of this machine, with their libraries.
guest_program()
{
    ! guest_is_inside || return 0
    local name file library path="$GUEST_FILES/sbin:$GUEST_FILES/usr/sbin:$PATH:/usr/sbin:/sbin"
    for name in "$@"; do
        file=$(PATH=$path type -P "$name") || fail "there is no program $name"
        install -D "$file" "$GUEST_TREE/usr/bin/$name"
        # The loader is the line that is a path alone.
        for library in $(guest_libraries "$file" | grep -o '/[^ ]*'); do
            install -D "$library" "$GUEST_TREE/lib/x86_64-linux-gnu/${library##*/}"
        done
    done
}

guest_libraries()
{
    local arch=lib/x86_64-linux-gnu
    LD_LIBRARY_PATH="$GUEST_FILES/$arch:$GUEST_FILES/usr/$arch" ldd "$1"
}

guest_enter()
{
    ! guest_is_inside || return 0
    guest_program bash jq rm date rackbench rackbench-agent
    guest_pack >"$TMP/initrd"
    guest_run
}

# Boots it and ends as the test in it did.
guest_run()
{
    local status
    guest_boot >"$TMP/console" 2>&1
    sed -i 's/\r$//' "$TMP/console"
    cat "$TMP/console"
    status=$(sed -n 's/^guest: exit status //p' "$TMP/console")
    [ -n "$status" ] || fail "the virtual machine ended, or was ended after $GUEST_LIMIT_S s," \
        "before the test did"
    # Bash leaves a function there and goes on behind it.
    ! grep -q ': line [0-9]*: .*error token' "$TMP/console" || fail "an error in the test itself"
    exit "$status"
}

# Prints the file system that the machine starts from, as an archive.
guest_pack()
{
    install -D "$(type -P busybox)" "$GUEST_TREE/bin/busybox"
    ln -s lib/x86_64-linux-gnu "$GUEST_TREE/lib64"
    mkdir -p "$GUEST_TREE"/{dev,proc,sys,tmp}
    cp -r --parents "$ROOT"/tests/{lib,guest} "$GUEST_TREE"
    realpath "$0" >"$GUEST_TREE/guest-test"
    guest_init >"$GUEST_TREE/init"
    chmod +x "$GUEST_TREE/init"
    (cd "$GUEST_TREE" && find . | cpio --quiet -o -H newc -R 0:0)
}

guest_init()
{
    cat <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs none /dev
ln -s /proc/self/fd /dev/fd
exec >/dev/console 2>&1 </dev/null
mount -t proc none /proc
mount -t sysfs none /sys
mount -t configfs none /sys/kernel/config 2>/dev/null
ip link set lo up
export PATH=/usr/bin:/bin HOME=/
bash "$(cat /guest-test)"
status=$?
echo
echo "guest: exit status $status"
poweroff -f
INIT
}

guest_boot()
{
    local i drives=() how=format=raw,if=none,cache=unsafe,discard=unmap
    for i in "${!GUEST_DRIVES[@]}"; do
        drives+=(-drive "id=d$i,file=${GUEST_DRIVES[i]},$how")
        drives+=(-device "nvme-ns,drive=d$i,bus=nvme,nsid=$((i + 1))")
    done
    timeout --kill-after=5 "$GUEST_LIMIT_S" qemu-system-x86_64 -accel tcg,thread=multi -cpu max \
        -m 512 "${GUEST_MACHINE[@]}" -nodefaults -no-user-config -display none -serial stdio -no-reboot \
        -kernel "$(echo "$GUEST_FILES"/boot/vmlinuz-*)" "${GUEST_START[@]}" \
        -append "console=ttyS0 panic=-1 quiet nvme.poll_queues=1 nvme_core.io_timeout=3$GUEST_APPEND" \
        -device "nvme,id=nvme,serial=rackbench-guest$GUEST_SLOT$GUEST_NVME" "${drives[@]}" </dev/null &
    at_exit guest_end $!
    wait $! || true
}

# guest_end PID: idempotent.
guest_end()
{
    kill "$1" 2>/dev/null && wait "$1" 2>/dev/null
}

guest_need()
{
    local program
    for program in qemu-system-x86_64 busybox cpio; do
        command -v "$program" >/dev/null || skip "there is no $program"
    done
    [ -e "$GUEST_FILES/unpacked" ] ||
        skip "no kernel for a virtual machine in $GUEST_FILES; run deploy/packages.sh --test"
}

guest_is_inside || guest_need
