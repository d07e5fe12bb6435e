/// Makes random traffic in the form in which a simulation answers a rank, for benchmarks.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "benchmarks/synthetic_windows.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/frame.h"
#include "train/policy/perception.h"

namespace traffic::benchmarks {

inline constexpr std::int64_t kCandidates = 6;  ///< maximum number of candidates per simulation
inline constexpr std::int64_t kConnected = 4;   ///< one of this many vehicles is connected

/// An answer of a simulation with random traffic.
struct Answer {
  /// One of kConnected vehicles is connected. The first kCandidates connected ones are candidates,
  /// which means that the policy may command them.
  Answer(std::uint64_t seed, std::int64_t vehicles)
      : graph(make_windows(1, static_cast<std::int64_t>(scene::node_features().size()), seed, 1,
                           vehicles)
                  .graph),
        ids(static_cast<std::size_t>(vehicles)) {
    std::iota(ids.begin(), ids.end(), 0U);
    graph.node_features.select(1, scene::node_feature_index("is_cv")).zero_();
    for (std::int64_t node = 0; node < vehicles; node += kConnected) {
      graph.node_features[node][scene::node_feature_index("is_cv")] = 1;
      if (std::ssize(candidates) < kCandidates) {
        candidates.push_back({.node = static_cast<std::int32_t>(node)});
      }
    }
    const auto all = [](const torch::Tensor& t, const auto* data) {
      return std::span(data, static_cast<std::size_t>(t.numel()));
    };
    period.sections.get<rollout::VehicleSection>().frames.push_back(
        {.vehicle_id = ids,
         .node_features = all(graph.node_features, graph.node_features.const_data_ptr<float>()),
         .edge_ptr = all(graph.edge_ptr, graph.edge_ptr.const_data_ptr<std::int32_t>()),
         .edge_src = all(graph.edge_src, graph.edge_src.const_data_ptr<std::int32_t>()),
         .edge_features = all(graph.edge_features, graph.edge_features.const_data_ptr<float>()),
         .global_features = globals});
    period.sections.get<rollout::VehicleSection>().candidates = candidates;
  }

  model::GraphBatch graph;
  std::vector<std::uint32_t> ids;
  std::vector<float> globals = std::vector<float>(scene::global_features().size());
  std::vector<scene::Candidate> candidates;
  rollout::Period period;
  train::RecurrentState memory;
};

}  // namespace traffic::benchmarks
