# shellcheck shell=bash
# program.sh - the small programs of this folder, and what to do with many of their figures; source
# it after check.sh.

BUILD=${RACKBENCH_BUILD:?set it to a build directory with librb_agent.a}

# program NAME: compiles NAME.c of this folder at -O2 against the libraries of BUILD; prints where
# the program is.
program()
{
    cc -O2 -std=gnu17 -D_GNU_SOURCE -I"$ROOT" -I"$BUILD/generated" "$ROOT/tests/bench/$1.c" \
        -o "$TMP/$1" -L"$BUILD" -lrb_agent -lrb_coordinator -lrb_proto -lrb_common -lprotobuf-c -lmsgpackc -luring \
        -lblkid -ljansson -lm -lpthread || fail "$1.c does not compile"
    echo "$TMP/$1"
}

# random_file: prints a file of 256 MiB in BUILD, thus on its file system, which is in the page cache.
random_file()
{
    local path="$BUILD/bench.dat"
    if [ ! -e "$path" ]; then
        at_exit rm -f "$path"
        dd if=/dev/urandom of="$path" bs=1M count=256 status=none conv=fsync
    fi
    cat "$path" >/dev/null
    echo "$path"
}

# median FILE EXPRESSION [FORMAT]: of an awk expression over the lines of FILE in which c1 to c9 are the
# columns, such as 'c1 / c2'. Lines that lack a column of it do not count.
median()
{
    awk "{c1 = \$1; c2 = \$2; c3 = \$3; c4 = \$4; c5 = \$5; c6 = \$6; c7 = \$7; c8 = \$8; c9 = \$9}
        {for (i = NF + 1; i <= 9; i++) if (index(\"$2\", \"c\" i)) next} {print $2}" "$1" | sort -g |
        awk -v format="${3-%.3f}" '{v[NR] = $1} END {
            printf NR == 0 ? "-" : format, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'
}
