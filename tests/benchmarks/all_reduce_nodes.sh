#!/usr/bin/env bash
# Measures all-reduce between simulated nodes (network namespaces of this machine, tests/nodes/nodes.sh) over links of
# given rates.
# Usage: tests/benchmarks/all_reduce_nodes.sh [NODES [RANKS_A_NODE [RATE...]]]     (default: 2 1 1gbit 10gbit)
set -euo pipefail
cd "$(dirname "$0")/../.."
nodes=${1:-2} ranks=${2:-1}
shift $(($# < 2 ? $# : 2))
rates=("$@")
if [ ${#rates[@]} = 0 ]; then rates=(1gbit 10gbit); fi
for rate in "${rates[@]}"; do
  echo "$nodes nodes of $ranks ranks, links of $rate"
  tests/nodes/nodes.sh run "$nodes" "$ranks" sh -c "tests/nodes/nodes.sh rate $rate &&
    ./launch/mpirun.sh -np $((nodes * ranks)) build/release/bin/bench_all_reduce"
done
