#!/usr/bin/env bash
# Runs COMMAND, and runs FAULT (a shell command) once the run in FOLDER has written metrics of this number of steps.
# Usage on a node of nodes.sh: with_fault.sh FOLDER STEPS FAULT COMMAND...     (exit code: that of COMMAND)
set -euo pipefail
folder=$1 steps=$2 fault=$3; shift 3
"$@" &
pid=$!
written() { cat "$folder/metrics.jsonl" 2>/dev/null | wc -l; }
while [ "$(written)" -lt "$steps" ] && kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
PATH="$(dirname "$(realpath "$0")"):$PATH" bash -euc "$fault"
wait "$pid"
