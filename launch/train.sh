#!/usr/bin/env bash
# Trains on this machine with one rank for each GPU, or with 2 ranks if there is no GPU. After a crash the training
# continues from its newest checkpoint. The last line of the output says how it ended.
# Usage: launch/train.sh [-n RANKS] [--restarts N] [--detach] CONFIG [OPTIONS OF traffic_train]
#   --restarts N  maximum number of restarts of a training that lost a rank or its simulations (2)
#   --detach      return at once; the training survives log-out (launch/manage.sh shows and stops it)
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '[train] %s\n' "$*" >&2; }
die() { say "error: $*"; exit 2; }

ranks='' restarts=2 detach=false
while [ $# -gt 0 ]; do
  case $1 in
    -n) ranks=${2:-}; shift 2 || die "-n: expected the number of ranks" ;;
    --restarts) restarts=${2:-}; shift 2 || die "--restarts: expected a number" ;;
    --detach) detach=true; shift ;;
    -h | --help) sed -n '2,7s/^# \{0,1\}//p' launch/train.sh; exit 0 ;;
    -*) die "unknown option '$1' before the configuration; --help lists the options" ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || die "no configuration: launch/train.sh CONFIG, for example configs/hybrid.toml"
[[ $restarts =~ ^[0-9]+$ ]] || die "--restarts: found '$restarts', expected a number"
if [ -z "$ranks" ]; then
  ranks=$(./launch/preset.sh --gpus)
  if [ "$ranks" = 0 ]; then ranks=2; fi
fi
[[ $ranks =~ ^[1-9][0-9]*$ ]] || die "-n: found '$ranks', expected the number of ranks"
[ -x ./traffic_train ] || die "./traffic_train is not built: run ./launch/setup.sh && ./launch/build.sh first"

# An error in the configuration ends the script here, with the program's own message and exit code.
config=$(./traffic_train "$@" --print-config)
run_key() { sed -n '/^\[run\]/,/^$/s/^'"$1"' = "\(.*\)"$/\1/p' <<<"$config"; }
run_dir=$(run_key dir)
if [ -z "$run_dir" ]; then
  run_dir="runs/$(run_key name)/$(date -u +%Y%m%d-%H%M%S)"
  set -- "$@" --run-dir "$run_dir"
fi
mkdir -p "$run_dir/logs"

if $detach; then
  # Runs in a session of its own without a terminal, so that log-out does not end it (no signal HUP).
  setsid nohup ./launch/train.sh -n "$ranks" --restarts "$restarts" "$@" </dev/null >>"$run_dir/logs/launch.log" 2>&1 &
  say "training in $run_dir; watch it: launch/manage.sh status $run_dir; stop it: launch/manage.sh stop $run_dir"
  exit 0
fi

echo $$ >"$run_dir/launch.pid"
# At the end removes launch.pid. Also removes the run folder if it is empty, because traffic_train has refused to start.
trap 'rm -f "$run_dir/launch.pid"; rmdir "$run_dir/logs" "$run_dir" 2>/dev/null || true' EXIT
stop='' mpirun_pid=''
# mpirun forwards USR1 to the ranks, which save and end. After TERM or INT it gives them about a second and then kills
# them. A signal that arrives while mpirun starts is lost. The first Ctrl-C is passed on as USR1, and a second one as INT.
# mpirun runs in a session of its own, so that it does not also get Ctrl-C from the terminal.
# shellcheck disable=SC2317  # the traps call it
on_signal() {
  local passed_on=$1
  if [ "$1" = INT ] && [ -z "$stop" ]; then
    passed_on=USR1
    say "saving and stopping; a second Ctrl-C ends the training at once"
  fi
  stop=$1
  if [ -n "$mpirun_pid" ]; then kill -"$passed_on" "$mpirun_pid" 2>/dev/null || true; fi
}
trap 'on_signal USR1' USR1
trap 'on_signal TERM' TERM HUP
trap 'on_signal INT' INT

# Sets `arguments` to the given arguments without --resume. The user's --resume applies only to the first start; later
# starts continue from the checkpoints of this run.
drop_resume() {
  arguments=()
  while [ $# -gt 0 ]; do
    case $1 in
      --resume) shift 2 || true ;;
      --resume=*) shift ;;
      *) arguments+=("$1"); shift ;;
    esac
  done
}

for ((start = 0; ; ++start)); do
  # --quiet: mpirun adds no explanation below the program's own last line, even if a rank was killed.
  setsid ./launch/mpirun.sh --quiet -np "$ranks" ./traffic_train "$@" &
  mpirun_pid=$!
  code=0
  wait "$mpirun_pid" || code=$?
  while kill -0 "$mpirun_pid" 2>/dev/null; do
    code=0
    wait "$mpirun_pid" || code=$?
  done
  mpirun_pid=''
  if [ "$code" -gt 128 ]; then say "a rank was ended by signal $((code - 128)), $(kill -l "$code" 2>/dev/null || true)"; fi
  # Starts again only after these exit codes (docs/reference/exit-codes.md), or after a signal. 6: simulations crash again
  # and again; 7: a rank was lost.
  case $code in 6 | 7) ;; *) if [ "$code" -le 128 ]; then break; fi ;; esac
  if [ -n "$stop" ] || [ "$start" -ge "$restarts" ]; then break; fi
  say "exit code $code; continuing from the newest checkpoint (restart $((start + 1)) of $restarts)"
  drop_resume "$@"
  set -- "${arguments[@]}" --resume auto
done

case $code in
  0) if [ -f "$run_dir/report.html" ]; then say "done: open $run_dir/report.html"; fi ;;
  75)
    drop_resume "$@"
    say "stopped and saved; to continue: launch/train.sh -n $ranks$(printf ' %q' "${arguments[@]}") --resume auto"
    ;;
esac
exit "$code"
