#!/usr/bin/env bash
# From a fresh clone to a first result: installs packages, builds into build/, runs the preset
# `quick` on this machine. The run's directory appears in the current directory.
#
# usage: deploy/quickstart.sh [OPTION of `rackbench run`]...
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

step()
{
    echo "== $*" >&2
}

step "packages"
"$root/deploy/packages.sh"

step "build into $root/build"
(
    cd "$root"
    cmake --preset release --log-level=WARNING
    cmake --build --preset release --target rackbench rackbench-agent
)

step "$root/build/bin/rackbench run quick $*"
exec "$root/build/bin/rackbench" run quick "$@"
