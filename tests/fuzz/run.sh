#!/usr/bin/env bash
# Feeds made-up input to everything that reads files of strangers, under AddressSanitizer and UndefinedBehaviorSanitizer.
# Usage: tests/fuzz/run.sh [SECONDS-A-TARGET] [TARGET...]      (default: 60 seconds, all targets)
# Needs clang (Debian: clang, libclang-rt-dev). What breaks a target is left in build/fuzz/found/TARGET/; an input that
# broke one goes to tests/fuzz/corpus/TARGET/ once that is mended, and is tried first from then on.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${1:-60}; shift $(($# > 0))
[[ $seconds =~ ^[0-9]+$ ]] || { echo "[fuzz] found '$seconds', expected seconds" >&2; exit 2; }
command -v clang++ >/dev/null || { echo "[fuzz] no clang++: apt-get install clang libclang-rt-dev" >&2; exit 2; }
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(config period network dataset checkpoint recording)

./launch/build.sh fuzz fuzz
build=build/fuzz
rm -rf "$build/seeds"
ASAN_OPTIONS=detect_leaks=0 "$build/bin/fuzz_seeds" "$build/seeds"
mkdir -p "$build/seeds/network"
find configs/scenarios build -maxdepth 6 -name '*.net.xml' -size -80k 2>/dev/null | head -n 8 | while read -r net; do
  cp "$net" "$build/seeds/network/$(basename "$net")"
done

failed=()
for target in "${targets[@]}"; do
  mkdir -p "$build/corpus/$target" "$build/found/$target" "tests/fuzz/corpus/$target" "$build/seeds/$target"
  options=(-max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=200000 -print_final_stats=1 -verbosity=1
    -artifact_prefix="$build/found/$target/")
  [ ! -f "tests/fuzz/$target.dict" ] || options+=(-dict="tests/fuzz/$target.dict")
  log="$build/found/$target.log"
  if "$build/bin/fuzz_$target" "${options[@]}" "$build/corpus/$target" "tests/fuzz/corpus/$target" \
    "$build/seeds/$target" >"$log" 2>&1; then
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -n 1)
    echo "[fuzz] $target: $runs inputs in $seconds s, $covered, nothing found"
  else
    failed+=("$target")
    echo "[fuzz] $target: FAILED, see $log" >&2
    grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$log" | head -n 5 >&2 || true
  fi
done
[ ${#failed[@]} = 0 ] || exit 1
