/// Measures how many batches per second the loader makes. For comparison it also measures how fast
/// the bytes of the batches can be copied. BENCH_DATA=GLOB measures with these files instead of
/// synthetic traffic.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "data/synthetic.h"
#include "traffic/data/dataset.h"
#include "traffic/data/traffic_batches.h"

namespace {

using namespace traffic;

/// Settings with synthetic files that are as large as recordings of the merge scenario: about 250
/// vehicles with 8 neighbours each.
const config::Data& bench_data() {
  static const data::test::TempDir dir;
  static const config::Data options = [] {
    config::Data data;
    if (const char* files = std::getenv("BENCH_DATA")) {
      data.files = {files};
      return data;
    }
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto path = dir / ("bench-" + std::to_string(seed) + ".h5");
      data::test::write_file(path,
                             {{{.seed = seed, .frames = 600, .vehicles = 500, .edge_share = 0.05}}},
                             {.compression_level = 1});
      data.files.push_back(path);
    }
    return data;
  }();
  return options;
}

std::shared_ptr<const data::Dataset> bench_dataset(const config::Data& options) {
  return std::make_shared<const data::Dataset>(data::open_data_files(options).files,
                                               data::Split::kTrain, data::window_options(options));
}

std::shared_ptr<const data::BatchSource<data::Batch>> bench_batches(
    std::shared_ptr<const data::Dataset> dataset, const data::LoaderOptions& options) {
  return data::traffic_batches(std::move(dataset),
                               data::batch_options(options.data, options.seed, false));
}

/// One epoch with decoding, cropping and packing.
/// @param state range(0): number of reader threads; range(1): whether samples are augmented
void loader_epoch(benchmark::State& state) {
  data::LoaderOptions options{.data = bench_data(), .seed = 1};
  options.data.num_workers = state.range(0);
  options.data.drop_last = false;
  options.data.augmentation.enabled = state.range(1) != 0;
  const auto dataset = bench_dataset(options.data);
  std::int64_t samples = 0;
  std::int64_t batches = 0;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  std::int64_t vehicles = 0;
  std::int64_t edges = 0;
  for (auto _ : state) {
    data::TrafficLoader loader(bench_batches(dataset, options), options);
    loader.start_epoch(0);
    while (const auto batch = loader.next()) {
      samples += batch->num_samples();
      vehicles += batch->num_vehicles();
      edges += batch->num_edges();
      bytes += batch->num_bytes();
      ++batches;
    }
    blocks += loader.blocks_decoded();
  }
  state.SetItemsProcessed(samples);
  state.SetBytesProcessed(bytes);
  state.counters["seconds_per_batch"] = benchmark::Counter(
      static_cast<double>(batches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  const auto per_epoch = [&](std::int64_t count) {
    return static_cast<double>(count) / static_cast<double>(state.iterations());
  };
  state.counters["blocks_per_epoch"] = per_epoch(blocks);
  state.counters["samples_per_epoch"] = per_epoch(samples);
  state.counters["vehicles_per_epoch"] = per_epoch(vehicles);
  state.counters["edges_per_epoch"] = per_epoch(edges);
  state.counters["blocks"] = static_cast<double>(dataset->blocks().size());
}
BENCHMARK(loader_epoch)
    ->ArgsProduct({{0, 1, 2}, {0, 1}})
    ->ArgNames({"threads", "augment"})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// One epoch with all blocks in the cache, so only with cropping and packing.
void loader_epoch_cached(benchmark::State& state) {
  data::LoaderOptions options{.data = bench_data(), .seed = 1};
  options.data.num_workers = 0;
  options.data.cache_mb = 1 << 20;
  const auto dataset = bench_dataset(options.data);
  data::TrafficLoader loader(bench_batches(dataset, options), options);
  std::int64_t epoch = 0;
  const auto run_epoch = [&](auto&& count) {
    loader.start_epoch(epoch++);
    while (const auto batch = loader.next()) count(*batch);
  };
  run_epoch([](const data::Batch&) {});
  std::int64_t samples = 0;
  std::int64_t batches = 0;
  std::int64_t bytes = 0;
  for (auto _ : state) {
    run_epoch([&](const data::Batch& batch) {
      samples += batch.num_samples();
      bytes += batch.num_bytes();
      ++batches;
    });
  }
  state.SetItemsProcessed(samples);
  state.SetBytesProcessed(bytes);
  state.counters["seconds_per_batch"] = benchmark::Counter(
      static_cast<double>(batches), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(loader_epoch_cached)->Unit(benchmark::kMillisecond)->UseRealTime();

/// Copies the bytes of a batch, which is the maximum rate of any loader.
void copy_batch(benchmark::State& state) {
  const data::LoaderOptions options{.data = bench_data(), .seed = 1};
  data::TrafficLoader loader(bench_batches(bench_dataset(options.data), options), options);
  loader.start_epoch(0);
  const auto bytes = static_cast<std::size_t>(loader.next()->num_bytes());
  const std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}
BENCHMARK(copy_batch);

}  // namespace

BENCHMARK_MAIN();
