#!/usr/bin/env bash
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
#
# Runs bare.sh with stand-ins for the programs that make a system: when it skips, what it prints, and that nothing stays.
# shellcheck disable=SC2016 # what stands in single quotes is expanded by the stand-ins
set -euo pipefail

bare=$(cd "$(dirname "$0")/.." && pwd)/bare.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/tmp" "$work/checkout"
export PATH=$work/bin:$PATH TMPDIR=$work/tmp

stand_in() { # stand_in NAME SCRIPT
    printf '#!/usr/bin/env bash\n%s\n' "$2" >"$work/bin/$1"
    chmod +x "$work/bin/$1"
}

# An unusual machine is one of these in front of bare.sh: a variable that changes what a stand-in does.
stand_in id 'echo "${USER_ID:-0}"'
stand_in mount ''
stand_in setpriv 'exec "${@:3}"'
stand_in unshare '[ -z "${NO_NAMESPACES-}" ] || exit 1
    while [[ $1 == --* ]]; do shift; done
    exec "$@"'
stand_in chroot 'root=$1
    shift
    exec "${@//cd \/papcoll/cd $root/papcoll}"'
stand_in git "case \"\$*\" in
    *rev-parse*) [ -z \"\${NO_CHECKOUT-}\" ] && echo 1234567 ;;
    *archive*) tar -c -C '$work' --transform 's,^checkout,papcoll,' checkout ;;
    esac"
stand_in apt-config "echo 'Acquire::http::Proxy \"http://proxy.example:3128\";'"
stand_in apt-get 'echo "${ORIGIN-Debian} bookworm main http://mirror.example/debian/ /nowhere.sources:1"
    echo "${ORIGIN-Debian} bookworm-updates main http://mirror.example/debian/ /nowhere.sources:1"
    echo "Other bookworm main http://other.example/ /nowhere.list:1"'
stand_in debootstrap '[ -z "${BROKEN-}" ] || { echo "E: nothing to be had"; exit 1; }
    root=${*: -2:1} mirror=${*: -1}
    mkdir -p "$root"/{proc,dev,etc/apt/apt.conf.d,etc/apt/trusted.gpg.d}
    echo "$mirror $http_proxy" >"$root/made_from"'

fail() {
    echo "check_logic: $*" >&2
    cat "$work/output" >&2
    exit 1
}

# expect CODE PATTERN [VARIABLE=value ...] -- [ARGUMENT ...]: bare.sh ends with this code, prints this and leaves no folder.
expect() {
    local code=$1 pattern=$2 status=0 variables=()
    shift 2
    while [ "$1" != -- ]; do
        variables+=("$1")
        shift
    done
    shift
    env "${variables[@]}" "$bare" "$@" >"$work/output" 2>&1 || status=$?
    [ "$status" -eq "$code" ] || fail "exit code $status instead of $code: ${variables[*]} bare.sh $*"
    grep -qE "$pattern" "$work/output" || fail "no '$pattern': ${variables[*]} bare.sh $*"
    [ -z "$(find "$work/tmp" -mindepth 1 -type d)" ] || fail "a folder stays: ${variables[*]} bare.sh $*"
}

expect 0 '^bare.sh COMMAND' -- --help
expect 2 '^bare.sh COMMAND' -- --verbose
expect 77 'skipped: only root' USER_ID=1000 -- true
expect 77 'skipped: no namespaces' NO_NAMESPACES=1 -- true
expect 77 'skipped: .* is no git checkout' NO_CHECKOUT=1 -- true
expect 77 'skipped: .* knows no mirror' ORIGIN=Other -- true
expect 77 'E: nothing to be had' BROKEN=1 -- true
rm -f "$work"/tmp/*.log

# The machine's own mirror and proxy, before (the variable stays) and after its first `apt-get update`.
settings='cd .. && grep -x "http://mirror.example/debian/ http://proxy.example:3128" made_from &&
    grep -x "deb http://mirror.example/debian/ bookworm main" etc/apt/sources.list &&
    grep -x "deb http://mirror.example/debian/ bookworm-updates main" etc/apt/sources.list &&
    grep proxy.example etc/apt/apt.conf.d/* && ! grep other.example etc/apt/sources.list'
expect 0 '^  passed ' -- "$settings"
expect 0 '^1234567 in a bare Debian' ORIGIN='$(ORIGIN)' -- "$settings"
expect 0 '^  passed +[0-9]+ s  test "\$HOME \$PAPCOLL_JOBS"' PAPCOLL_JOBS=3 -- 'test "$HOME $PAPCOLL_JOBS" = "/root 3"'
[ -z "$(ls "$work/tmp")" ] || fail "output of passed commands stays"

# A command that fails is shown, and those after it run all the same.
expect 1 '^  failed \(3\) +[0-9]+ s  echo why; exit 3$' -- "echo why; exit 3" "echo later"
grep -qx why "$work/output" || fail "what a failing command printed is not shown"
grep -q '^  passed .* echo later$' "$work/output" || fail "the second command did not run"
rm -f "$work"/tmp/*.log

# Interrupted, it takes away its folder and what runs in it.
status=0
"$bare" 'echo $$ >../started; exec sleep 1000' >"$work/output" 2>&1 &
for _ in {1..100}; do
    sleeper=$(cat "$work"/tmp/*/root/started 2>/dev/null) && [ -n "$sleeper" ] && break
    sleep 0.1
done
[ -n "$sleeper" ] || fail "the command did not start"
kill -TERM $!
wait $! || status=$?
[ "$status" -eq 143 ] || fail "interrupted, the exit code is $status"
[ -z "$(find "$work/tmp" -mindepth 1 -type d)" ] || fail "interrupted, the folder stays"
runs() { [[ $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null || true) == [^Z]* ]]; } # a zombie does not
for _ in {1..50}; do
    runs "$sleeper" || exit 0
    sleep 0.1
done
fail "interrupted, the command goes on"
