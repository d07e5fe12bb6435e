#!/usr/bin/env bash
# mpirun with what a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
# With another gds PMIx 4.2 sometimes does not answer a spawned process on a busy machine. The program recovers by
# itself, but only after 10 s.
export PMIX_MCA_gds="${PMIX_MCA_gds:-hash}"
# mpirun passes only its own settings (OMPI_MCA_) to ranks on other nodes; these variables are for ranks, too.
settings=()
for name in $(compgen -e NCCL_; compgen -e OMP_; compgen -e TRAFFIC_; compgen -e PMIX_MCA_); do settings+=(-x "$name"); done
exec mpirun --oversubscribe --bind-to none "${settings[@]}" "$@"
