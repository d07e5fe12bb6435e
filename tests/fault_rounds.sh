#!/usr/bin/env bash
# Runs every fault test (ctest -L fault) repeatedly, and counts failures and hangs.
# Usage: tests/fault_rounds.sh ROUNDS [LANES] [CTEST ARGUMENT...]      e.g. tests/fault_rounds.sh 20 2 -R rollout_faults
# LANES is the number of rounds that run at the same time. Each round has its own processes, network, /tmp, /dev/shm and
# view of build/release, so that rounds do not affect each other. On two cores use two lanes: the tests often wait for
# deadlines, so that one lane leaves cores idle.
# Prints one line per round; logs are in build/fault_rounds/; the exit code is 1 if anything failed. If a file
# build/fault_rounds/stop exists, the script starts no further round and ends after the running ones.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

[[ ${1:-} =~ ^[0-9]+$ ]] || { sed -n '3,7s/^# //p' "$0" >&2; exit 2; }
rounds=$1; shift
lanes=1
if [[ ${1:-} =~ ^[0-9]+$ ]]; then lanes=$1; shift; fi
logs=$root/build/fault_rounds
rm -rf "$logs"
mkdir -p "$logs"

options=(--net --uts --ipc --mount --pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || options+=(--user --map-root-user)

# round NUMBER CTEST-ARGUMENT...: runs one round in its own view of the build tree, which is removed afterwards
round() {
  local number=$1 log="$logs/$1.log" begun=$SECONDS own; shift
  own=$(mktemp -d "${TMPDIR:-/tmp}/fault_round.XXXXXX")
  mkdir -p "$own"/{tmp,upper,work}
  # shellcheck disable=SC2016
  unshare "${options[@]}" bash -euc '
    own=$1 build=$2; shift 2
    ip link set lo up
    ip link add eth0 type veth peer name peer0  # SLURM does not listen if the loopback is the only interface
    ip address add 192.0.2.1/24 dev eth0
    ip link set eth0 up
    ip link set peer0 up
    mount -t overlay overlay -o "lowerdir=$build,upperdir=$own/upper,workdir=$own/work" "$build"
    mount -t tmpfs tmpfs /dev/shm
    mount --bind "$own/tmp" /tmp
    cd "$build"
    ctest -L fault -V "$@"' round "$own" "$root/build/release" "$@" >"$log" 2>&1 || true
  rm -rf "$own"
  local passed failed hung
  passed=$(grep -cE '^ *[0-9]+/[0-9]+ Test .* Passed ' "$log" || true)
  failed=$(grep -E '^ *[0-9]+/[0-9]+ Test .*\*\*\*' "$log" | sed -E 's/.*: (\S+) \.*(\*\*\*\S*).*/\1 \2/' | paste -sd, || true)
  hung=$(grep -cE '^ *[0-9]+/[0-9]+ Test .*\*\*\*Timeout' "$log" || true)
  [ "$passed" -gt 0 ] || failed=${failed:-nothing was run}
  echo "[rounds] $number: $passed passed in $((SECONDS - begun)) s, $hung hung${failed:+, FAILED: $failed}; $log"
  [ -z "$failed" ]
}

# lane NUMBER CTEST-ARGUMENT...: runs the rounds NUMBER, NUMBER + LANES, NUMBER + 2 LANES, ... one after the other
lane() {
  local first=$1 status=0 i; shift
  for ((i = first; i <= rounds; i += lanes)); do
    [ ! -e "$logs/stop" ] || break
    round "$i" "$@" || status=1
  done
  return $status
}

for ((i = 1; i <= lanes; ++i)); do lane "$i" "$@" & done
status=0
for ((i = 1; i <= lanes; ++i)); do wait -n || status=1; done
exit $status
