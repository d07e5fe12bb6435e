#!/usr/bin/env bash
# From a fresh Debian 12 machine to a trained controller: set up, build, record traffic, train all three phases, and
# compare the result with no control and with a scripted controller.
# Usage: launch/quickstart.sh [RANKS]   (default: one for each GPU, 2 without)
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$(./launch/preset.sh) ranks=${1:-2}
if [ $# = 0 ] && [ "$preset" = cuda ]; then ranks=$(./launch/preset.sh --gpus); fi
readonly DATA=data/quickstart  # of this script alone
say() { printf '\n[quickstart %4d s] %s\n' "$SECONDS" "$*"; }

say "1/4 set up (Debian packages, wheels)"
./launch/setup.sh
say "2/4 build"
./launch/build.sh "$preset" traffic_train traffic_eval traffic_doctor traffic_report data_prep \
  traffic_status traffic_tune rollout_worker sumo_env scenarios
say "3/4 record SUMO traffic on the merge scenario"
if [ -f "$DATA/complete" ]; then
  echo "$DATA is there already"
else
  ./data_prep/data_prep record --scenario merge --out "$DATA" --episodes 20 --seeds 100 --force
  touch "$DATA/complete"
fi
./data_prep/data_prep verify "$DATA/*.h5"
say "4/4 train all three phases on $ranks ranks: fewer epochs and iterations than configs/hybrid.toml has"
# For the same reason the controller reads named features alone: an iteration takes half as long without encodings.
./launch/mpirun.sh -np "$ranks" ./traffic_train configs/hybrid.toml --resume never --set run.name=quickstart \
  --set "data.files=[\"$DATA/*.h5\"]" \
  --set 'vehicles.inputs=["features","globals"]' \
  --set phase1.train.epochs=3 --set phase2.training.iterations=40 --set phase2.training.eval_interval=8 --set phase3.training.iterations=6 \
  --set phase3.training.eval_interval=3 --set phase3.lagrange.learning_rate=1 --set evaluation.seeds=100..109
run=$(find runs/quickstart -mindepth 2 -maxdepth 2 -name report.html -printf '%T@ %h\n' 2>/dev/null | sort -rn |
  sed -n '1s/^[^ ]* //p' || true)
say "done: open $run/report.html and $run/phase3/replay/replay.html"
