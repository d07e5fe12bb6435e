#!/usr/bin/env bash
# Runs a training command and starts it again if the job was lost: a rank died or crashed (exit code 7, or a signal), or
# a node was lost (mpirun's code 205). The command continues from its newest checkpoint. Errors that would occur again
# after a restart, and requests to stop, end the script.
# Usage: launch/restart.sh MAX_RESTARTS COMMAND..., e.g.
#   launch/restart.sh 3 launch/mpirun.sh -np 2 ./traffic_train configs/phase1.toml
# The script forwards TERM, INT, HUP and USR1 to the command, which saves and ends.
set -euo pipefail

say() { printf '[restart] %s\n' "$*" >&2; }
if [ $# -lt 2 ] || ! [[ $1 =~ ^[0-9]+$ ]]; then
  say "found '$*', expected MAX_RESTARTS COMMAND..., e.g. 3 launch/mpirun.sh -np 2 ./traffic_train configs/phase1.toml"
  exit 2
fi
max_restarts=$1; shift
pause_s=${RESTART_PAUSE_S:-2}

stop='' pid=''
on_signal() {
  stop=$1
  [ -z "$pid" ] || kill -s "$1" "$pid" 2>/dev/null || true
}
for signal in TERM INT HUP USR1; do
  # shellcheck disable=SC2064  # the name is expanded now
  trap "on_signal $signal" "$signal"
done

# The command runs in a process group of its own, so that it gets a signal of the terminal only once, from this script.
run() {
  set -m
  "$@" </dev/null &
  pid=$!
  set +m
  code=0
  wait "$pid" || code=$?
  while [ -n "$stop" ] && kill -0 "$pid" 2>/dev/null; do  # a signal has ended `wait`, but the command still runs
    code=0
    wait "$pid" || code=$?
  done
  pid=''
}

# Whether an exit code means that the job was lost. 7: a rank was lost. 205: mpirun lost its daemon on a node. The other
# codes are 128 + the number of a signal: ILL, ABRT, BUS, FPE, KILL or SEGV.
is_lost() { [[ $1 = 7 || $1 = 205 || $1 = 132 || $1 = 134 || $1 = 135 || $1 = 136 || $1 = 137 || $1 = 139 ]]; }

run_dir=runs
arguments=("$@")
for ((i = 0; i < ${#arguments[@]}; i++)); do
  case "${arguments[i]}" in
    --run-dir) run_dir=${arguments[i + 1]:-runs} ;;
    --run-dir=*) run_dir=${arguments[i]#--run-dir=} ;;
  esac
done
# Lists names, inodes and times of all checkpoints. Times alone do not reveal new files, because files that are written
# within one tick of the file system's clock have the same time.
checkpoints() { find "$run_dir" -path '*/checkpoints/*.h5' -printf '%p %i %T@\n' 2>/dev/null | sort || true; }
has_saved() { [ -n "$(comm -13 <(printf '%s\n' "$before") <(checkpoints))" ]; }

# Removes --resume from the arguments. It is called when the command has saved a checkpoint, from which it must continue.
forget_resume() {
  local kept=() i
  for ((i = 0; i < ${#arguments[@]}; i++)); do
    case "${arguments[i]}" in
      --resume) i=$((i + 1)) ;;
      --resume=*) ;;
      *) kept+=("${arguments[i]}") ;;
    esac
  done
  arguments=("${kept[@]}")
}

for ((restarts = 0; ; restarts++)); do
  before=$(checkpoints)
  run "${arguments[@]}"
  if [ -n "$stop" ] || ! is_lost "$code"; then exit "$code"; fi
  if [ "$restarts" -ge "$max_restarts" ]; then
    say "exit code $code after $restarts restarts, which is the limit"
    exit "$code"
  fi
  wait_s=$pause_s
  if has_saved; then  # the command made progress, so no pause is needed
    wait_s=0
    forget_resume
  fi
  say "exit code $code; restart $((restarts + 1)) of $max_restarts in $wait_s s"
  sleep "$wait_s" & wait $! || true
  [ -z "$stop" ] || exit "$code"
done
