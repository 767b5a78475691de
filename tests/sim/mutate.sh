#!/usr/bin/env bash
# Breaks the code under test in each way that mutations.txt lists and expects the simulator to see
# it by the invariant that is named there, within SEEDS. Only the changed file is compiled again.
#
# usage: mutate.sh TREE BUILD_DIRECTORY SEEDS COMPILER [ARGUMENT]...   arguments: for linking
set -euo pipefail

tree=$1
build=$2
seeds=$3
cc=$4
shift 4
link=("$@")
list=$tree/tests/sim/mutations.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile()
{
    "$cc" -w -O1 -std=gnu17 -D_GNU_SOURCE '-DRB_VERSION="mutant"' "-I$tree" "-I$build/generated" \
        "${link[@]}" "$@"
}

# mutate DIRECTORY FILE EXPRESSION: DIRECTORY/sim is the simulator with the changed FILE.
mutate()
{
    sed "$3" "$tree/$2" >"$1/mutant.c"
    if cmp -s "$tree/$2" "$1/mutant.c"; then
        echo "changes nothing in $2"
        return 1
    fi
    compile "$work/main.o" "$1/mutant.c" -o "$1/sim" "$build/tests/sim/libsim_parts.a" \
        "$build"/librb_{coordinator,agent,proto,common}.a "${link[@]}"
}

# violation COMMAND...: the first one that it reports, if any
violation()
{
    "$@" | grep -m 1 -oE '^I[0-9]+ violated.*' || true
}

# judge DIRECTORY INVARIANT HOW: does the simulator see it, by this invariant?
judge()
{
    local said
    said=$(violation "$1/sim" --seeds "$seeds")
    if [[ $said != "$2 violated"* ]]; then
        echo "seen by: ${said:-nothing}"
        return 1
    fi
    [ "$3" = only ] || return 0
    said=$(violation "$1/sim" --seeds $((seeds / 6)) --without "${2#I}")
    [ -z "$said" ] || { echo "seen too by: $said"; return 1; }
}

# try NUMBER ROW: one line of output, FAIL or ok.
try()
{
    local invariant how file expression said
    read -r invariant how file expression <<<"$2"
    mkdir "$work/$1"
    if said=$(mutate "$work/$1" "$file" "$expression" 2>&1 &&
        judge "$work/$1" "$invariant" "$how"); then
        echo "ok    $2"
    else
        echo "FAIL  $2: $said"
    fi
    rm -rf "${work:?}/$1"
}

compile -c "$tree/tests/sim/main.c" -o "$work/main.o"
number=100 # three digits: the output stays in the order of the list
while read -r row; do
    number=$((number + 1))
    try $number "$row" >"$work/said.$number" &
    [ $((number % $(nproc))) -ne 0 ] || wait
done < <(grep -E '^I[0-9]+ ' "$list")
wait
cat "$work"/said.*
! grep -q '^FAIL' "$work"/said.*
