#!/usr/bin/env bash
# mpirun with what a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Without it PMIx 4.2 now and then leaves a spawned process without an answer when the machine is busy; the program gets
# over that by itself, after 10 s.
export PMIX_MCA_gds="${PMIX_MCA_gds:-hash}"
# What ranks listen to reaches those on other nodes, too; mpirun passes on its own settings (OMPI_MCA_) only.
settings=()
for name in $(compgen -e NCCL_; compgen -e OMP_; compgen -e TRAFFIC_; compgen -e PMIX_MCA_); do settings+=(-x "$name"); done
exec mpirun --oversubscribe --bind-to none "${settings[@]}" "$@"
