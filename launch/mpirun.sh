#!/usr/bin/env bash
# mpirun with the settings that a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Variables that ranks read must be passed to other nodes, because mpirun passes only its own settings (OMPI_MCA_).
settings=()
for name in $(compgen -e NCCL_; compgen -e OMP_; compgen -e TRAFFIC_); do settings+=(-x "$name"); done
exec mpirun --oversubscribe --bind-to none "${settings[@]}" "$@"
