#!/usr/bin/env bash
# mpirun with what a container or a root shell needs. Usage: launch/mpirun.sh -np N PROGRAM ARGS...
set -euo pipefail
if [ "$(id -u)" = 0 ]; then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
exec mpirun --oversubscribe --bind-to none "$@"
