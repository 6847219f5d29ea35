#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# An emulated Ethernet cluster on one machine: every host is a network namespace with a name of its own, all are
# joined by a bridge in one more namespace, and every link is shaped in both directions. MPI programs on it use
# real TCP, and nothing leaves the machine. Needs root, iproute2 and util-linux; to run programs, Open MPI or MPICH.
usage() {
    cat <<'USAGE'
cluster.sh up HOSTS RATE                     build a cluster, e.g. up 8 100mbit; one that is up is replaced
cluster.sh run HOSTS PROGRAM [ARG ...]       run an MPI program on its first HOSTS hosts
cluster.sh down                              remove the cluster and everything that still runs on it
cluster.sh with HOSTS RATE PROGRAM [ARG ...] up, run and down, whatever happens in between

Environment:
  PAPCOLL_CLUSTER_ID  which cluster (default 0): letters and digits; clusters of different ids do not meet
  PER_HOST            ranks on each host (default 1); ranks of one host use shared memory
  MPI_LIBRARY         of which the program is: open-mpi (default) or mpich
  MPIRUN_ARGS         more options for mpirun, or mpiexec, split at blanks
  BURST               what a link lets pass unshaped (default 32kb); smaller is more truthful for messages
                      below 256 KB and costs more processor time
USAGE
}
set -euo pipefail

id=${PAPCOLL_CLUSTER_ID:-0}
prefix=papcoll-$id
state=/run/papcoll-cluster/$id
subnet=10.77.0

fail() {
    echo "cluster.sh: $*" >&2
    exit 1
}

host_name() { echo "$prefix-h$1"; }

namespaces() { ip netns list | awk -v prefix="$prefix-" 'index($1, prefix) == 1 { print $1 }'; }

check_host_count() {
    if ! [[ $1 =~ ^[1-9][0-9]{0,2}$ ]] || (($1 > 250)); then fail "HOSTS must be a number from 1 to 250, but is '$1'"; fi
}

check_machine() {
    [[ $id =~ ^[A-Za-z0-9]{1,16}$ ]] || fail "PAPCOLL_CLUSTER_ID must be 1 to 16 letters and digits, but is '$id'"
    local tool package
    for tool in ip:iproute2 tc:iproute2 unshare:util-linux flock:util-linux; do
        package=${tool#*:} tool=${tool%:*}
        command -v "$tool" >/dev/null || fail "'$tool' is missing; on Debian: apt-get install $package"
    done
    [ "$(id -u)" -eq 0 ] || fail "must run as root: it creates network namespaces (try sudo -E $0 ...)"
}

# One command at a time for each cluster: nobody takes away the links of a measurement that runs.
lock() {
    mkdir -p /run/papcoll-cluster
    exec 9>"$state.lock"
    flock --nonblock 9 || fail "cluster '$id' is in use; wait, or choose another PAPCOLL_CLUSTER_ID"
}

kill_processes() {
    local namespace pids
    for namespace in $(namespaces); do
        pids=$(ip netns pids "$namespace")
        # shellcheck disable=SC2086 # one word per process
        [ -z "$pids" ] || kill -KILL $pids 2>/dev/null || true
    done
}

remove_cluster() {
    local namespace
    kill_processes
    for namespace in $(namespaces); do ip netns delete "$namespace"; done
    rm -rf "$state" "${TMPDIR:-/tmp}/ompi.$prefix-h"*
}

add_host() {
    local number=$1 rate=$2 host
    host=$(host_name "$number")
    # One chain, because `set -e` does not hold in a function whose failure the caller handles.
    ip netns add "$host" &&
        ip link add lan netns "$host" type veth peer name "port$number" netns "$prefix-switch" &&
        ip -n "$prefix-switch" link set "port$number" master bridge up &&
        ip -n "$host" address add "$subnet.$number/24" dev lan &&
        ip -n "$host" link set lan up &&
        ip -n "$host" link set lo up &&
        shape "$host" lan "$rate" &&
        shape "$prefix-switch" "port$number" "$rate"
}

# Queues hold up to 200 ms, so that TCP sees a slow link and not a lossy one.
shape() { tc -n "$1" qdisc add dev "$2" root tbf rate "$3" burst "${BURST:-32kb}" latency 200ms; }

# mpirun starts its daemons as with ssh: agent ADDRESS COMMAND; MPICH's mpiexec puts -x before it. The UTS namespace gives each host its name;
# with one name for all, Open MPI would take them for one node and use shared memory.
write_agent() {
    cat >"$state/agent" <<AGENT
#!/usr/bin/env bash
[ "\$1" != -x ] || shift
host=$prefix-h\${1##*.}
shift
exec ip netns exec "\$host" unshare --uts bash -c "hostname \$host; \$*"
AGENT
    chmod +x "$state/agent"
}

up() {
    local hosts=$1 rate=$2 number
    remove_cluster
    trap remove_cluster EXIT # unless it comes up completely
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    mkdir -p "$state"
    ip netns add "$prefix-switch" || fail "network namespaces cannot be created here (an unprivileged container?)"
    ip -n "$prefix-switch" link add bridge type bridge
    ip -n "$prefix-switch" link set bridge up
    for number in $(seq "$hosts"); do
        add_host "$number" "$rate" || fail "host $number could not be set up (is '$rate' a rate of tc, such as 100mbit?)"
    done
    write_agent
    echo "$hosts" >"$state/hosts"
    trap - EXIT
    echo "cluster '$id' is up: $hosts hosts, $rate per link and direction"
}

# Sets `launch` to the command that starts so many ranks on the first hosts.
choose_launcher() {
    local hosts=$1 per_host=$2 addresses extra transports=tcp,self
    addresses=$(seq -s, -f "$subnet.%g:$per_host" "$hosts")
    read -ra extra <<<"${MPIRUN_ARGS:-}"
    case ${MPI_LIBRARY:-open-mpi} in
    open-mpi)
        command -v mpirun >/dev/null || fail "'mpirun' is missing; on Debian: apt-get install openmpi-bin"
        ((per_host == 1)) || transports=$transports,vader
        launch=(mpirun --allow-run-as-root --bind-to none
            --mca plm_rsh_agent "$state/agent" --mca oob_tcp_if_include lan
            --mca btl "$transports" --mca btl_tcp_if_include lan --mca btl_vader_single_copy_mechanism none
            --mca mpi_yield_when_idle 1 "${extra[@]}" -H "$addresses" -n $((hosts * per_host)))
        ;;
    mpich)
        command -v mpiexec.hydra >/dev/null || fail "'mpiexec.hydra' is missing; on Debian: apt-get install mpich"
        # Debian's has UCX below; what ranks of one host share is MPICH's own.
        launch=(env "UCX_TLS=tcp,self" UCX_NET_DEVICES=lan mpiexec.hydra -launcher ssh -launcher-exec "$state/agent"
            -iface lan "${extra[@]}" -hosts "$addresses" -n $((hosts * per_host)))
        ;;
    *) fail "MPI_LIBRARY must be open-mpi or mpich, but is '$MPI_LIBRARY'" ;;
    esac
}

