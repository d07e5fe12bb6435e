#!/usr/bin/env bash
# Sets a Debian 12 machine up, builds everything and runs every test. Usage: launch/test.sh [ctest arguments...]
set -euo pipefail
cd "$(dirname "$0")/.."
./launch/setup.sh --tests
preset=$(./launch/preset.sh)
./launch/build.sh "$preset"
./launch/check.sh
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(env -u OMP_NUM_THREADS nproc)" "$@"
