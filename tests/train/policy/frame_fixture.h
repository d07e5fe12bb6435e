/// Synthetic traffic for tests of the vehicles' policy: frames, control periods, and a
/// configuration with a small model.
#pragma once

#include <list>
#include <span>
#include <utility>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/core/random.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/frame.h"

namespace traffic::train::testing {

/// A frame with vehicles in a row. The neighbour of each vehicle is the one before it. Vehicles
/// with odd ids are connected. The features of a vehicle depend only on its id.
inline scene::GraphFrame frame_of(std::vector<std::uint32_t> vehicles, std::uint64_t seed) {
  scene::GraphFrame frame;
  frame.vehicle_id = std::move(vehicles);
  frame.edge_ptr = {0};
  Rng rng(seed);
  const std::size_t columns = scene::node_features().size();
  const auto is_cv = static_cast<std::size_t>(scene::node_feature_index("is_cv"));
  for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i) {
    const std::uint32_t id = frame.vehicle_id[i];
    for (std::size_t c = 0; c < columns; ++c) {
      Rng own(derive_seed(id, {c}));
      frame.node_features.push_back(c == is_cv ? static_cast<float>(id % 2)
                                               : static_cast<float>(own.uniform()));
    }
    frame.xy_m.insert(frame.xy_m.end(), {0.0F, 0.0F});
    if (i > 0) {
      frame.edge_src.push_back(static_cast<std::int32_t>(i) - 1);
      frame.edge_features.insert(frame.edge_features.end(), {10.0F, 0.5F, 10.0F, 2.0F});
    }
    frame.edge_ptr.push_back(static_cast<std::int32_t>(frame.edge_src.size()));
  }
  for (float& value : frame.global_features) value = static_cast<float>(rng.uniform());
  return frame;
}

inline void set_feature(scene::GraphFrame& frame, std::size_t vehicle, const char* name,
                        float value) {
  const std::size_t columns = scene::node_features().size();
  frame.node_features[vehicle * columns +
                      static_cast<std::size_t>(scene::node_feature_index(name))] = value;
}

/// A configuration with a small model.
inline config::Config small_perception() {
  config::Config config;
  config.model = {.hidden_dim = 32,
                  .gnn_layers = 1,
                  .num_heads = 2,
                  .lstm_hidden = 32,
                  .lstm_layers = 1,
                  .latent_dim = 8};
  return config;
}

inline rollout::Period period_of(const std::list<scene::GraphFrame>& frames,
                                 std::span<const scene::Candidate> candidates) {
  rollout::Period period;
  for (const scene::GraphFrame& frame : frames)
    period.sections.get<rollout::VehicleSection>().frames.push_back(frame.view());
  period.sections.get<rollout::VehicleSection>().candidates = candidates;
  return period;
}

}  // namespace traffic::train::testing
