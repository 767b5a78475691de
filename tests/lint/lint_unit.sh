#!/usr/bin/env bash
# The systemd unit says nothing that systemd does not know, and exposes no more of a host than it did.
source "$(dirname "$0")/files.sh"

directory=$(mktemp -d)
trap 'rm -r "$directory"' EXIT
unit=$directory/rackbench-agent.service
# systemd wants the program to be there.
sed 's|^ExecStart=/usr/bin/rackbench-agent|ExecStart=/bin/true|' \
    deploy/systemd/rackbench-agent.service >"$unit"
verdict "$(systemd-analyze verify --man=no "$unit" 2>&1)" "what deploy/systemd says systemd knows"
systemd-analyze security --offline=true --no-pager --threshold=40 "$unit" | tail -n 1
