#!/usr/bin/env bash
# The one list of packages (Debian 12): what building and running need; with --test also what the
# tests need. Installs what is missing and nothing else; does nothing when nothing is missing.
# What the tests' virtual machine runs is not installed but unpacked into build/guest/.
#
# usage: deploy/packages.sh [--test]
set -euo pipefail

packages=(
    # building
    gcc libc6-dev cmake ninja-build pkg-config protobuf-c-compiler
    # libraries; CONTRIBUTING.md says what each is for
    libzmq3-dev liburing-dev libprotobuf-c-dev libmsgpack-dev libyaml-dev
    libblkid-dev libhwloc-dev libjansson-dev zlib1g-dev libxxhash-dev
    # the build configures the unit tests too
    libcmocka-dev
)
test_packages=(
    # compilers and checkers
    clang libclang-rt-14-dev clang-format clang-tidy shellcheck mandoc
    # targets and networks: loop and zram devices, file systems, namespaces
    mount util-linux fdisk e2fsprogs xfsprogs iproute2 iputils-ping procps
    # the second opinion, and a reader of JSON
    fio gnuplot-nox python3-six jq valgrind
    # what the unit of deploy/systemd is checked with
    systemd
    # a virtual machine with NVMe drives
    qemu-system-x86 busybox-static cpio
)
# Its kernel, and what builds on drives there and must not watch those of this machine.
guest_packages=(
    linux-image-cloud-amd64 nvme-cli mdadm dmsetup lvm2 bcache-tools
    # their libraries
    libnvme1 libjson-c5 libdevmapper1.02.1 libdevmapper-event1.02.1 libaio1 libedit2 libbsd0
)

die()
{
    echo "packages.sh: $*" >&2
    exit 1
}

# Prints those of its arguments that are not installed.
missing()
{
    local installed package
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
    for package in "$@"; do
        grep -qxF "$package" <<<"$installed" || echo "$package"
    done
}

as_root()
{
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

# with_lists COMMAND [ARGUMENT]...: package lists that are absent or out of date show as a failed
# first try.
with_lists()
{
    "$@" >/dev/null 2>&1 && return
    as_root apt-get update -q || die "run as root: apt-get update"
    "$@"
}

install_missing()
{
    local want
    mapfile -t want < <(missing "${packages[@]}")
    [ ${#want[@]} -gt 0 ] || return 0
    [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
        die "run as root: apt-get install ${want[*]}"
    echo "packages.sh: installing ${want[*]}"
    with_lists as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends "${want[@]}" ||
        die "run as root: apt-get install ${want[*]}"
}

# Into the current directory; the kernel's own name changes with every version of it.
download_guest()
{
    local kernel
    kernel=$(apt-cache depends "${guest_packages[0]}" | sed -n 's/^ *Depends: //p')
    apt-get download -q "$kernel" "${guest_packages[@]}"
}

# Where and when it was unpacked once, nothing happens; a newer kernel comes with a new build/.
unpack_guest()
{
    local dir=build/guest deb
    cd "$(dirname "${BASH_SOURCE[0]}")/.."
    [ "$(dpkg --print-architecture)" = amd64 ] || return 0
    [ "$(cat "$dir/unpacked" 2>/dev/null)" != "${guest_packages[*]}" ] || return 0
    echo "packages.sh: unpacking ${guest_packages[*]} into $dir"
    rm -rf "$dir"
    mkdir -p "$dir/debs"
    (
        cd "$dir/debs"
        with_lists download_guest || die "cannot download ${guest_packages[*]}"
    )
    for deb in "$dir"/debs/*.deb; do
        dpkg -x "$deb" "$dir"
    done
    rm -r "$dir/debs"
    busybox depmod -b "$dir" "$(basename "$dir"/lib/modules/*)"
    echo "${guest_packages[*]}" >"$dir/unpacked"
}

main()
{
    case "${1-}" in
    "" | --test) ;;
    *) die "unknown argument '$1'; usage: deploy/packages.sh [--test]" ;;
    esac
    [ -z "${1-}" ] || packages+=("${test_packages[@]}")
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        die "there is no apt here; install what these Debian packages hold: ${packages[*]}"
    fi
    install_missing
    [ -z "${1-}" ] || unpack_guest
}

main "$@"
