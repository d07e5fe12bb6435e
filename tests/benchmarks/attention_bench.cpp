// Segment attention, fused beside ATen operations, forward and backward, one thread, on the graphs
// of phase 1 (synthetic_windows.h): arguments are heads and channels of a head.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include "benchmarks/synthetic_windows.h"
#include "traffic/model/segment_attention.h"

namespace {

using namespace traffic;
using torch::Tensor;

using Operation = at::Tensor (*)(const at::Tensor&, const model::GraphBatch&,
                                 const model::EdgeParameters&, std::int64_t);

void attention(benchmark::State& state, Operation operation, bool backward) {
  at::set_num_threads(1);
  const std::int64_t heads = state.range(0);
  const std::int64_t width = heads * state.range(1);
  const auto windows = benchmarks::make_windows(8);
  const std::int64_t nodes = windows.graph.num_nodes();
  const auto draw = [&](at::IntArrayRef sizes) {
    return torch::randn(sizes).requires_grad_(backward);
  };
  const Tensor qkv = draw({nodes, 3 * width});
  const model::EdgeParameters p{draw({width, 4}), draw({32, 4}), draw({32}), draw({heads, 32}),
                                draw({heads})};
  const Tensor cotangent = torch::randn({nodes, width});
  for (auto _ : state) {
    const Tensor out = operation(qkv, windows.graph, p, heads);
    if (backward) out.backward(cotangent);
    benchmark::DoNotOptimize(out.data_ptr());
  }
  state.counters["edges/s"] = benchmark::Counter(static_cast<double>(windows.graph.num_edges()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void fused_forward(benchmark::State& s) { attention(s, model::segment_attention, false); }
void fused_both(benchmark::State& s) { attention(s, model::segment_attention, true); }
void aten_forward(benchmark::State& s) { attention(s, model::segment_attention_reference, false); }
void aten_both(benchmark::State& s) { attention(s, model::segment_attention_reference, true); }

BENCHMARK(fused_forward)->Args({8, 32})->Args({4, 16})->Unit(benchmark::kMillisecond);
BENCHMARK(aten_forward)->Args({8, 32})->Args({4, 16})->Unit(benchmark::kMillisecond);
BENCHMARK(fused_both)->Args({8, 32})->Args({4, 16})->Unit(benchmark::kMillisecond);
BENCHMARK(aten_both)->Args({8, 32})->Args({4, 16})->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
