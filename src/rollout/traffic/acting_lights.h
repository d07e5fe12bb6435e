/// ActingLights, the agent `lights` (all traffic lights) within a SUMO simulation. It carries out
/// what the rank's policy chooses, and measures the cost of the traffic before each light. It
/// reports to the rank for which lights the policy must choose next.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/agent_in_simulation.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_graph.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::rollout {

class ActingLights final : public AgentInSimulation {
 public:
  explicit ActingLights(const config::Config& config)
      : chooser_(config.lights.advisor, sim::controller_options(config)),
        shows_graph_(config.lights.encoder_layers > 0) {}

  void begin(const BeginningEpisode& episode) override;
  void begin_period() override;
  void obey(std::span<const std::byte> orders) override;
  void note_step(const MadeStep& step) override;
  void write(ByteWriter& section, bool terminated, bool done) override;

 private:
  /// The part of the program that sets the lights in an episode.
  enum class Setter {
    kProgram,  ///< the network's own programs
    kScript,   ///< a scripted controller within the simulation
    kRank,     ///< the rank, through obey()
  };

  LightChooser chooser_;
  bool shows_graph_;         ///< whether the rank needs the graph of all lights
  bool shows_idle_ = false;  ///< value of EpisodeSpec::idle_lights
  sim::SumoEnv* sumo_ = nullptr;
  LightCost cost_;  ///< of the present episode
  Setter setter_ = Setter::kProgram;
  std::optional<scene::SignalGraphBuilder> graph_builder_;  ///< empty if no graph is needed
  // Measured or found in the present control period:
  std::vector<double> costs_s_;       ///< [lights] cost of the traffic before each light
  std::vector<LightChoice> choices_;  ///< lights for which the policy must choose
  std::vector<float> rows_;           ///< features of the greens among which they can choose
  scene::SignalGraph graph_;
  std::vector<LightChoice> idle_;  ///< lights that may not switch; empty unless shows_idle_
  std::vector<float> idle_rows_;   ///< features of their greens
  std::vector<char> ids_;          ///< LightSection::ids
};

}  // namespace traffic::rollout
