#!/usr/bin/env bash
# Starts, shows, stops and removes runs of this machine.
# Usage: launch/manage.sh start CONFIG [OPTIONS OF traffic_train]  starts a training like launch/train.sh --detach
#        launch/manage.sh status|log|stop|restart [RUN]           RUN: a run's folder; without it the newest in runs/
#        launch/manage.sh prune [--keep N] [--yes]                lists all runs except the newest N (3) of each name;
#                                                                 --yes removes them. Active runs stay.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '[manage] %s\n' "$*" >&2; }
die() { say "error: $*"; exit 2; }

newest() {
  local newest
  newest=$(find runs -mindepth 3 -maxdepth 3 -name config.toml -printf '%T@ %h\n' 2>/dev/null | sort -rn | sed -n '1s/^[^ ]* //p')
  [ -n "$newest" ] || die "there is no run in runs/: name the folder of a run"
  echo "$newest"
}

# Prints the process number of the launch/train.sh that runs the training in this folder. Prints nothing if there is none.
launcher() {
  local pid
  pid=$(cat "$1/launch.pid" 2>/dev/null) || return 0
  if tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q 'launch/train.sh'; then echo "$pid"; fi
}

stop() {
  local pid
  pid=$(launcher "$1")
  if [ -z "$pid" ]; then say "$1 does not run under launch/train.sh"; return; fi
  say "$1: asked to save and stop"
  local tick=0
  while kill -0 "$pid" 2>/dev/null; do
    if ((tick++ % 10 == 0)); then kill -USR1 "$pid" 2>/dev/null || true; fi
    sleep 1
  done
  say "$1: stopped"
}

# Whether a process writes to a run. A process on another machine counts as running, because it cannot be checked.
is_held() {
  local pid='' host=''
  { read -r pid _ host _ <"$1/run.lock"; } 2>/dev/null || true
  [ -n "$(launcher "$1")" ] || { [ -n "$pid" ] && { [ "$host" != "$(hostname -s)" ] || [ -d "/proc/$pid" ]; }; }
}

prune() {
  local keep=3 really=false
  while [ $# -gt 0 ]; do
    case $1 in
      --keep) keep=${2:-}; shift 2 || die "--keep: expected a number" ;;
      --yes) really=true; shift ;;
      *) die "prune: unknown option '$1' (known: --keep N --yes)" ;;
    esac
  done
  [[ $keep =~ ^[0-9]+$ ]] || die "--keep: found '$keep', expected a number"
  local name run count=0
  for name in runs/*/; do
    while read -r run; do
      if is_held "$run"; then say "kept, because it is active: $run"; continue; fi
      count=$((count + 1))
      printf '%s %s\n' "$(du -sh "$run" | cut -f1)" "$run"
      if $really; then rm -rf "$run"; fi
    done < <(find "$name" -mindepth 2 -maxdepth 2 -name config.toml -printf '%T@ %h\n' | sort -rn | tail -n +$((keep + 1)) |
      cut -d' ' -f2-)
  done
  if $really; then say "$count removed"; else say "$count would be removed; --yes removes them"; fi
}

command=${1:-}
[ $# = 0 ] || shift
case $command in
  start) exec ./launch/train.sh --detach "$@" ;;
  status) exec ./traffic_status "${@:-$(newest)}" ;;
  log) run=${1:-$(newest)}; exec tail -n 40 -F "$run/logs/train.log" ;;
  stop) run=${1:-$(newest)}; stop "$run" ;;
  restart)
    run=${1:-$(newest)}
    stop "$run"
    exec ./launch/train.sh --detach "$run/config.toml" --run-dir "$run" --resume auto
    ;;
  prune) prune "$@" ;;
  -h | --help) sed -n '2,6s/^# \{0,1\}//p' launch/manage.sh ;;
  *) die "found '$command', expected start, status, log, stop, restart or prune; --help says more" ;;
esac
