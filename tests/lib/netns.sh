# shellcheck shell=bash
# netns.sh - a small network of hosts in namespaces; source it after check.sh. Needs root.
#
# A network is PREFIX-br (the bridge, in a namespace of its own: the root namespace is untouched),
# PREFIX-1 .. PREFIX-N (hosts) and PREFIX-c (the coordinator's). PREFIX must be unique on the
# machine: end it with $$. Each namespace has lo and eth0; MTU 1500, no loss, no delay.

# netns_up PREFIX N [FIRST_IP]: hosts get FIRST_IP (10.77.0.1) and the N - 1 addresses after it, the
# coordinator .254 of the same /24. Everything is removed at the end of the test.
netns_up()
{
    local prefix=$1 count=$2 first=${3:-10.77.0.1} i
    need_root
    ip netns add "$prefix-br" 2>/dev/null || skip "network namespaces cannot be made here"
    at_exit netns_down "$prefix"
    ip -n "$prefix-br" link add br0 type bridge
    ip -n "$prefix-br" link set br0 up
    for ((i = 1; i <= count; i++)); do
        netns_host "$prefix" "$i" "${first%.*}.$((${first##*.} + i - 1))"
    done
    netns_host "$prefix" c "${first%.*}.254"
}

# One host, plugged into the bridge as port v<I>.
netns_host()
{
    local prefix=$1 i=$2 address=$3
    ip netns add "$prefix-$i"
    ip -n "$prefix-br" link add "v$i" type veth peer name eth0 netns "$prefix-$i"
    ip -n "$prefix-br" link set "v$i" master br0 up
    ip -n "$prefix-$i" address add "$address/24" dev eth0
    ip -n "$prefix-$i" link set lo up
    ip -n "$prefix-$i" link set eth0 up
}

# netns_exec PREFIX I|c COMMAND [ARGUMENT]...: only the network is another one; mounts and /sys stay.
netns_exec()
{
    local namespace="$1-$2"
    shift 2
    nsenter --net="/run/netns/$namespace" "$@"
}

# netns_spawn PREFIX I|c COMMAND [ARGUMENT]...: the same in the background; $! is COMMAND's own pid.
netns_spawn()
{
    local namespace="$1-$2"
    shift 2
    nsenter --net="/run/netns/$namespace" "$@" &
}

# netns_link PREFIX I|c up|down: plugs the host's cable in or pulls it, at the bridge.
netns_link()
{
    ip -n "$1-br" link set "v$2" "$3"
}

# netns_down PREFIX: ends what still runs inside (TERM, after 2 s KILL) and removes all. Idempotent.
netns_down()
{
    local namespace spaces
    spaces=$(ip netns list | awk -v p="$1-" 'index($1, p) == 1 {print $1}')
    for namespace in $spaces; do
        netns_kill "$namespace"
        ip netns delete "$namespace"
    done
}

netns_kill()
{
    local pids tries
    for ((tries = 0; tries < 60; tries++)); do
        pids=$(ip netns pids "$1")
        [ -n "$pids" ] || return 0
        # shellcheck disable=SC2086 # one argument per pid
        case $tries in
        0) kill -TERM $pids 2>/dev/null || true ;;
        40) kill -KILL $pids 2>/dev/null || true ;;
        esac
        sleep 0.05
    done
    echo "netns.sh: $1: cannot end process $pids" >&2
}
