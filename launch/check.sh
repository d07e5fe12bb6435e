#!/usr/bin/env bash
# Static checks: includes follow the module order, sources are formatted. Usage: launch/check.sh [--tidy]
set -euo pipefail
cd "$(dirname "$0")/.."
status=0

# What each module may include, besides itself (docs/architecture.md).
declare -A allowed=(
  [core]="" [config]="core" [scene]="config core" [sim]="scene config core" [comm]="config core"
  [data]="scene config core" [model]="config core" [rl]="config core" [checkpoint]="config core"
  [report]="config core" [rollout]="comm sim scene config core"
  [train]="data model rl rollout checkpoint report comm sim scene config core"
  [apps]="train data model rl rollout checkpoint report comm sim scene config core"
  [data_prep]="data report sim scene config core")
# The rooms of train, likewise; all may include what train may. `table` is what stands beside the rooms.
declare -A rooms=(
  [optim]="" [run]="" [policy]="optim run" [rollouts]="policy optim run" [ppo]="rollouts policy optim run"
  [world_model]="optim run" [evaluate]="policy run" [doctor]="run"
  [table]="world_model ppo rollouts policy optim run evaluate")
# Third-party headers that stay inside one module.
declare -A owner=([mpi.h]="comm rollout" [nccl.h]="comm" [hdf5.h]="data checkpoint" [libsumo/]="sim")
# CUDA's headers stay in these files.
readonly CUDA_HEADERS='<(c10/cuda/|ATen/cuda/|cuda|nvrtc)'
readonly CUDA_FILES='^src/(comm/|model/device/|train/run/gpu\.cpp$)'

module_of() {  # path -> module
  case "$1" in
    include/traffic/*) echo "$1" | cut -d/ -f3 ;;
    src/*) echo "$1" | cut -d/ -f2 ;;
    data_prep/*) echo data_prep ;;
  esac
}
room_of() {  # path in train -> room
  local rest=${1#src/train/}; rest=${rest#include/traffic/train/}
  case "$rest" in */*) echo "${rest%%/*}" ;; *) echo table ;; esac
}
while IFS= read -r file; do
  module=$(module_of "$file")
  while IFS=: read -r line include; do
    target=$(sed -n 's|.*[<"]traffic/\([a-z]*\)/.*|\1|p' <<<"$include")
    if [ -n "$target" ] && [ "$target" != "$module" ] && [[ " ${allowed[$module]} " != *" $target "* ]]; then
      echo "$file:$line: module '$module' may not include '$target' (may: ${allowed[$module]:-nothing})"; status=1
    fi
    if [ "$module" = train ] && [ "${file#tests/}" = "$file" ]; then
      room=$(room_of "$file")
      target=$(sed -n -e 's|.*"traffic/train/\([a-z_]*\)/.*|\1|p' -e '/"traffic/!s|.*"\([a-z_]*\)/.*|\1|p' <<<"$include")
      if [ -n "$target" ] && [ "$target" != "$room" ] && [[ " ${rooms[$room]} " != *" $target "* ]]; then
        echo "$file:$line: room '$room' of train may not include '$target' (may: ${rooms[$room]:-no other})"; status=1
      fi
    fi
    if [[ $include =~ $CUDA_HEADERS && ! $file =~ $CUDA_FILES ]]; then
      echo "$file:$line: CUDA headers belong into src/comm, src/model/device, src/train/run/gpu.cpp"; status=1
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

mapfile -t sources < <(git ls-files '*.h' '*.cpp')
if ! clang-format --dry-run --Werror "${sources[@]}"; then
  echo "not formatted: run clang-format -i on the files above"; status=1
fi

if [ "${1:-}" = --tidy ]; then
  # Sources without the torch headers: those take 20 s each and share their headers' checks with the rest.
  mapfile -t light < <(git ls-files 'src/core/*.cpp' 'src/config/*.cpp' 'src/scene/*.cpp' 'src/sim/*.cpp' \
    'src/report/*.cpp' 'data_prep/*.cpp')
  cmake --preset dev > build/dev.log  # one command for each file: the release preset joins files
  printf '%s\n' "${light[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/dev --quiet || status=1
fi
if [ $status = 0 ]; then echo "checks passed"; fi
exit $status
