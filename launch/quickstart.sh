#!/usr/bin/env bash
# From a fresh Debian 12 machine to a trained world model: set up, build, record traffic, train, report.
# Usage: launch/quickstart.sh [RANKS]   (default 2)
set -euo pipefail
cd "$(dirname "$0")/.."
ranks=${1:-2}
say() { printf '\n[quickstart %4d s] %s\n' "$SECONDS" "$*"; }

say "1/4 set up (Debian packages, wheels)"
./launch/setup.sh
say "2/4 build"
./launch/build.sh release traffic_train data_prep scenarios
say "3/4 record SUMO traffic on the merge scenario"
if [ -f data/merge/complete ]; then
  echo "data/merge is there already"
else
  rm -rf data/merge
  ./data_prep/data_prep record --scenario merge --out data/merge --episodes 20 --seeds 100
  touch data/merge/complete
fi
./data_prep/data_prep verify 'data/merge/*.h5'
say "4/4 train phase 1 on $ranks ranks, test preset"
./launch/mpirun.sh -np "$ranks" ./traffic_train configs/phase1.toml --preset test --resume never
say "done"
