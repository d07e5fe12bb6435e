#!/usr/bin/env bash
# Builds and runs tests with sanitizers: of memory and undefined behaviour (preset asan), of races (preset tsan).
# Usage: tests/sanitize.sh asan|tsan [TEST...]      e.g. tests/sanitize.sh asan core config
# Without names it runs the tests that the script lists below. All other tests can be given by name, but compiling
# torch's headers may then take half an hour on one core. Tests that stop or kill ranks of MPI jobs are not listed,
# because mpirun ends the other ranks before a sanitizer has reported anything.
set -euo pipefail
cd "$(dirname "$0")/.."

preset=${1:-}; shift $(($# > 0))
tests=("$@")
case $preset in
  asan) [ ${#tests[@]} -gt 0 ] || tests=(os core config scene game report data_files rollout checkpoint) ;;
  tsan) [ ${#tests[@]} -gt 0 ] || tests=(os core report data checkpoint) ;;
  *) sed -n '3,6s/^# //p' "$0" >&2; exit 2 ;;
esac

# HDF5, MPI and Python's interpreter free memory only at the end of the process, so leaks are not reported. OpenMP is not
# instrumented, so its threads would look like races: each test uses one thread.
export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_abort=0 UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 OMP_NUM_THREADS=1
./launch/build.sh "$preset" "${tests[@]/#/test_}"
failed=()
for test in "${tests[@]}"; do
  begun=$SECONDS
  if "build/$preset/bin/test_$test" >"build/$preset/test_$test.log" 2>&1; then
    echo "[sanitize] $preset $test: $(grep -oE '\[  PASSED  \] [0-9]+ tests?' "build/$preset/test_$test.log") in $((SECONDS - begun)) s"
  else
    failed+=("$test")
    echo "[sanitize] $preset $test: FAILED, see build/$preset/test_$test.log" >&2
    grep -E 'ERROR: |WARNING: Thread|SUMMARY|runtime error|  FAILED  ' "build/$preset/test_$test.log" | head -n 5 >&2 || true
  fi
done
[ ${#failed[@]} = 0 ]
