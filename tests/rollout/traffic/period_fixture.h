/// A period with all sections, which tests write, damage and read.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rollout/traffic/light_section.h"
#include "rollout/traffic/period_codec.h"
#include "rollout/traffic/vehicle_section.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/signal_graph.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout::testing {

/// A frame of n vehicles, each with the vehicle before it as neighbour. Every field and vehicle has
/// different numbers.
inline scene::GraphFrame make_frame(std::uint32_t n, double time_s) {
  scene::GraphFrame frame;
  frame.time_s = time_s;
  const auto num_features = static_cast<std::uint32_t>(scene::node_features().size());
  frame.edge_ptr.push_back(0);
  for (std::uint32_t i = 0; i < n; ++i) {
    frame.vehicle_id.push_back(10 + 2 * i);
    frame.xy_m.insert(frame.xy_m.end(), {static_cast<float>(i), 0.5F});
    for (std::uint32_t f = 0; f < num_features; ++f) {
      frame.node_features.push_back(static_cast<float>(100 * i + f));
    }
    if (i > 0) {
      frame.edge_src.push_back(static_cast<std::int32_t>(i) - 1);
      for (int f = 0; f < 4; ++f) frame.edge_features.push_back(static_cast<float>(i) + 0.25F);
    }
    frame.edge_ptr.push_back(static_cast<std::int32_t>(frame.edge_src.size()));
  }
  frame.global_features.fill(3.5F);
  return frame;
}

/// Observations of three lights, two of which may choose. The remaining light shows none of its
/// options.
struct LightFixture {
  std::vector<double> cost_s{1.5, 0.0, 2.25};
  std::vector<LightChoice> choices{{.light = 0, .num_greens = 2, .present = 1},
                                   {.light = 2, .num_greens = 3, .present = 0}};
  std::vector<float> rows = std::vector<float>(5 * scene::signal_features().size(), 0.5F);
  scene::SignalGraph graph = make_graph();
  std::vector<LightChoice> idle{{.light = 1, .num_greens = 2, .present = -1}};
  std::vector<float> idle_rows = std::vector<float>(2 * scene::signal_features().size(), 0.75F);
  std::string ids{"A\0BC\0D\0", 7};

  /// The first light sees both others.
  static scene::SignalGraph make_graph() {
    scene::SignalGraph graph;
    graph.node_features.assign(3 * scene::num_signal_node_features(), 0.25F);
    graph.edge_ptr = {0, 2, 2, 2};
    graph.edge_src = {1, 2};
    graph.edge_features = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F};
    return graph;
  }
  /// @return views into this fixture
  [[nodiscard]] LightSection section() const {
    return {.cost_s = cost_s,
            .choices = choices,
            .rows = rows,
            .graph = graph.view(),
            .idle = idle,
            .idle_rows = idle_rows,
            .ids = ids};
  }
};

/// A period of three steps on a road with two conflicts.
struct PeriodFixture {
  std::vector<scene::GraphFrame> frames{make_frame(0, 1.0), make_frame(3, 2.0), make_frame(4, 3.0)};
  std::vector<double> growth{0.5, 0.25, 0.125};
  std::vector<double> conflict_growth{0.5, 0, 0.25, 0, 0, 0.125};
  std::vector<scene::Candidate> candidates{{.node = 1, .conflict = 0, .approach = 1},
                                           {.node = 3, .conflict = 1, .approach = 0}};
  std::vector<ControlledVehicle> controlled{
      {.vehicle_id = 12, .conflict = 1, .steps = 3, .hard_brakes = 1, .unsafe_steps = 2}};
  std::vector<scene::Command> scripted{
      {.vehicle_id = 12, .longitudinal = scene::Longitudinal::kStop, .hold_s = 1.0}};
  std::vector<scene::Command> advice{
      {.vehicle_id = 16, .longitudinal = scene::Longitudinal::kFast, .hold_s = 3.0}};
  LightSection lights{};
  scene::EpisodeScore score = make_score();

  static scene::EpisodeScore make_score() {
    scene::EpisodeScore score;
    score.arrived = 7;
    score.completion_sum = 1.75;
    return score;
  }
  [[nodiscard]] Period period() const {
    Period period;
    period.time_s = 3.0;
    period.truncated = true;
    period.num_conflicts = 2;
    period.growth = growth;
    period.conflict_growth = conflict_growth;
    period.score = score;
    return period;
  }

  [[nodiscard]] VehicleSection vehicles() const {
    VehicleSection section;
    section.candidates = candidates;
    section.controlled = controlled;
    section.scripted = scripted;
    section.advice = advice;
    for (const auto& frame : frames) section.frames.push_back(frame.view());
    return section;
  }

  /// @return the bytes of the period, in the front of buffer
  std::span<std::byte> write(std::span<std::byte> buffer) const {
    PeriodWriter writer(period(), buffer);
    writer.add(kVehicles, [&](ByteWriter& section) { write_vehicles(vehicles(), section); });
    writer.add(kLights, [&](ByteWriter& section) { write_lights(lights, section); });
    return buffer.first(writer.size());
  }

  /// The settings of a simulation that has room for the period.
  static config::Config settings(std::int64_t max_vehicles) {
    config::Config config;
    config.env.agents = {"vehicles", "lights"};
    config.rollout.max_vehicles = max_vehicles;
    return config;
  }

  /// The bytes of the period in memory of exactly this size, so that AddressSanitizer reports
  /// reading beyond the end.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> buffer(period_bytes(settings(8)));
    const auto used = write(buffer);
    return {used.begin(), used.end()};
  }
};

}  // namespace traffic::rollout::testing
