#!/usr/bin/env bash
# Installs the libraries and tools of the project: Debian packages (system-wide), and Python wheels from PyPI (into
# .deps/). launch/wheels.txt lists the accepted hashes of the wheels.
# Usage: launch/setup.sh [--cuda] [--tests] [--fuzz]
#   --cuda   also the CUDA libraries of the torch wheel (the default if the machine has an NVIDIA GPU)
#   --tests  also the packages that only the tests need
#   --fuzz   also clang with libFuzzer, for tests/fuzz/run.sh
# You can run it again: it skips what is installed already, and uses no network if everything is installed.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TORCH_VERSION=2.15.0 SUMO_VERSION=1.28.0 CUDART_VERSION=13.5.37 CUPTI_VERSION=13.5.25
readonly ONNXRUNTIME_VERSION=1.32.0
readonly TENSORBOARD=(tensorboard==2.20.0 protobuf==6.33.1 numpy==2.2.6 absl-py==2.3.1 packaging==25.0)
readonly PYTHON=(gymnasium==1.4.0 pettingzoo==1.27.0 stable-baselines3==2.9.2 cloudpickle==3.1.3 farama-notifications==0.0.6
  typing_extensions==4.16.0)
readonly PACKAGES=(g++ cmake ninja-build ccache pkg-config git python3 python3-pip
  libopenmpi-dev openmpi-bin libhdf5-dev libtomlplusplus-dev libspdlog-dev libfmt-dev libcli11-dev
  nlohmann-json3-dev libjs-chart.js libpugixml-dev libexpat1-dev zlib1g-dev libdeflate-dev libxxhash-dev libjemalloc-dev
  libprotobuf-dev protobuf-compiler
  libgtest-dev libgmock-dev libbenchmark-dev)
readonly TEST_PACKAGES=(iproute2 clang-format clang-tidy chromium-headless-shell fonts-dejavu-core)
readonly FUZZ_PACKAGES=(clang libclang-rt-dev)
readonly SLURM_PACKAGES=(slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge)  # 13 MB; unpacked, not installed

say() { printf '[setup] %s\n' "$*"; }
die() { printf '[setup] error: %s\n' "$*" >&2; exit 1; }

cuda=false tests=false fuzz=false
for arg in "$@"; do
  case "$arg" in
    --cuda) cuda=true ;;
    --tests) tests=true ;;
    --fuzz) fuzz=true ;;
    *) die "unknown argument '$arg' (known: --cuda --tests --fuzz)" ;;
  esac
done
if [ "$(./launch/preset.sh)" = cuda ]; then cuda=true; fi

sudo=()
if [ "$(id -u)" != 0 ]; then sudo=(sudo); fi

install_packages() {
  local wanted=("${PACKAGES[@]}") missing=()
  if $tests; then wanted+=("${TEST_PACKAGES[@]}"); fi
  if $fuzz; then wanted+=("${FUZZ_PACKAGES[@]}"); fi
  for package in "${wanted[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} = 0 ]; then say "Debian packages: all are installed already"; return; fi
  command -v apt-get >/dev/null || die "this script knows Debian and Ubuntu only; install by hand: ${missing[*]}"
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null ||
    die "not root and no sudo: ask an administrator to install ${missing[*]}"
  say "Debian packages: installing ${missing[*]}"
  "${sudo[@]}" apt-get update -qq || die "apt-get update failed: is this machine online?"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null || die "apt-get could not install ${missing[*]}: is this machine online, is the disk full?"
}

# hashes_of WHEEL...: prints the lines of these wheels in launch/wheels.txt
hashes_of() {
  local wheel
  for wheel in "$@"; do
    grep -m 1 -F -- "$wheel --hash=" launch/wheels.txt || die "launch/wheels.txt has no hash of $wheel"
  done
}

# install_wheels FOLDER WHEEL...: installs exactly these wheels into .deps/FOLDER, unless they are there already
install_wheels() {
  local folder=".deps/$1"; shift
  local stamp="$folder/.installed" list="--no-deps $*"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$list" ]; then say "$folder: installed already"; return; fi
  say "$folder: installing $*"
  rm -rf "$folder" "$folder.part"
  hashes_of "$@" >.deps/wheels.part
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-warn-conflicts \
    --no-compile --target "$folder.part" --no-deps --only-binary=:all: --require-hashes -r .deps/wheels.part || {
    rm -rf "$folder.part"
    die "pip could not install $*, see above: is this machine offline (PyPI), is the disk full, or is Python not 3.11 to 3.13?"
  }
  mv "$folder.part" "$folder"
  rm .deps/wheels.part
  printf '%s' "$list" >"$stamp"
}

# unpack_packages FOLDER PACKAGE...: unpacks Debian packages into .deps/FOLDER. Installing them would start services.
unpack_packages() {
  local folder=".deps/$1"; shift
  if [ -f "$folder/.installed" ] && [ "$(cat "$folder/.installed")" = "$*" ]; then say "$folder: installed already"; return; fi
  say "$folder: unpacking $*"
  rm -rf "$folder" "$folder.part"
  mkdir -p "$folder.part"
  (cd "$folder.part" &&
    { apt-get download -qq "$@" 2>/dev/null || { "${sudo[@]}" apt-get update -qq && apt-get download -qq "$@"; }; } &&
    for package in *.deb; do dpkg -x "$package" . && rm "$package" || exit 1; done) ||
    { rm -rf "$folder.part"; die "apt-get could not download $*: is this machine online, is the disk full?"; }
  mv "$folder.part" "$folder"
  printf '%s' "$*" >"$folder/.installed"
}

install_packages
mkdir -p .deps
free_mb=$(df -Pm .deps | awk 'NR==2 {print $4}')
if [ ! -d .deps/torch ] && [ "$free_mb" -lt 6000 ]; then
  die "only $free_mb MB are free for $PWD/.deps, but the libraries need 6000 MB (12000 MB with --cuda)"
fi
if $cuda; then
  mapfile -t cuda_wheels < <(sed -n -e '1,/^# with --cuda/d' -e 's/ .*//p' launch/wheels.txt)
  install_wheels torch "torch==$TORCH_VERSION" "${cuda_wheels[@]}"
elif [ -d .deps/torch/nvidia/nccl ]; then
  say ".deps/torch: the CUDA libraries are installed, and they work without a GPU, too"
else
  install_wheels torch "torch==$TORCH_VERSION" "nvidia-cuda-runtime==$CUDART_VERSION" \
    "nvidia-cuda-cupti==$CUPTI_VERSION"
fi
install_wheels sumo "eclipse-sumo==$SUMO_VERSION"
if $tests; then
  install_wheels tools "${TENSORBOARD[@]}"
  install_wheels python "${PYTHON[@]}"
  install_wheels onnx "onnxruntime==$ONNXRUNTIME_VERSION"
  unpack_packages slurm "${SLURM_PACKAGES[@]}"
fi
say "done"
