#!/usr/bin/env bash
# mpirun with what a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# Without it PMIx 4.2 now and then leaves a spawned process without an answer when the machine is busy; the program gets
# over that by itself, after 10 s.
export PMIX_MCA_gds="${PMIX_MCA_gds:-hash}"
# Ranks on other nodes get NCCL's settings, too.
settings=()
for name in $(compgen -e NCCL_); do settings+=(-x "$name"); done
exec mpirun --oversubscribe --bind-to none "${settings[@]}" "$@"
