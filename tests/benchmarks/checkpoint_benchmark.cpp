// Measures how long it takes to save, verify and load a checkpoint with 15 million parameters, each
// with two moments of the optimizer. Saving is measured in the caller's and in a background thread.
#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <filesystem>

#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/manager.h"
#include "traffic/checkpoint/saver.h"

namespace traffic::checkpoint {
namespace {

Snapshot make_snapshot() {
  constexpr std::int64_t kNumParameters = 15'000'000;
  Snapshot snapshot(1);
  for (const char* name : {"model/parameters", "optimizer/exp_avg", "optimizer/exp_avg_sq"}) {
    snapshot.put_tensor(name, at::rand({kNumParameters}));
  }
  return snapshot;
}

std::filesystem::path file() {
  return std::filesystem::temp_directory_path() / "bench-checkpoint.h5";
}

void count_bytes(benchmark::State& state, const Snapshot& snapshot) {
  state.SetBytesProcessed(state.iterations() * snapshot.total_bytes());
  std::filesystem::remove(file());
}

void bm_save(benchmark::State& state) {
  const Snapshot snapshot = make_snapshot();
  for (auto _ : state) save(snapshot, file());
  count_bytes(state, snapshot);
}
BENCHMARK(bm_save)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures how long a save by a background thread interrupts the training. Between two saves the
/// benchmark waits for the thread, and this time does not count: a training saves every few
/// minutes, so the thread has finished by then.
void bm_pause(benchmark::State& state) {
  const Snapshot snapshot = make_snapshot();
  CheckpointManager manager(std::filesystem::temp_directory_path() / "bench-checkpoints", 1,
                            "result");
  Saver saver(manager, 1,
              [&](std::int64_t, const std::string& why) { state.SkipWithError(why.c_str()); });
  for (auto _ : state) {
    saver.begin(snapshot, /*best=*/false);
    state.PauseTiming();
    saver.wait();
    state.ResumeTiming();
  }
  count_bytes(state, snapshot);
  std::filesystem::remove_all(manager.dir());
}
BENCHMARK(bm_pause)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Measures only the copy of the tensors, for comparison with bm_pause. It is the minimum of the
/// interruption, because the thread could do all other work.
void bm_clone(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Snapshot snapshot = make_snapshot();
    const Snapshot original = snapshot;
    state.ResumeTiming();
    snapshot.own_tensors();
  }
}
BENCHMARK(bm_clone)->Unit(benchmark::kMillisecond)->UseRealTime();

void bm_verify(benchmark::State& state) {
  const Snapshot snapshot = make_snapshot();
  save(snapshot, file());
  for (auto _ : state) verify(file());
  count_bytes(state, snapshot);
}
BENCHMARK(bm_verify)->Unit(benchmark::kMillisecond)->UseRealTime();

void bm_load(benchmark::State& state) {
  const Snapshot snapshot = make_snapshot();
  save(snapshot, file());
  for (auto _ : state) benchmark::DoNotOptimize(load(file()));
  count_bytes(state, snapshot);
}
BENCHMARK(bm_load)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace traffic::checkpoint

BENCHMARK_MAIN();
