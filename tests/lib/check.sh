# shellcheck shell=bash
# check.sh - what every integration test starts with: a directory $TMP of its own, clean-up that
# always happens, and checks that say what was wrong. Source it first; it sets -euo pipefail.
# PATH finds the programs of $RACKBENCH_BUILD (default: build/ of this tree) first.
#
# A failed check ends the test with status 1. OUTPUT holds what the last `expect_exit` printed.

set -euo pipefail

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH="${RACKBENCH_BUILD:-$ROOT/build}/bin:$PATH"
TMP=$(mktemp -d "${TMPDIR:-/tmp}/rackbench-test.XXXXXX")
OUTPUT=""

# at_exit COMMAND [ARGUMENT]...: run at the end however the test ends, last registered first. Works
# from subshells too, `dev=$(loop_make 64)` included. COMMAND may have been done by hand before.
at_exit()
{
    printf '%q ' "$@" >>"$TMP/at_exit"
    echo >>"$TMP/at_exit"
}

run_at_exit()
{
    local status=$? line
    trap - EXIT
    set +e
    if [ -e "$TMP/at_exit" ]; then
        while read -r line; do
            eval "$line" </dev/null
        done < <(tac "$TMP/at_exit")
    fi
    rm -rf --one-file-system "$TMP"
    exit "$status"
}
trap run_at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fail()
{
    echo "FAILED: $*" >&2
    exit 1
}

# skip REASON: ends the test as skipped.
skip()
{
    echo "skipped: $*" >&2
    exit 77
}

need_root()
{
    [ "$(id -u)" -eq 0 ] || skip "must be root"
}

# check MESSAGE COMMAND [ARGUMENT]...: COMMAND must succeed; MESSAGE says what holds then.
check()
{
    local message=$1
    shift
    "$@" || fail "$message ($*)"
    echo "ok: $message"
}

# expect_exit STATUS COMMAND [ARGUMENT]...: COMMAND must end with STATUS; its output is in OUTPUT.
expect_exit()
{
    local want=$1 got=0
    shift
    OUTPUT=$("$@" 2>&1 </dev/null) || got=$?
    if [ "$got" -ne "$want" ]; then
        echo "$OUTPUT" >&2
        fail "exit status $got instead of $want: $*"
    fi
    echo "ok: exit status $want: $*"
}

# expect_match REGEX TEXT: the extended regular expression must match within TEXT.
expect_match()
{
    [[ $2 =~ $1 ]] || fail "no match for '$1' in: $2"
    echo "ok: matches '$1'"
}

# json FILE FILTER: prints what the jq filter finds; nothing found (null, false) is a failure.
json()
{
    jq -er "$2" "$1" || fail "$1: jq '$2' finds nothing"
}

# check_json FILE FILTER: the jq filter must yield true.
check_json()
{
    jq -e "$2 | . == true" "$1" >/dev/null || fail "$1: jq '$2' does not hold"
    echo "ok: $2"
}

# wait_for SECONDS COMMAND [ARGUMENT]...: tries COMMAND every 50 ms until it succeeds.
wait_for()
{
    local end=$(($(date +%s%N) + $1 * 1000000000)) limit_s=$1
    shift
    until "$@" >/dev/null 2>&1; do
        [ "$(date +%s%N)" -lt "$end" ] || fail "not within $limit_s s: $*"
        sleep 0.05
    done
}
