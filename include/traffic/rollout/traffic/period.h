/// What a simulation hands to its rank after every control period, as views into memory that both
/// share: no copies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/controller.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/score.h"

namespace traffic::rollout {

/// Which traffic an episode has. All that is random in it follows from the seed, not from which
/// simulation runs it.
struct EpisodeSeed {
  std::uint64_t seed = 0;
  std::int64_t scenario = 0;  ///< which of config::scenario_mix
  /// Which piece of the scenario: it begins at piece * PieceStore::piece_s, from the second on in
  /// traffic that the uncontrolled episode that was saved as `saved_seed` had there.
  std::int64_t piece = 0;
  std::uint64_t saved_seed = 0;
};

/// Where uncontrolled episodes leave their traffic for pieces to begin in.
struct PieceStore {
  double piece_s = 0;     ///< 0: episodes are whole
  std::uint64_t key = 0;  ///< of the folder, one for each scenario and demand
  bool saves = false;     ///< the episode is whole, and keeps traffic there
};
/// @param cache episodes.baseline_cache
std::filesystem::path piece_folder(const std::string& cache, std::uint64_t key);

/// An episode to run.
struct EpisodeSpec {
  EpisodeSeed traffic{};
  double demand_scale = 1.0;    ///< factor on the scenario's demand
  std::string controller = {};  ///< a scripted one that decides within the
                                ///< simulation; empty: the rank
  bool advises = false;         ///< that controller only says what it would do: the rank decides
  bool frames = true;           ///< whether graphs are wanted; scores alone cost less
  bool signal_graph = false;    ///< whether the graph of lights that act is
  PieceStore store{};
};

/// What befell a vehicle under control, and its follower, within the period.
struct ControlledVehicle {
  std::uint32_t vehicle_id = 0;
  std::int32_t conflict = -1;    ///< ahead of it when last seen; -1: none
  std::int32_t steps = 0;        ///< under control
  std::int32_t hard_brakes = 0;  ///< steps in which it or its follower braked hard
  std::int32_t unsafe_steps =
      0;  ///< steps in which it or its follower was under a shield threshold
};

/// The outcome of a control period and the observation at its end. After a reset: no steps, one
/// frame. S simulation steps, C conflicts of the road.
struct Period {
  double time_s = 0;        ///< simulated, since the start of the episode
  bool terminated = false;  ///< the scenario has reached its end
  bool truncated = false;   ///< cut at env.max_time_s
  std::int64_t num_conflicts = 0;
  std::vector<scene::FrameView>
      frames;  ///< oldest first, one a second of the period, the last one now
  /// [S] of what env.objective is: the score's numerator, or minus the time lost (EpisodeScore).
  std::span<const double> growth;
  std::span<const double> conflict_growth;       ///< [S, C] the part that belongs to each conflict
  std::span<const scene::Candidate> candidates;  ///< in the order of the nodes
  std::span<const ControlledVehicle> controlled;
  std::span<const scene::Command> scripted;  ///< what the scripted controller asked for
  std::span<const scene::Command> advice;    ///< what vehicles.advisor would do now
  scene::EpisodeScore score;                 ///< since the start of the episode

  [[nodiscard]] bool done() const { return terminated || truncated; }
};

}  // namespace traffic::rollout
