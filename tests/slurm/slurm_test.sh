#!/usr/bin/env bash
# Tests launch/slurm/train.sbatch with a real SLURM (cluster.sh). One job is preempted and requeued three times, another
# reaches its time limit; both must end by themselves with the parameters of an uninterrupted run.
# Usage: slurm_test.sh PROGRAMS SLURM_PREFIX [JOBS]     (jobs.sh; nodes_jobs.sh within tests/nodes/nodes.sh)
set -euo pipefail
source_dir=$(realpath "$(dirname "$0")/../..")
programs=$(realpath "$1") slurm=$(realpath "$2")
folder=$(mktemp -d "${TMPDIR:-/tmp}/traffic_slurm.XXXXXX")
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"  # munged requires that its socket can be reached
mkdir "$folder/root" "$folder/cluster"
cd "$folder/root"  # looks like the repository after a build
ln -s "$source_dir"/{launch,configs} "$programs/traffic_train" .
"$programs/synthetic_dataset" rows.h5 200

export TEST_ARGUMENTS="configs/phase1.toml --preset test --set data.files=[\"rows.h5\"] --set model.hidden_dim=32
  --set model.num_heads=2 --set model.lstm_hidden=32 --set data.batch_size=4 --set train.epochs=50
  --set train.max_steps=160 --set log.interval_steps=1"
code=0
"$source_dir/tests/slurm/cluster.sh" "$slurm" "$folder/cluster" "$source_dir/tests/slurm/${3:-jobs.sh}" || code=$?
cd /
left_over() {  # ids of the processes that work in the folder or were started with its name
  local process
  for process in /proc/[0-9]*; do
    if [[ $(readlink "$process/cwd") == "$folder"* || $(tr '\0' ' ' <"$process/cmdline") == *"$folder"* ]]; then
      echo "${process#/proc/}"
    fi
  done 2>/dev/null
}
for ((i = 0; i < 25; ++i)); do
  left=$(left_over)
  [ -n "$left" ] || exit $code
  sleep 0.2
done
echo "error: processes are left behind: $left" >&2
exit 1
