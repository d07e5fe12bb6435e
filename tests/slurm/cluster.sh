#!/usr/bin/env bash
# Starts a SLURM cluster, runs a command in it and removes the cluster. The cluster has one node with six CPUs, whatever
# the machine has, and two partitions: jobs in `urgent` preempt jobs in `preemptible`. It has its own ports, key and
# state, and needs neither root nor services. Within tests/nodes/nodes.sh each node runs a slurmd with six CPUs.
# Usage: cluster.sh SLURM_PREFIX FOLDER COMMAND...   (exit code: that of COMMAND)
set -euo pipefail
prefix=$1 folder=$(realpath "$2"); shift 2
say() { printf '[cluster] %s\n' "$*" >&2; }
[ -x "$prefix/usr/sbin/slurmctld-wlm" ] || { say "error: no SLURM in $prefix: run ./launch/setup.sh --tests"; exit 1; }
plugins=$(dirname "$(find "$prefix/usr/lib" -name libslurmfull.so)")
export PATH="$prefix/usr/bin:$prefix/usr/sbin:$PATH" LD_LIBRARY_PATH="$plugins${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export SLURM_CONF="$folder/slurm.conf"

nodes=("$(hostname -s)")
on_node() { shift; "$@"; }
if [ -n "${NODES_DIR:-}" ]; then
  mapfile -t nodes < <(cut -d ' ' -f 1 "$NODES_DIR/hosts")
  unset OMPI_MCA_orte_default_hostfile OMPI_MCA_plm_rsh_agent  # SLURM chooses the nodes and starts the daemons
  on_node() { local name=$1; shift; nsenter --net="$NODES_DIR/net/$name" --uts="$NODES_DIR/uts/$name" "$@"; }
fi
address_of() { on_node "$1" ip -o -4 addr show dev eth0 | sed 's|.*inet \([0-9.]*\)/.*|\1|'; }

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
write_configuration() {
  local host user address=127.0.0.1 name
  host=$(hostname -s) user=$(id -un)
  if [ ${#nodes[@]} -gt 1 ]; then address=$(address_of "$host"); fi
  mkdir -p "$folder"/state "${nodes[@]/#/$folder/spool-}"
  (umask 077; head -c 1024 /dev/urandom >"$folder/munge.key")
  # cred_expire: how long SLURM waits before it starts a requeued job; default 120 s, minimum 5 s.
  cat >"$SLURM_CONF" <<EOF
ClusterName=test
SlurmctldHost=$host($address)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
CredType=cred/munge
PluginDir=$plugins
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool-%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmctldParameters=preempt_send_user_signal
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=10
ReturnToService=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
MailProg=/bin/true
PartitionName=preemptible Nodes=ALL PriorityTier=1 GraceTime=60 State=UP Default=YES
PartitionName=urgent Nodes=ALL PriorityTier=2 State=UP
EOF
  for name in "${nodes[@]}"; do
    if [ ${#nodes[@]} -gt 1 ]; then address=$(address_of "$name"); fi
    echo "NodeName=$name NodeAddr=$address CPUs=6 CoresPerSocket=6 State=UNKNOWN" >>"$SLURM_CONF"
  done
}

daemons=()
start_daemon() {  # NAME COMMAND...
  local log="$folder/$1.log"; shift
  setpriv --pdeathsig TERM "$@" >"$log" 2>&1 </dev/null &  # they end with this script even if it is killed
  daemons+=($!)
}
within() {  # SECONDS COMMAND...: repeats the command until it succeeds, at most for this time
  local end=$((SECONDS + $1)); shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.2
  done
}
no_jobs() { [ -z "$(timeout 5 squeue --noheader)" ]; }  # without an answer, squeue retries for minutes
node_is_idle() { [ "$(timeout 5 sinfo --noheader --format=%T 2>/dev/null | sort -u)" = idle ]; }
ended() { ! kill -0 "$1" 2>/dev/null; }
# shellcheck disable=SC2317  # called by the trap
stop() {
  local code=$? i
  trap '' INT TERM
  if [ ${#daemons[@]} = $((2 + ${#nodes[@]})) ]; then  # munged ends last: the others communicate through it
    timeout 5 scancel --user="$(id -un)" || true
    within 20 no_jobs || say "jobs did not end: $(timeout 5 squeue --noheader | tr '\n' ';')"
  fi
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2>/dev/null || true
    within 20 ended "${daemons[i]}" || kill -KILL "${daemons[i]}"
  done
  if [ $code != 0 ]; then tail -n 20 "$folder"/{munged,slurmctld,slurmd-*}.log >&2 || true; fi
  exit $code
}

write_configuration
trap stop EXIT
trap 'exit 130' INT TERM
start_daemon munged munged --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
  --pid-file="$folder/munge.pid" --log-file="$folder/munge.log" --seed-file="$folder/munge.seed"
within 10 [ -S "$folder/munge.socket" ] || { say "munged did not start"; exit 1; }
start_daemon slurmctld slurmctld-wlm -D -f "$SLURM_CONF"
for name in "${nodes[@]}"; do
  enter=()
  if [ ${#nodes[@]} -gt 1 ]; then enter=(nsenter --net="$NODES_DIR/net/$name" --uts="$NODES_DIR/uts/$name"); fi
  start_daemon "slurmd-$name" "${enter[@]}" slurmd-wlm -D -f "$SLURM_CONF" -d "$prefix/usr/sbin/slurmstepd-wlm"
done
within 30 node_is_idle || { say "the nodes did not start"; exit 1; }
"$@"
