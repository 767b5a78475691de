#!/usr/bin/env bash
# The unit of deploy/systemd under systemd itself, in a virtual machine with a small Debian: what its
# system call filter, NoNewPrivileges and the rest leave is enough for io_uring, NVMe passthrough and
# the guard, and nothing is written beyond --allow-path.
#
# Run by hand, as root: it wants debootstrap and a mirror, keeps 250 MiB in build/guest-root for the
# next time, and takes about a minute then.
source "$(dirname "$0")/../lib/check.sh"
source "$(dirname "$0")/../lib/guest.sh"
tree=$ROOT/build/guest-root

# The machine's root is its first drive.
enter()
{
    need_root
    make_tree
    truncate -s 1G "$TMP/root"
    mke2fs -q -t ext4 -d "$tree" "$TMP/root"
    GUEST_DRIVES=("$TMP/root")
    guest_drive 32
    GUEST_START=()
    GUEST_APPEND=" root=/dev/nvme0n1 rw systemd.mask=serial-getty@ttyS0.service"
    guest_run
}

make_tree()
{
    local units=$tree/etc/systemd/system
    command -v debootstrap >/dev/null || skip "there is no debootstrap"
    [ -e "$tree/done" ] || debootstrap --variant=minbase --include=systemd-sysv bookworm "$tree" >&2
    touch "$tree/done"
    GUEST_TREE=$tree
    guest_program jq rackbench rackbench-agent
    rm -rf "${tree:?}/$ROOT/tests"
    cp -r --parents "$ROOT"/tests/{lib,guest} "$tree"
    realpath "$0" >"$tree/guest-test"
    cp "$ROOT/deploy/systemd/rackbench-agent.service" "$units"
    mkdir -p "$tree"/{data,other} "$units/multi-user.target.wants" "$units/rackbench-agent.service.d"
    cat >"$units/rackbench-agent.service.d/options.conf" <<'CONF'
[Service]
Environment="RACKBENCH_OPTIONS=--allow-path /data --allow-device /dev/nvme0n2"
CONF
    cat >"$units/unit-test.service" <<UNIT
[Unit]
After=dbus.socket
[Service]
Type=oneshot
ExecStart=bash -c 'bash "\$(cat /guest-test)"; echo "guest: exit status \$?"'
ExecStopPost=systemctl poweroff --force --force
Environment=HOME=/root
StandardOutput=tty
StandardError=tty
TTYPath=/dev/ttyS0
UNIT
    ln -sf ../unit-test.service "$units/multi-user.target.wants/"
}

guest_is_inside || enter

# runs STATUS TARGET JOB [PHASE KEYS]
runs()
{
    cat >"$TMP/plan.yaml" <<PLAN
lease: 30s
targets:
  t: {$2}
phases:
  - {name: p, ${4+$4,} jobs: [{name: j, target: t, $3}]}
PLAN
    result=$(mktemp -d "$TMP/run.XXXXXX")/result.json
    expect_exit "$1" rackbench run "$TMP/plan.yaml" --hosts 127.0.0.1 --yes --connect-timeout 60s \
        --output "${result%/*}"
}

agent()
{
    systemctl show --property MainPID --value rackbench-agent
}

test_starts()
{
    mkdir -p /etc/rackbench /root/.config/rackbench
    rackbench keygen 2>/dev/null >/etc/rackbench/coordinators
    rackbench-agent --show-key --name 127.0.0.1 2>/dev/null >/root/.config/rackbench/known_hosts
    expect_exit 0 systemctl enable --now rackbench-agent
    wait_for 30 bash -c 'journalctl -u rackbench-agent | grep -q "listening on"'
    for line in "NoNewPrivs:.1" "Seccomp:.2"; do
        expect_match "$line" "$(cat "/proc/$(agent)/status")"
    done
}

test_works()
{
    runs 0 "directory: /data, size: 4MiB" "rw: randwrite, verify: true, iodepth: 8, number_ios: 500"
    check_json "$result" '[.events[] | select(.kind == "fallback")] == []'
    runs 0 "devices: [/dev/nvme0n2]" "rw: randwrite, iodepth: 8, number_ios: 500" "destructive: true"
    runs 0 "devices: [/dev/ng0n2]" "rw: randread, ioengine: io_uring_cmd, number_ios: 100"
    check_json "$result" '[.events[] | select(.kind == "fallback")] == [] and
        .phases[0].health["127.0.0.1"].drives != {} and
        (.hosts[0].drives[] | select(.path == "/dev/nvme0n2").lba_formats | length > 0)'
}

test_refuses()
{
    runs 1 "directory: /other, size: 1MiB" "rw: write"
    expect_match "the agent does not allow directory /other" "$OUTPUT"
    check "nothing is there" [ -z "$(ls /other)" ]
    runs 2 "devices: [/dev/nvme0n1]" "rw: randwrite, number_ios: 10" "destructive: true"
    expect_match "/dev/nvme0n1: it is mounted at /" "$OUTPUT"
}

# It is started again after a crash, and not after it was stopped.
test_life()
{
    local killed
    killed=$(agent)
    kill -KILL "$killed"
    # shellcheck disable=SC2016 # for the inner shell to expand
    wait_for 30 bash -c '[ "$(systemctl show --property NRestarts --value rackbench-agent)" = 1 ]'
    wait_for 30 systemctl is-active --quiet rackbench-agent
    check "another process" [ "$(agent)" != "$killed" ]
    runs 0 "directory: /data, size: 4MiB" "rw: randread, number_ios: 100"
    expect_exit 0 systemctl stop rackbench-agent
    check "it ended well" \
        [ "$(systemctl show --property Result --value rackbench-agent)" = success ]
    check "nothing was forbidden to it" \
        [ -z "$(journalctl -u rackbench-agent | grep -i 'not permitted')" ]
}

test_starts
test_works
test_refuses
test_life
