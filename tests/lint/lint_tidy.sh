#!/usr/bin/env bash
# clang-tidy as .clang-tidy says: function size (60 lines, 5 parameters) and likely bugs. In tests
# only the function size.
source "$(dirname "$0")/files.sh"

# tidy REGEX [ARGUMENT]...: the C files that match and that the build directory compiles.
tidy()
{
    local regex=$1
    shift
    sources "$regex" | grep -Fxf <(sed -nE "s|.*\"file\": \"$PWD/(.*)\".*|\1|p" \
        "$build/compile_commands.json") |
        xargs -r -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" "$@" 2> >(filter_noise >&2)
}

filter_noise()
{
    grep -vE '^[0-9]+ warnings? generated\.|^Suppressed |^Use -header-filter' || true
}

build=$2
status=0
tidy '^(agent|common|coordinator|proto)/.*\.c$' || status=1
tidy '^tests/.*\.c$' --checks='-*,readability-function-size' || status=1
exit $status
