#!/usr/bin/env bash
# User instructions per I/O of the engine's loop, by callgrind: the difference between runs of
# 45,000 and 5,000 4 KiB random reads on a loop device (direct I/O over tmpfs), at -O2, in batches of
# a quarter of iodepth, at most 8. Fails above the limits given here, which are the figures measured
# last plus 5 %. Needs valgrind, and a release build for RACKBENCH_BUILD.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
need_root
BUILD=${RACKBENCH_BUILD:?set it to a build directory with librb_agent.a}
SOURCE=$(cd "$(dirname "$0")/../.." && pwd)
command -v valgrind >/dev/null || skip "needs valgrind"

declare -A LIMIT=([1]=465 [32]=164 [128]=164)

cc -O2 -std=gnu17 -D_GNU_SOURCE -I"$SOURCE" -I"$BUILD/generated" \
    "$SOURCE/tests/bench/engine_cost.c" -o "$TMP/engine_cost" -L"$BUILD" \
    -lrb_agent -lrb_proto -lrb_common -lprotobuf-c -lmsgpackc -luring -lblkid -lm -lpthread

# instructions DEVICE IODEPTH OPERATIONS WAIT: prints how many the whole program executed.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$TMP/cg.$2.$3" "$TMP/engine_cost" "$@" \
        >"$TMP/out" 2>&1 || fail "engine_cost $*: $(tail -3 "$TMP/out")"
    awk '/^summary:|^totals:/ {print $2; exit}' "$TMP/cg.$2.$3"
}

device=$(loop_make 64)
printf '%-8s %s\n' iodepth 'user instructions per I/O'
for qd in 1 32 128; do
    wait=$((qd / 4 > 8 ? 8 : qd / 4))
    many=$(instructions "$device" "$qd" 45000 "$wait")
    few=$(instructions "$device" "$qd" 5000 "$wait")
    each=$(((many - few) / 40000))
    printf '%-8s %s\n' "$qd" "$each"
    check "iodepth $qd: at most ${LIMIT[$qd]}" test "$each" -le "${LIMIT[$qd]}"
done
