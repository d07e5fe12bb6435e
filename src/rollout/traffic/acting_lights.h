/// The traffic lights of a simulation that act: what they are told, lose and are asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/signal_period.h"
#include "traffic/scene/signal_graph.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

class ActingLights {
 public:
  enum class Who {
    kNobody,  ///< their own programs
    kScript,  ///< within the simulation
    kRank,
  };

  /// An episode has begun in it. @param shows_graph whether the rank wants the graph of all lights
  void begin(sim::SumoEnv& sumo, Who who, bool shows_graph);
  /// The rank's greens, then a control period begins.
  void obey(std::span<const scene::SignalCommand> greens);
  /// After a step of the simulation.
  void note_step();
  /// Time lost before each light in the present period.
  [[nodiscard]] std::span<double> lost_s() { return lost_s_; }
  /// Of the period that ends; valid until the next call.
  [[nodiscard]] SignalPeriod period();

 private:
  sim::SumoEnv* sumo_ = nullptr;
  Who who_ = Who::kNobody;
  std::optional<scene::SignalGraphBuilder> graph_builder_;  ///< where the graph is wanted
  // Of the period under way.
  std::vector<double> lost_s_;
  std::vector<SignalChoice> choices_;
  std::vector<float> rows_;
  scene::SignalGraph graph_;
};

}  // namespace traffic::rollout
