#!/usr/bin/env bash
# Reads every source by itself. What users run is built from joined sources, where a missing include goes unnoticed.
# Usage: tests/without_unity.sh [FOLDER...]      (default: src data_prep; any that has a CMakeLists.txt, as tests/train)
set -euo pipefail
cd "$(dirname "$0")/.."

folders=("$@")
[ ${#folders[@]} -gt 0 ] || folders=(src data_prep)
mkdir -p build
cmake --preset alone >build/alone.log 2>&1 || { tail -n 20 build/alone.log >&2; exit 1; }
mapfile -t all < <(ninja -C build/alone -t targets all | sed -n 's/: .*_COMPILER__.*//p')
objects=()
for folder in "${folders[@]}"; do
  for object in "${all[@]}"; do
    if [[ $object == "${folder%/}"/*.o ]]; then objects+=("$object"); fi
  done
done
[ ${#objects[@]} -gt 0 ] || { echo "[without_unity] no sources in: ${folders[*]}" >&2; exit 2; }
./launch/build.sh alone "${objects[@]}"
echo "[without_unity] ${#objects[@]} sources read"
