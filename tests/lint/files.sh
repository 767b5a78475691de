# shellcheck shell=bash
# files.sh - what the lints share. Sourced by each with its own arguments: TREE [BUILD_DIRECTORY].
set -euo pipefail
cd "$1"

# sources REGEX: the files of the tree (build outputs and .git apart) whose path matches, sorted.
# None is a failure: a lint that looks at nothing proves nothing.
sources()
{
    find . \( -path './build*' -o -path ./.git \) -prune -o -type f -printf '%P\n' |
        grep -E "$1" | LC_ALL=C sort
}

c_sources()
{
    sources '^(agent|common|coordinator|proto|tests|deploy)/.*\.[ch]$'
}

# verdict TEXT RULE: fails, and says both, unless TEXT is empty.
verdict()
{
    [ -n "$1" ] || return 0
    printf '%s\n%s\n' "$1" "rule: $2" >&2
    return 1
}
