#!/usr/bin/env bash
# Feeds made-up input to all code that reads files of unknown origin, under AddressSanitizer and
# UndefinedBehaviorSanitizer. The inputs of tests/fuzz/corpus and valid files of each kind come first, the same each
# time; then libFuzzer changes them.
# Usage: tests/fuzz/run.sh [SECONDS-A-TARGET] [TARGET...]      (default: 60 seconds, all targets; 0: no made-up input)
#   FUZZ_JOBS=2   two targets at a time
#   FUZZ_SEED=1   draws the same sequence of inputs each time; without it each run draws different inputs
# Needs clang: launch/setup.sh --fuzz. The script names each input that breaks a target and leaves it in
# build/fuzz/found/TARGET/. Once the fault is fixed, move the input to tests/fuzz/corpus/TARGET/ as a regression test.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}; shift $(($# > 0))
[[ $seconds =~ ^[0-9]+$ ]] || { echo "[fuzz] found '$seconds' as the seconds per target, expected a whole number" >&2; exit 2; }
command -v clang++ >/dev/null || { echo "[fuzz] clang++ is missing; install it by launch/setup.sh --fuzz" >&2; exit 2; }
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(config period network dataset scenes checkpoint parts replay game recording)

./launch/build.sh fuzz fuzz
build=build/fuzz
rm -rf "$build/seeds"
ASAN_OPTIONS=detect_leaks=0 "$build/bin/fuzz_seeds" "$build/seeds"
mkdir -p "$build/seeds/network"
find configs/scenarios -name '*.net.xml' -size -80k | sort | head -n 8 | while read -r net; do
  cp "$net" "$build/seeds/network/$(basename "$net")"
done

# fuzz TARGET: runs a target. Prints one line with the result and returns 0 if nothing was found.
fuzz() {
  local target=$1 log="$build/found/$1.log" begun=$SECONDS
  mkdir -p "$build/corpus/$target" "$build/found/$target" "tests/fuzz/corpus/$target" "$build/seeds/$target"
  local folders=("tests/fuzz/corpus/$target" "$build/seeds/$target")
  local options=(-timeout=20 -rss_limit_mb=2048 -max_len=200000 -verbosity=1 -print_final_stats=1
    -artifact_prefix="$build/found/$target/")
  # HDF5 1.10 itself leaks memory on damaged files.
  local leaks=1
  [[ $target != dataset && $target != scenes && $target != checkpoint ]] || leaks=0
  export ASAN_OPTIONS=detect_leaks=$leaks
  [ -z "${FUZZ_SEED:-}" ] || options+=(-seed="$FUZZ_SEED")
  [ ! -f "tests/fuzz/$target.dict" ] || options+=(-dict="tests/fuzz/$target.dict")
  if "$build/bin/fuzz_$target" -runs=0 "${options[@]}" "${folders[@]}" >"$log" 2>&1 && { [ "$seconds" = 0 ] ||
    "$build/bin/fuzz_$target" -max_total_time="$seconds" "${options[@]}" "$build/corpus/$target" "${folders[@]}" \
      >>"$log" 2>&1; }; then
    echo "[fuzz] $target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1) inputs in" \
      "$((SECONDS - begun)) s, $(grep -oE 'cov: [0-9]+' "$log" | tail -n 1), nothing found"
    return 0
  fi
  echo "[fuzz] $target: FAILED after $((SECONDS - begun)) s, see $log; the input that broke it:" \
    "$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)" >&2
  grep -E 'ERROR|SUMMARY|runtime error' "$log" | head -n 5 >&2 || true
  return 1
}

status=0 running=0
for target in "${targets[@]}"; do
  if [ $running -ge "${FUZZ_JOBS:-1}" ]; then wait -n || status=1; running=$((running - 1)); fi
  fuzz "$target" &
  running=$((running + 1))
done
while [ $running -gt 0 ]; do wait -n || status=1; running=$((running - 1)); done
exit $status
