#!/usr/bin/env bash
# Measures collectives between simulated nodes (network namespaces, tests/nodes/nodes.sh) with one rank each, and
# compares them with the model in docs/design/scaling.md. The links must be slow enough to be the bottleneck: all nodes
# share this machine, whose cores would otherwise limit the rate.
# Usage: tests/benchmarks/nodes_model.sh [RATE_MBIT [NODES...]]     (default: 100 1 2 4 8)
set -euo pipefail
cd "$(dirname "$0")/../.."
rate=${1:-100}
shift $(($# < 1 ? $# : 1))
counts=("$@")
if [ ${#counts[@]} = 0 ]; then counts=(1 2 4 8); fi
echo "| ranks | what | predicted ms | measured ms | measured / predicted |"
for nodes in "${counts[@]}"; do
  tests/nodes/nodes.sh run "$nodes" 1 sh -c "tests/nodes/nodes.sh rate ${rate}mbit &&
    ./launch/mpirun.sh -np $nodes build/release/bin/bench_nodes_model $rate"
done
