#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# What a machine on which everything is installed cannot show: a step of ours that uses what nothing installed.
usage() {
    cat <<'USAGE'
bare.sh                 run the README's two commands in a bare Debian 12 in a folder
bare.sh COMMAND ...     run these instead, each of them one word, such as "bash test/run.sh -R package."

The commands run one after the other in a copy of HEAD, where nothing but Debian's base system is installed. Needs
root, git, debootstrap, and a Debian machine: mirror, keyring and proxy are those of its own apt.

Exit code 0: all passed; 1: a command failed; 77: there can be no bare Debian here, for the reason that is printed.

Environment:
  TMPDIR         where the folder and the output go, some 4 GB (default /tmp); the folder is removed at the end
  PAPCOLL_JOBS   handed on to the commands
USAGE
}
set -euo pipefail

release=bookworm
source=$(cd "$(dirname "$0")/.." && pwd)
head='' folder='' log='' child='' failed=0
summary=()

skip() {
    echo "bare.sh: skipped: $*" >&2
    exit 77
}

in_checkout() { git -c safe.directory="$source" -C "$source" "$@"; }

# All mounts are made in here, in namespaces that end with the command: none is ever seen outside, so that removing the
# folder cannot reach into /dev, and no process is left, however the command or this script ends.
isolated() {
    local status=0
    set -m # gives it a process group and interrupts of its own
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" >>"$log" 2>&1 </dev/null &
    child=$!
    set +m
    wait "$child" || status=$?
    child=''
    return "$status"
}

clean_up() {
    if [ -n "$child" ]; then
        kill -KILL -- "-$child" 2>/dev/null || true
        wait "$child" 2>/dev/null || true
    fi
    [ -n "$folder" ] || return 0
    for _ in {1..50}; do # killed processes may write until they are gone
        rm -rf --one-file-system "$folder" 2>/dev/null && return
        sleep 0.1
    done
    echo "bare.sh: could not remove $folder" >&2
}

check_machine() {
    local tool
    [ "$(id -u)" -eq 0 ] || skip "only root can make a bare system"
    for tool in apt-get apt-config debootstrap git setpriv unshare; do
        command -v "$tool" >/dev/null || skip "'$tool' is missing"
    done
    head=$(in_checkout rev-parse --short HEAD 2>/dev/null) || skip "$source is no git checkout"
    unshare --mount --pid --fork --mount-proc true 2>/dev/null ||
        skip "no namespaces can be made here (an unprivileged container?)"
}

# Debian's repositories of the release, as the machine's apt knows them: SUITE ADDRESS FILE:ENTRY
repositories() {
    # Before the first `apt-get update` the origin is unknown, and the variable stays.
    # shellcheck disable=SC2016 # apt-get expands them
    apt-get indextargets --no-release-info --format '$(ORIGIN) $(RELEASE) $(COMPONENT) $(REPO_URI) $(SOURCESENTRY)' \
        'Created-By: Packages' | awk -v release="$release" '
        ($1 == "Debian" || $1 == "$(ORIGIN)") && $3 == "main" && !known[$2, $4]++ &&
        ($2 == release || $2 == release "-updates" || $2 == release "-security") { print $2, $4, $5 }'
}

# The file that apt's entry wants signatures checked with, if it names one.
keyring_of() {
    local name
    name=$(grep -ioE 'signed-by[:=] *[^] ]+' "$1" | sed -E 's/^[^:=]*[:=] *//' | head -n 1) || true
    [ ! -f "$name" ] || echo "$name"
}

proxy() { apt-config dump --format '%F "%v";%n' | grep -E '^Acquire::https?::[^ ]*Proxy ' || true; }

make_root() {
    local known mirror entry keyring root=$folder/root http_proxy
    known=$(repositories) || skip "apt-get does not tell its repositories"
    read -r _ mirror entry <<<"$(grep "^$release " <<<"$known" | head -n 1)"
    [ -n "$mirror" ] || skip "the apt of this machine knows no mirror of Debian's $release"
    keyring=$(keyring_of "${entry%:*}")
    http_proxy=$(proxy | sed -nE 's/^Acquire::http::Proxy "(.*)";$/\1/p')
    [ -z "$http_proxy" ] || export http_proxy
    isolated debootstrap --variant=minbase ${keyring:+--keyring="$keyring"} "$release" "$root" "$mirror" || {
        tail -n 5 "$log" >&2
        skip "debootstrap could not make a bare Debian; all of its output is in $log"
    }
    sed -E 's/^([^ ]+) ([^ ]+) .*/deb \2 \1 main/' <<<"$known" >"$root/etc/apt/sources.list"
    [ -z "$keyring" ] || cp "$keyring" "$root/etc/apt/trusted.gpg.d/"
    proxy >"$root/etc/apt/apt.conf.d/90proxy"
    if [[ $known == *https:* ]]; then # no certificates come with the base system
        install -D /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
    fi
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    in_checkout archive --prefix=papcoll/ HEAD | tar -x -C "$root"
}

# run COMMAND: runs it in the root, and adds its line to the summary.
run() {
    local status=0 begin=$SECONDS result=passed
    echo "== $1" | tee -a "$log"
    # shellcheck disable=SC2016 # the inner shell expands them
    isolated bash -c '
        mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && mount -t tmpfs tmpfs "$0/dev/shm" || exit
        chroot "$0" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            ${PAPCOLL_JOBS:+PAPCOLL_JOBS="$PAPCOLL_JOBS"} bash -c "cd /papcoll && $1"
        exit $?' "$folder/root" "$1" || status=$?
    if [ "$status" -ne 0 ]; then
        result="failed ($status)"
        failed=1
        tail -n 40 "$log"
    fi
    summary+=("$(printf '  %-12s %5d s  %s' "$result" $((SECONDS - begin)) "$1")")
}

case ${1-} in
-h | --help)
    usage
    exit
    ;;
-*)
    usage >&2
    exit 2
    ;;
esac
[ $# -gt 0 ] || set -- "bash examples/demo.sh" "bash test/run.sh"

check_machine
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
folder=$(mktemp -d "${TMPDIR:-/tmp}/papcoll-bare.XXXXXX")
log=$folder.log
in_checkout diff --quiet HEAD || echo "bare.sh: what is not committed is left out"
echo "bare.sh: making a bare Debian ($release) in $folder; all output goes to $log"
make_root
for command in "$@"; do run "$command"; done

echo
echo "$head in a bare Debian ($release):"
printf '%s\n' "${summary[@]}"
if [ "$failed" -ne 0 ]; then
    echo "All output is in $log"
    exit 1
fi
rm -f "$log"
