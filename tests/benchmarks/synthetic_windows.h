// Makes random windows as large as those of phase 1, for benchmarks: T frames with V vehicles. In
// each frame a vehicle has 4 to 12 incoming edges, 8 on average.
#pragma once

#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/model/graph_batch.h"
#include "traffic/model/loss.h"

namespace traffic::benchmarks {

struct Windows {
  model::GraphBatch graph;  ///< nodes in the order [T, batch, V]
  model::WorldModelTargets targets;
  std::int64_t frames;
  std::int64_t vehicles;  ///< number of vehicles of all windows together, batch * V
};

inline Windows make_windows(std::int64_t batch, std::int64_t node_features = 9,
                            std::uint64_t seed = 1, std::int64_t frames = 10,
                            std::int64_t per_window = 16) {
  Rng rng(seed);
  torch::manual_seed(seed);
  std::vector<std::int32_t> ptr{0};
  std::vector<std::int32_t> src;
  std::vector<std::int32_t> others(static_cast<std::size_t>(per_window));
  for (std::int64_t g = 0; g < frames * batch; ++g) {
    for (std::int64_t i = 0; i < per_window; ++i) {
      std::iota(others.begin(), others.end(), static_cast<std::int32_t>(g * per_window));
      others.erase(others.begin() + i);
      rng.shuffle(std::span(others));
      const auto degree = static_cast<std::ptrdiff_t>(4 + rng.uniform_int(9));
      src.insert(src.end(), others.begin(), others.begin() + degree);
      ptr.push_back(static_cast<std::int32_t>(src.size()));
      others.resize(static_cast<std::size_t>(per_window));
    }
  }
  const auto edges = static_cast<std::int64_t>(src.size());
  const std::int64_t vehicles = batch * per_window;
  Windows w;
  w.graph = {torch::randn({frames * vehicles, node_features}), torch::tensor(ptr, torch::kInt),
             torch::tensor(src, torch::kInt), torch::randn({edges, 4})};
  w.targets = {torch::randn({vehicles, 5, 4}), torch::ones({vehicles, 5}, torch::kBool),
               (torch::rand({vehicles}) < 0.1).to(torch::kFloat),
               torch::ones({vehicles}, torch::kBool)};
  w.frames = frames;
  w.vehicles = vehicles;
  return w;
}

}  // namespace traffic::benchmarks
