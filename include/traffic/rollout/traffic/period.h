/// Period, the answer of a simulation to its rank after each control period: the outcome of the
/// period and the observations at its end. Its spans are views into memory that both processes map,
/// so nothing is copied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/rollout/traffic/episode.h"
#include "traffic/rollout/traffic/light_choices.h"
#include "traffic/rollout/traffic/sections.h"
#include "traffic/scene/action.h"
#include "traffic/scene/controller.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/score.h"
#include "traffic/scene/signal_graph.h"

namespace traffic::rollout {

/// Counts within the period for one vehicle under control and the vehicle that follows it.
struct ControlledVehicle {
  std::uint32_t vehicle_id = 0;
  std::int32_t conflict = -1;  ///< index of the conflict that was ahead of the vehicle at its last
                               ///< step under control; -1 if there was none
  std::int32_t steps = 0;      ///< simulation steps under control
  std::int32_t hard_brakes = 0;   ///< steps in which the vehicle or its follower braked hard
  std::int32_t unsafe_steps = 0;  ///< steps in which the vehicle or its follower was too close to
                                  ///< the vehicle ahead of it
};

/// The section of the agent `vehicles`. Empty if env.agents does not contain `vehicles`.
struct VehicleSection {
  /// One frame (a graph of all vehicles) for each second of the period, oldest first; the last
  /// frame is the state at the end of the period.
  std::vector<scene::FrameView> frames;
  std::span<const scene::Candidate> candidates;  ///< in the order of the last frame's nodes
  std::span<const ControlledVehicle> controlled;
  std::span<const scene::Command> scripted;  ///< commands of the scripted controller in the period
  std::span<const scene::Command> advice;    ///< commands that vehicles.advisor would give now
};

/// The section of the agent `lights`. Empty if env.agents does not contain `lights`. L is the
/// number of lights, F the number of scene::signal_features().
struct LightSection {
  std::span<const double> cost_s;        ///< [L] cost of each light (LightCost) within the period
  std::span<const LightChoice> choices;  ///< lights that choose now, in ascending order
  std::span<const float> rows;  ///< [sum of num_greens, F] features of the options of all choices
  scene::SignalGraphView graph{};  ///< graph of all lights; empty if lights.encoder_layers is 0
                                   ///< or no light chooses
  // The following are empty without EpisodeSpec::idle_lights.
  std::span<const LightChoice> idle;  ///< lights with options that may not switch now, in ascending
                                      ///< order; `present` is -1 if the light shows none of them
  std::span<const float> idle_rows;   ///< features of the options of all lights in `idle`
  std::span<const char> ids;          ///< SUMO's id of each light, each followed by a zero
};

/// One control period of S simulation steps on a road with C conflicts, with T terms. The answer to
/// a reset has no steps and one frame.
struct Period {
  double time_s = 0;        ///< simulated time since the start of the episode
  bool terminated = false;  ///< the scenario has reached its end
  bool truncated = false;   ///< the episode ended at env.max_time_s, or at the end of its part of
                            ///< a long scenario (EpisodeSeed::piece)
  std::int64_t num_conflicts = 0;
  std::int64_t num_terms = 1;
  /// [S, T] growth of the T terms of env.objective (scene::terms_of), such as the numerator of the
  /// throughput score, or minus the time lost.
  std::span<const double> growth;
  std::span<const double> conflict_growth;  ///< [S, C, T] contribution of each conflict to growth
  scene::EpisodeScore score;                ///< counts since the start of the episode
  Sections sections;                        ///< one for each agent that acts

  /// The section of an agent; empty if the agent does not act.
  template <typename Section>
  [[nodiscard]] const Section& of() const {
    return sections.get<Section>();
  }
  /// S
  [[nodiscard]] std::int64_t num_steps() const {
    return static_cast<std::int64_t>(growth.size()) / num_terms;
  }
  [[nodiscard]] bool done() const { return terminated || truncated; }
};

}  // namespace traffic::rollout
