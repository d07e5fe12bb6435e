#!/usr/bin/env bash
# A job of slurm_test.sh on two nodes with a slurmd each: its final parameters must equal those of two ranks on one
# node.
set -euo pipefail
read -ra arguments <<<"${TEST_ARGUMENTS//$'\n'/ }"

fail() {
  echo "FAILED: $*"
  scontrol show job || true
  cat -- *.log
  exit 1
}
hash_of() { sed -n 's/.*"parameters_xxh3": "\(.*\)".*/\1/p' "$1/summary.json"; }

./launch/mpirun.sh --host "$(hostname):2" -np 2 ./traffic_train "${arguments[@]}" --set run.threads_per_rank=1 \
  --run-dir runs/whole &>whole.log || fail "the run on one node failed"
sbatch --wait --nodes=2 --ntasks-per-node=1 --cpus-per-task=1 --output=two.log launch/slurm/train.sbatch \
  "${arguments[@]}" --run-dir runs/two || fail "the job on two nodes failed"
grep -q "2 ranks on 2 nodes" two.log || fail "the job did not run on two nodes"
[ "$(hash_of runs/two)" = "$(hash_of runs/whole)" ] || fail "the job on two nodes ended with other parameters"
echo "two nodes under SLURM: the same parameters as on one node"
