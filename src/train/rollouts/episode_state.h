/// The state of the unfinished episode of one simulation. TrafficEpisodes updates it at every
/// control step. If a training collects fragments of episodes, the state lasts from one iteration
/// to the next and is saved in checkpoints.
#pragma once

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "policy/perception.h"
#include "rollouts/experience.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/rollout/pool/collector.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/action.h"
#include "traffic/train/rollouts/rollout_batch.h"

namespace traffic::train {

/// The decision that gave a vehicle its present command. The costs of this command are charged to
/// it.
struct Charge {
  std::size_t step = 0;      ///< index in Trajectory::steps
  std::size_t decision = 0;  ///< index among the decisions of that step
};

/// The candidates of a state, that is the vehicles that an expert could command there. The expert
/// is the scripted controller that the policy imitates.
struct Commandable {
  std::vector<std::uint32_t> vehicle_id{};  ///< ids of the candidates
  /// Conflict whose rewards a decision about the candidate gets.
  std::vector<std::int64_t> conflict{};
  std::int64_t may_pick = 0;  ///< maximum number of candidates that get a decision
};

struct EpisodeState {
  rollout::EpisodeProgress progress{};
  std::uint64_t sampling_seed = 0;  ///< seed of all random decisions in the episode
  double time_s = 0;                ///< time of the last answer, since the start of the episode
  EpisodeOutcome outcome{};
  RecurrentState memory{};
  Trajectory trajectory{};
  /// For the last command of each vehicle, by vehicle id.
  std::map<std::uint32_t, Charge> charges{};
  /// Candidates of the last step; set only if the expert's decisions are recorded.
  Commandable commandable{};
  /// Whether the policy commands the vehicles while the commands that the expert would give are
  /// recorded.
  bool advised = false;
  /// The observation for the next decision of the policy; nothing after the decision.
  std::optional<Observation> pending = std::nullopt;
  // The next two members are used only for fragments. A new simulation reaches the state of a lost
  // or earlier simulation by repeating the commands in `given`.
  std::vector<std::vector<scene::Command>> given = {};  ///< commands of every control step so far
  std::size_t replayed = 0;  ///< number of steps of `given` that the current simulation has run
};

/// Converts the fields that the next iteration of fragments needs to bytes for a checkpoint. The
/// bytes begin with a magic number and a version.
checkpoint::Bytes to_bytes(const EpisodeState& state);
/// @param scenarios number of scenarios of this run
/// @throws CheckpointError if the bytes are damaged, have another version, or are the state of a
///   scenario that this run does not have
EpisodeState episode_state_from(const checkpoint::Bytes& bytes, std::int64_t scenarios,
                                torch::Device device);

}  // namespace traffic::train
