#!/usr/bin/env bash
# Everything that must pass: gcc and clang builds without a warning, the unit, simulator and fuzz
# tests under the sanitizers, then the whole of ctest on the release build. Fails too when a test
# skips that tests/skips.txt does not list.
#
# usage: deploy/test.sh [--quick]     --quick: the release build and its tests labelled `quick`
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
SECONDS=0

step()
{
    echo "== ${SECONDS} s: $*"
}

# build PRESET [CMAKE_ARGUMENT]...
build()
{
    step "build $1"
    cmake --preset "$@" --log-level=WARNING
    cmake --build --preset "$1"
}

# Reads a JUnit file of ctest; prints and fails for each test that skipped without being listed.
unlisted_skips()
{
    local name status=0
    while read -r name; do
        if ! grep -qE "^${name//./\\.}[[:space:]]" tests/skips.txt; then
            echo "test.sh: $name skipped, and tests/skips.txt does not list it" >&2
            status=1
        fi
    done < <(sed -nE '/status="(notrun|disabled)"/s/.*<testcase name="([^"]*)".*/\1/p' "$1")
    return "$status"
}

# run_once BUILD_DIRECTORY [CTEST_ARGUMENT]...
run_once()
{
    local dir=$1
    shift
    step "test $dir"
    ctest --test-dir "$dir" --output-on-failure --no-tests=error --no-label-summary \
        --output-junit ctest.xml "$@"
    unlisted_skips "$dir/ctest.xml"
}

# run_tests BUILD_DIRECTORY [CTEST_ARGUMENT]...
# Some tests measure time, on a machine that others may use: what fails is asked once more.
run_tests()
{
    run_once "$@" --repeat until-pass:2
}

main()
{
    local quick=0
    case "${1-}" in
    "") ;;
    --quick) quick=1 ;;
    *)
        echo "test.sh: unknown argument '$1'; usage: deploy/test.sh [--quick]" >&2
        exit 1
        ;;
    esac

    deploy/packages.sh --test
    build release
    if [ $quick -eq 1 ]; then
        run_tests build -L '^quick$'
        return
    fi
    # The fuzz preset is the clang build, with the address and undefined-behaviour sanitizers.
    build fuzz
    run_tests build/fuzz -L '^(unit|sim)$'
    # What a fuzzer finds it need not find again.
    run_once build/fuzz -L '^fuzz$' -j 2
    # gcc's warnings are unreliable with a sanitizer, as its manual says; the builds above had them.
    build tsan -DRB_WERROR=OFF
    run_tests build/tsan -L '^(unit|sim)$'
    run_tests build
}

main "$@"
