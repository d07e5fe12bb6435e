#!/usr/bin/env bash
# Compiles every source file by itself, to find missing #include lines. The usual build joins several source files into
# one (a unity build), in which a missing include goes unnoticed.
# Usage: tests/without_unity.sh [FOLDER...]      (default: src data_prep; other folders, such as tests/train, are possible)
set -euo pipefail
cd "$(dirname "$0")/.."

folders=("$@")
[ ${#folders[@]} -gt 0 ] || folders=(src data_prep)
./launch/build.sh alone traffic_torch_pch
within=$(IFS='|'; echo "${folders[*]%/}")
mapfile -t objects < <(ninja -C build/alone -t targets all | sed -nE "s#^(($within)/.*\.o): CXX_.*#\1#p")
[ ${#objects[@]} -gt 0 ] || { echo "[without_unity] no sources in: ${folders[*]}" >&2; exit 2; }
./launch/build.sh alone "${objects[@]}"
echo "[without_unity] ${#objects[@]} sources checked"
