#!/usr/bin/env bash
# Static checks: modules include only modules that they may include, public headers have users outside of their module,
# and sources are formatted. With --tidy also runs clang-tidy. Usage: launch/check.sh [--tidy]
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# The modules that each module may include, besides itself (docs/design/architecture.md). Some folders of a module have a
# row of their own, and may include only what this row allows. A module that may include another module may also include
# the folders of that module.
readonly BELOW_TRAIN="data driving model rl replay rollout checkpoint report comm sim game scene config core os"
declare -A allowed=(
  [os]="" [core]="os" [config]="core os" [scene]="config core os" [driving]="scene config core os" [sim]="driving scene config core os" [game]="core os" [comm]="config core os"
  [data]="driving scene config core os" [model]="config core os" [rl]="config core os" [checkpoint]="config core os"
  [report]="config core os" [tune]="report config core os" [replay]="core os"
  [rollout/pool]="comm config core os" [rollout/game]="rollout/pool game core os" [rollout/traffic]="rollout/pool sim scene config core os"
  [train/optim]="$BELOW_TRAIN" [train/monitor]="$BELOW_TRAIN" [train/run]="train/monitor $BELOW_TRAIN" [train/policy]="train/optim train/run $BELOW_TRAIN"
  [train/rollouts]="train/policy train/optim train/run $BELOW_TRAIN"
  [train/search]="train/rollouts train/policy train/optim train/run $BELOW_TRAIN"
  [train/ppo]="train/rollouts train/policy train/optim train/run $BELOW_TRAIN"
  [train/driving]="train/optim train/run train/monitor $BELOW_TRAIN"
  [train/world_model]="train/optim train/run train/monitor $BELOW_TRAIN" [train/evaluate]="train/policy train/run $BELOW_TRAIN"
  [train/lights]="train/ppo train/offpolicy train/rollouts train/policy train/optim train/run train/monitor $BELOW_TRAIN"
  [train/offpolicy]="train/optim train/run train/monitor $BELOW_TRAIN"
  [train/snakes]="train/offpolicy train/optim train/run $BELOW_TRAIN"
  [train/dqn]="train/offpolicy train/rollouts train/policy train/optim train/run $BELOW_TRAIN"
  [train/agents]="train/lights train/dqn train/ppo train/offpolicy train/search train/rollouts train/policy train/optim train/run train/monitor $BELOW_TRAIN"
  [train/export]="train/policy train/optim train/run $BELOW_TRAIN"
  [train/closed_loop]="train/driving train/evaluate train/run $BELOW_TRAIN"
  [train/doctor]="train/evaluate train/run train/monitor $BELOW_TRAIN"
  [train]="train/agents train/snakes train/driving train/closed_loop train/world_model train/search train/rollouts train/policy train/optim train/run train/monitor train/evaluate $BELOW_TRAIN"
  [apps]="train tune $BELOW_TRAIN"
  [data_prep]="data driving report sim scene config core os")
# Third-party headers that stay inside one module.
declare -A owner=([mpi.h]="comm rollout" [nccl.h]="comm" [hdf5.h]="data checkpoint" [libsumo/]="sim")
# CUDA's headers stay in these files.
readonly CUDA_HEADERS='<(c10/cuda/|ATen/cuda/|cuda|nvrtc)'
readonly CUDA_FILES='^src/(comm/|model/device/|train/monitor/gpu\.cpp$)'