run() {
    local hosts=$1 per_host=${PER_HOST:-1} launch mpirun status=0
    shift
    [ -f "$state/hosts" ] || fail "cluster '$id' is not up: cluster.sh up $hosts 100mbit"
    ((hosts <= $(<"$state/hosts"))) || fail "cluster '$id' has $(<"$state/hosts") hosts, $hosts are wanted"
    [[ $per_host =~ ^[1-9][0-9]{0,3}$ ]] || fail "PER_HOST must be a positive number, but is '$per_host'"
    choose_launcher "$hosts" "$per_host"
    trap 'interrupted=130' INT
    trap 'interrupted=143' TERM HUP
    interrupted=0
    # shellcheck disable=SC2016 # the inner shell expands them
    ip netns exec "$(host_name 1)" unshare --uts bash -c 'hostname "$0"; exec "$@"' "$(host_name 1)" \
        "${launch[@]}" "$@" 9>&- &
    mpirun=$!
    wait "$mpirun" || status=$?
    if ((interrupted)); then
        status=$interrupted
        kill -TERM "$mpirun" 2>/dev/null || true
        for _ in $(seq 30); do kill -0 "$mpirun" 2>/dev/null && sleep 0.1; done
    fi
    kill_processes
    return "$status"
}

[ $# -ge 1 ] || { usage >&2; exit 2; }
command=$1
shift
case $command in
up)
    [ $# -eq 2 ] || { usage >&2; exit 2; }
    check_machine
    check_host_count "$1"
    lock
    up "$1" "$2"
    ;;
run)
    [ $# -ge 2 ] || { usage >&2; exit 2; }
    check_machine
    check_host_count "$1"
    lock
    run "$@"
    ;;
with)
    [ $# -ge 3 ] || { usage >&2; exit 2; }
    check_machine
    check_host_count "$1"
    lock
    up "$1" "$2"
    trap remove_cluster EXIT
    hosts=$1
    shift 2
    run "$hosts" "$@"
    ;;
down)
    [ $# -eq 0 ] || { usage >&2; exit 2; }
    check_machine
    lock
    remove_cluster
    ;;
help | -h | --help) usage ;;
*)
    usage >&2
    exit 2
    ;;
esac
