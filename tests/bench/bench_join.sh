#!/usr/bin/env bash
# Parts of restores that the coordinator unpacks and joins by request, a second of one core. Fails below 50,000, which
# 32 hosts of 16 drives send at a hundred requests a second.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/program.sh"

join=$(program join_cost)
printf '%-8s %s\n' hosts 'parts a second'
for hosts in 1 16 256 4096; do
    line=$("$join" "$hosts" $((3000000 / hosts + 256)))
    printf '%-8s %s\n' "${line% *}" "${line#* }"
    check "$hosts hosts: 50,000 or more" [ "${line#* }" -ge 50000 ]
done
