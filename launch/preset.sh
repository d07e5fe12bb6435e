#!/usr/bin/env bash
# Prints the name of the build preset for this machine: cuda if it has an NVIDIA GPU, otherwise release.
# Usage: launch/preset.sh [--gpus]   (--gpus: prints the number of GPUs)
set -euo pipefail
gpus=0
if command -v nvidia-smi >/dev/null; then gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true); fi
case "${1:-}" in
  --gpus) echo "$gpus" ;;
  '') if [ "$gpus" -gt 0 ]; then echo cuda; else echo release; fi ;;
  *) echo "usage: launch/preset.sh [--gpus]" >&2; exit 2 ;;
esac
