#!/usr/bin/env bash
# The jobs of slurm_test.sh, which runs this script within the cluster, in a folder like the repository's root.
set -euo pipefail
read -ra arguments <<<"${TEST_ARGUMENTS//$'\n'/ }"

say() { printf '[test %3d s] %s\n' "$SECONDS" "$*"; }
fail() {
  say "FAILED: $*"
  scontrol show job || true
  grep -v -e 'fault slow' -e 'info: epoch' -- *.log
  exit 1
}
# submit JOB-NAME MS-PER-STEP [options of sbatch]: submits a training and prints the job's id. The steps are slowed down,
# so that there is time to stop the job. The command has --resume never, but a requeued job must resume nevertheless.
submit() {
  local name=$1 slow_ms=$2; shift 2
  TRAFFIC_FAULT="train.step:0:*:slow:$slow_ms" sbatch --parsable --job-name="$name" --output="$name.log" \
    --cpus-per-task=1 "$@" launch/slurm/train.sbatch "${arguments[@]}" --resume never
}
within() {  # SECONDS WHAT COMMAND...
  local what=$2 i tries=$((5 * $1)); shift 2
  for ((i = 0; i < tries; ++i)); do
    if "$@"; then say "$what"; return; fi
    sleep 0.2
  done
  fail "did not happen in time: $what"
}
is() { grep -qE "(^| )$2=$3( |\$)" <<<"$(scontrol show job "$1")"; }  # JOB FIELD VALUE
# is_training JOB RESTARTS STEP: whether the job has written metrics of this or a later step after this number of
# restarts
is_training() {
  is "$1" Restarts "$2" && is "$1" JobState RUNNING &&
    awk -F '[:,]' -v step="$3" '$2 >= step {found = 1} END {exit !found}' "runs/phase1/slurm-$1/metrics.jsonl" 2>/dev/null
}
says() { grep -q -- "$2" "$1"; }
hash_of() { sed -n 's/.*"parameters_xxh3": "\(.*\)".*/\1/p' "$1/summary.json"; }

same_as_whole() {
  local found expected
  found=$(hash_of "runs/phase1/slurm-$1") expected=$(hash_of runs/whole)
  if [ -z "$expected" ] || [ "$found" != "$expected" ]; then fail "job $1 ended with '$found', not '$expected'"; fi
  say "job $1 ended with the parameters of the uninterrupted run: $found"
}

./launch/mpirun.sh -np 2 ./traffic_train "${arguments[@]}" --set run.threads_per_rank=1 --run-dir runs/whole \
  &>whole.log &
whole=$!

cut=$(submit cut 100)
within 60 "job $cut trains" is_training "$cut" 0 20
sbatch --partition=urgent --ntasks=5 --output=/dev/null --wrap 'sleep 1'
within 40 "job $cut was preempted with notice and is queued again" is "$cut" Restarts 1
says cut.log "stopped with exit code 75" || fail "job $cut did not save before it ended"

# SLURM checks every 30 s whether to send the signal. It therefore arrives 15 to 45 s after the start of the job. The job
# itself needs 48 s and the time to start.
timed=$(submit timed 300 --partition=urgent --time=1 --signal=B:USR1@15)
within 60 "job $cut continues" is_training "$cut" 1 60
scontrol requeue "$cut"
within 40 "job $cut was ended without notice and is queued again" is "$cut" Restarts 2
within 60 "job $cut starts" says cut.log "start 3 of job $cut"
says cut.log "ended with exit code" || fail "the batch script did not wait for mpirun"
scancel --batch --signal=USR1 "$cut"
within 40 "job $cut was stopped while it started and is queued again" is "$cut" Restarts 3

within 60 "job $timed came near its time limit and is queued again" is "$timed" Restarts '[1-9]'
says timed.log "stopped with exit code 75" || fail "job $timed did not save before it ended"
scontrol update JobId="$timed" TimeLimit=10

stopped=$(submit stopped 100 --partition=urgent)
within 60 "job $stopped trains" is_training "$stopped" 0 2
scancel --batch --signal=TERM "$stopped"
within 40 "job $stopped was asked to end, has saved and is not queued again" is "$stopped" ExitCode 75:0
is "$stopped" JobState FAILED || fail "job $stopped is not in the state FAILED"
typo=$(sbatch --parsable --output=typo.log --cpus-per-task=1 --partition=urgent launch/slurm/train.sbatch \
  configs/phase1.toml --set train.epoch=3)
within 40 "job $typo ended because of a wrong key" is "$typo" ExitCode 2:0
says typo.log train.epochs || fail "the log of job $typo does not name the wrong key"

within 90 "job $timed is done" is "$timed" JobState COMPLETED
if says timed.log "DUE TO TIME LIMIT"; then fail "SLURM ended job $timed at its time limit"; fi
within 90 "job $cut is done" is "$cut" JobState COMPLETED
says cut.log "going on from checkpoint" || fail "job $cut never resumed"
wait "$whole" || fail "the uninterrupted run failed"
same_as_whole "$timed"
same_as_whole "$cut"
