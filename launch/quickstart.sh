#!/usr/bin/env bash
# From a fresh Debian 12 machine to a trained controller: installs, builds, records traffic, trains all three phases,
# and compares the result with no control and with a scripted controller.
# Usage: launch/quickstart.sh [RANKS]   (number of processes; default: one for each GPU, or 2 without a GPU)
set -euo pipefail
cd "$(dirname "$0")/.."
preset=$(./launch/preset.sh) ranks=${1:-2}
if [ $# = 0 ] && [ "$preset" = cuda ]; then ranks=$(./launch/preset.sh --gpus); fi
readonly DATA=data/merge  # the recordings that the shipped configurations name
say() { printf '\n[quickstart %4d s] %s\n' "$SECONDS" "$*"; }

say "1/5 set up (Debian packages, wheels)"
./launch/setup.sh
say "2/5 build the programs of the next two steps"
./launch/build.sh "$preset" traffic_train traffic_eval data_prep rollout_worker sumo_env scenarios
say "3/5 record SUMO traffic on the merge scenario"
if compgen -G "$DATA/*.h5" >/dev/null; then
  echo "$DATA has recordings already; they are used as they are"
else
  # Records into another folder first, so that $DATA contains only complete files.
  ./data_prep/data_prep record --scenario merge --out "$DATA.recording" --episodes 20 --force
  mkdir -p "$DATA"
  mv "$DATA.recording"/*.h5 "$DATA"
  rmdir "$DATA.recording"
fi
./data_prep/data_prep verify "$DATA/*.h5"
say "4/5 train all three phases on $ranks ranks: fewer epochs and iterations than configs/hybrid.toml has"
# To save time the controller reads only hand-made features, and not the encodings of the world model. An iteration then
# takes half as long.
./launch/mpirun.sh -np "$ranks" ./traffic_train configs/hybrid.toml --resume never --set run.name=quickstart \
  --set 'vehicles.inputs=["features","globals"]' \
  --set phase1.train.epochs=3 --set phase2.training.iterations=40 --set phase2.training.eval_interval=8 --set phase3.training.iterations=6 \
  --set phase3.training.eval_interval=3 --set phase3.lagrange.learning_rate=1 --set evaluation.seeds=100..109
run=$(find runs/quickstart -mindepth 2 -maxdepth 2 -name report.html -printf '%T@ %h\n' 2>/dev/null | sort -rn |
  sed -n '1s/^[^ ]* //p' || true)
say "trained: open $run/report.html and $run/phase3/replay/replay.html"
say "5/5 build the other programs of the README"
./launch/build.sh "$preset" traffic_doctor traffic_control traffic_report traffic_status traffic_tune
say "done: the result is in $run"
