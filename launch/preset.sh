#!/usr/bin/env bash
# Which build this machine is for, the one that the documented commands use: cuda where there is an NVIDIA GPU, else
# release. Usage: launch/preset.sh [--gpus]   (--gpus: how many GPUs there are instead)
set -euo pipefail
gpus=0
if command -v nvidia-smi >/dev/null; then gpus=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU ' || true); fi
case "${1:-}" in
  --gpus) echo "$gpus" ;;
  '') if [ "$gpus" -gt 0 ]; then echo cuda; else echo release; fi ;;
  *) echo "usage: launch/preset.sh [--gpus]" >&2; exit 2 ;;
esac
