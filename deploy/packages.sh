#!/usr/bin/env bash
# The one list of packages (Debian 12): what building and running need; with --test also what the
# tests need. Installs what is missing and nothing else; does nothing when nothing is missing.
#
# usage: deploy/packages.sh [--test]
set -euo pipefail

packages=(
    # building
    gcc libc6-dev cmake ninja-build pkg-config protobuf-c-compiler
    # libraries; CONTRIBUTING.md says what each is for
    libzmq3-dev liburing-dev libprotobuf-c-dev libmsgpack-dev libyaml-dev
    libblkid-dev libjansson-dev zlib1g-dev
    # the build configures the unit tests too
    libcmocka-dev
)
test_packages=(
    # compilers and checkers
    clang libclang-rt-14-dev clang-format clang-tidy shellcheck mandoc
    # targets and networks: loop and zram devices, file systems, namespaces
    mount util-linux fdisk e2fsprogs xfsprogs iproute2 iputils-ping procps
    # the second opinion, and a reader of JSON
    fio jq
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

main()
{
    case "${1-}" in
    "") ;;
    --test) packages+=("${test_packages[@]}") ;;
    *) die "unknown argument '$1'; usage: deploy/packages.sh [--test]" ;;
    esac
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        die "there is no apt here; install what these Debian packages hold: ${packages[*]}"
    fi

    local want as_root=()
    mapfile -t want < <(missing "${packages[@]}")
    if [ ${#want[@]} -eq 0 ]; then
        return
    fi
    if [ "$(id -u)" -ne 0 ]; then
        as_root=(sudo)
        command -v sudo >/dev/null || die "run as root: apt-get install ${want[*]}"
    fi
    as_root+=(env DEBIAN_FRONTEND=noninteractive)
    local install=("${as_root[@]}" apt-get install -y -q --no-install-recommends "${want[@]}")

    echo "packages.sh: installing ${want[*]}"
    # Package lists that are absent or out of date show as a failed first try.
    if ! "${install[@]}" >/dev/null 2>&1; then
        "${as_root[@]}" apt-get update -q || die "run as root: apt-get update"
        "${install[@]}" || die "run as root: apt-get install ${want[*]}"
    fi
}

main "$@"
