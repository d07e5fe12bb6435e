/// The agent `lights` within a simulation: carries out choices, measures the time lost before each
/// light, and reports the lights that must choose.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_graph.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

class ActingLights {
 public:
  /// The part of the program that sets the lights in an episode.
  enum class Setter {
    kProgram,  ///< the network's own programs
    kScript,   ///< a scripted controller within the simulation
    kRank,     ///< the rank, through obey()
  };

  explicit ActingLights(const config::Config& config)
      : chooser_(config.lights.advisor, sim::controller_options(config)) {}

  /// Begins an episode in a simulation that has been reset.
  /// @param shows_graph the rank needs the graph of all lights
  void begin(sim::SumoEnv& sumo, Setter setter, bool shows_graph, std::uint64_t seed);
  /// Carries out the rank's choices and begins a control period.
  void obey(std::span<const scene::SignalCommand> chosen);
  /// Adds up the time lost in one step of the simulation.
  void note_step();
  /// The section of the period that ends; valid until the next call of any function.
  /// @param done the episode has ended: no light chooses any more
  [[nodiscard]] LightSection section(bool done);

 private:
  LightChooser chooser_;
  sim::SumoEnv* sumo_ = nullptr;
  Setter setter_ = Setter::kProgram;
  std::optional<scene::SignalGraphBuilder> graph_builder_;  ///< if the graph is needed
  // Measured or found in the present control period:
  std::vector<double> lost_s_;
  std::vector<LightChoice> choices_;
  std::vector<float> rows_;
  scene::SignalGraph graph_;
};

}  // namespace traffic::rollout