place_of() {  # for a file module/folder/file: prints module/folder if `allowed` has a row for it, otherwise module
  local module=${1%%/*} rest=${1#*/}
  local folder="$module/${rest%%/*}"
  if [ -n "${allowed[$folder]+x}" ]; then echo "$folder"; else echo "$module"; fi
}
while IFS= read -r file; do
  inside=${file#include/traffic/}
  place=$(place_of "${inside#src/}")
  module=${place%%/*}
  while IFS=: read -r line include; do
    # "traffic/MODULE/..." or, within a module, "FOLDER/..."
    path=$(sed -n -e 's|.*[<"]traffic/\([a-z0-9_/]*\)\.h.*|\1|p' \
               -e "/[<\"]traffic/!s|.*\"\([a-z0-9_]*/[a-z0-9_/]*\)\.h\".*|$module/\1|p" <<<"$include")
    target=$(place_of "$path")
    if [ -n "$path" ] && [ "$target" != "$place" ] &&
       [[ " ${allowed[$place]} " != *" $target "* && " ${allowed[$place]} " != *" ${target%%/*} "* ]]; then
      echo "$file:$line: '$place' may not include '$target' (allowed: ${allowed[$place]:-nothing})"; status=1
    fi
    if [[ $place == */* && $include == *'"../'* ]]; then
      echo "$file:$line: includes a private header of another folder"; status=1
    fi
    if [[ $include =~ $CUDA_HEADERS && ! $file =~ $CUDA_FILES ]]; then
      echo "$file:$line: CUDA headers belong into src/comm, src/model/device, src/train/monitor/gpu.cpp"; status=1
    fi
    for header in "${!owner[@]}"; do
      if [[ $include == *"<$header"* ]] && [[ " ${owner[$header]} " != *" $module "* ]]; then
        echo "$file:$line: <$header> belongs into module ${owner[$header]} only"; status=1
      fi
      if [[ $include == *"<$header"* && $file == include/* ]]; then
        echo "$file:$line: <$header> may not appear in a public header"; status=1
      fi
    done
  done < <(grep -n '^#include' "$file")
done < <(git ls-files 'include/**/*.h' 'src/**/*.h' 'src/**/*.cpp' 'data_prep/*.h' 'data_prep/*.cpp')

# A header belongs into include/ only if it has a user outside of its module: another module, data_prep, a test of another
# module, a document that links it for programs of users, or another public header that needs it. Other headers belong into
# src/, where the tests of their module can include them, too.
private=$(git grep --untracked -oE '^#include "traffic/[^"]*"|\(\.\./\.\./include/traffic/[^)]*\)' -- '*.h' '*.cpp' docs | awk -F: '
  function module(file,  part) {
    split(file, part, "/")
    return part[1] == "include" ? part[3] : part[1] == "src" || part[1] == "tests" ? part[2] : part[1]
  }
  function need(header,  user) {  # marks the header and the headers that it includes
    if (header in needed) return
    needed[header]
    for (user in includes) if (index(user, header " ") == 1) need(substr(user, length(header) + 2))
  }
  { split($2, part, "\""); header = "include/" part[2]
    if ($1 ~ /^docs\//) header = substr($2, length("(../../") + 1, length($2) - length("(../../)"))
    if ($1 ~ /^include\//) includes[$1 " " header]
    if (module($1) != module(header)) outside[header] }
  END {
    for (header in outside) need(header)
    while (("git ls-files include" | getline header) > 0) if (!(header in needed)) print header
  }')
for header in $private; do
  echo "$header: only module $(cut -d/ -f3 <<<"$header") includes this header: move it to src"; status=1
done

mapfile -t sources < <(git ls-files '*.h' '*.cpp')
if ! clang-format --dry-run --Werror "${sources[@]}"; then
  echo "some files are not formatted: run clang-format -i on the files above"; status=1
fi

if [ "${1:-}" = --tidy ]; then
  # Checks only sources without the torch headers. The others take 20 s each and include many of the same headers.
  mapfile -t light < <(git ls-files 'src/core/*.cpp' 'src/config/*.cpp' 'src/scene/*.cpp' 'src/game/*.cpp' 'src/sim/*.cpp' \
    'src/report/*.cpp' 'data_prep/*.cpp')
  cmake --preset dev > build/dev.log  # one command for each file: the release preset joins files
  printf '%s\n' "${light[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/dev --quiet || status=1
fi
if [ $status = 0 ]; then echo "checks passed"; fi
exit $status
