#!/usr/bin/env bash
# Runs mpirun with the settings that a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# mpirun itself passes only its own settings (OMPI_MCA_) to other nodes. The ranks also read the variables below.
settings=()
for name in $(compgen -e NCCL_; compgen -e OMP_; compgen -e TRAFFIC_); do settings+=(-x "$name"); done
exec mpirun --oversubscribe --bind-to none "${settings[@]}" "$@"
