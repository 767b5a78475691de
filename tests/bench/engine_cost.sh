#!/usr/bin/env bash
# User instructions per I/O of the engine's loop, by callgrind: the difference between runs of
# 45,000 and 5,000 4 KiB random reads on a loop device (direct I/O over tmpfs), at -O2, in batches of
# a quarter of iodepth. Fails above the limits given here, which are the figures measured
# last plus 5 %. Needs valgrind, and a release build for RACKBENCH_BUILD.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/devices.sh"
source "$(dirname "$0")/program.sh"
need_root
command -v valgrind >/dev/null || skip "needs valgrind"

declare -A LIMIT=([1]=310 [32]=161 [128]=147)
engine=$(program engine_cost)

# instructions DEVICE IODEPTH OPERATIONS WAIT: prints how many the whole program executed.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$TMP/cg.$2.$3" "$engine" "$@" \
        >"$TMP/out" 2>&1 || fail "engine_cost $*: $(tail -3 "$TMP/out")"
    awk '/^summary:|^totals:/ {print $2; exit}' "$TMP/cg.$2.$3"
}

device=$(loop_make 64)
printf '%-8s %s\n' iodepth 'user instructions per I/O'
for qd in 1 32 128; do
    wait=$((qd / 4 > 1 ? qd / 4 : 1))
    many=$(instructions "$device" "$qd" 45000 "$wait")
    few=$(instructions "$device" "$qd" 5000 "$wait")
    each=$(((many - few) / 40000))
    printf '%-8s %s\n' "$qd" "$each"
    check "iodepth $qd: at most ${LIMIT[$qd]}" test "$each" -le "${LIMIT[$qd]}"
done
