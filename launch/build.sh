#!/usr/bin/env bash
# Configures and builds. Usage: launch/build.sh [PRESET [TARGET...]]
# Presets: release dev asan tsan cuda. Without PRESET the script builds the one that launch/preset.sh prints.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:-$(./launch/preset.sh)}; shift $(($# > 0))
log="build/$preset.log"
mkdir -p build
# Compiling a file with the torch headers takes about 1.2 GB, so little memory allows fewer jobs than cores.
jobs=$(env -u OMP_NUM_THREADS nproc)  # with OMP_NUM_THREADS nproc would print the number of OpenMP threads
memory_jobs=$(awk '/MemAvailable/ {print int($2 / 1300000)}' /proc/meminfo)
if [ "$memory_jobs" -lt "$jobs" ]; then jobs=$((memory_jobs > 0 ? memory_jobs : 1)); fi
echo "[build] preset $preset, $jobs jobs, log in $log"
if ! { cmake --preset "$preset" && cmake --build "build/$preset" -j "$jobs" ${1+--target "$@"}; } >"$log" 2>&1; then
  grep -E 'error|Error|FAILED' "$log" | head -n 20 >&2 || true
  echo "[build] failed; the whole log is $log" >&2
  exit 1
fi
echo "[build] done in ${SECONDS} s"
