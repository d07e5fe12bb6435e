#!/usr/bin/env bash
# Jobs of slurm_test.sh that srun starts without mpirun, through SLURM's plug-in for PMIx. A training without
# simulations must end with the same parameters as under mpirun, also after a rank was killed. A training with
# simulations must refuse to start and say how to start it instead.
set -euo pipefail
read -ra arguments <<<"${TEST_ARGUMENTS//$'\n'/ }"

fail() {
  echo "FAILED: $*"
  cat -- *.log
  exit 1
}
hash_of() { sed -n 's/.*"parameters_xxh3": "\(.*\)".*/\1/p' "$1/summary.json"; }

few=("${arguments[@]}" --set run.threads_per_rank=1 --set train.max_steps=40)
./launch/mpirun.sh -np 2 ./traffic_train "${few[@]}" --run-dir runs/whole &>whole.log || fail "the run under mpirun failed"
by_srun() { srun --mpi=pmix --ntasks=2 --kill-on-bad-exit=1 ./traffic_train "$@"; }
of_run=("${few[@]}" --set checkpoint.save_interval_steps=10 --run-dir runs/srun)
code=0
TRAFFIC_FAULT=train.step:1:25:kill by_srun "${of_run[@]}" &>killed.log || code=$?
[ $code != 0 ] || fail "a job with a killed rank ended with exit code 0"
echo "[injected] TRAFFIC_FAULT=train.step:1:25:kill under srun: exit code $code"
by_srun "${of_run[@]}" &>srun.log || fail "the resumed run under srun failed"
grep -q "going on from checkpoint" srun.log || fail "the run under srun did not resume from a checkpoint"
[ "$(hash_of runs/srun)" = "$(hash_of runs/whole)" ] || fail "the run under srun ended with other parameters"
echo "srun --mpi=pmix, killed and started again: the same parameters as with mpirun"
code=0
by_srun configs/rl_only.toml --run-dir runs/simulated &>simulated.log || code=$?
[ $code = 2 ] || fail "simulations under srun: exit code $code, expected 2"
grep -q "start the ranks with mpirun inside the job" simulated.log || fail "the refused job does not say what to do instead"
echo "simulations under srun: refused, exit code $code"
