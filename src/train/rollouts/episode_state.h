/// The state of the episode of one simulation, between control steps and between iterations.
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

/// The decision that the costs of a command are charged to.
struct Charge {
  std::size_t step = 0;      ///< index in Trajectory::steps
  std::size_t decision = 0;  ///< index among the decisions of that step
};

/// The candidates of a state, which a scripted controller (the expert) could command.
struct Commandable {
  std::vector<std::uint32_t> vehicle_id{};  ///< ids of the candidates
  std::vector<std::int64_t> conflict{};     ///< for each, the conflict that a decision counts for
  std::int64_t may_pick = 0;                ///< maximum number of picks
};

struct EpisodeState {
  rollout::EpisodeProgress progress{};
  std::uint64_t sampling_seed = 0;
  double time_s = 0;
  EpisodeOutcome outcome{};
  RecurrentState memory{};
  Trajectory trajectory{};
  std::map<std::uint32_t, Charge> charges{};  ///< by vehicle id
  Commandable commandable{};  ///< for the last step, if the expert's decisions are kept
  bool advised = false;       ///< the policy drives and the expert only says what it would do
  /// The observation that the policy has not decided on yet.
  std::optional<Observation> pending = std::nullopt;
  // Only for fragments. A new simulation that repeats these commands reaches the same state.
  std::vector<std::vector<scene::Command>> given = {};  ///< commands of every control step so far
  std::size_t replayed = 0;  ///< number of steps of `given` that the current simulation has run
};

/// The fields that the next iteration of fragments needs, as bytes for a checkpoint. The bytes
/// begin with a magic number and a version.
checkpoint::Bytes to_bytes(const EpisodeState& state);
/// @param scenarios number of scenarios of this run
/// @throws CheckpointError if the bytes are damaged, have another version, or are the state of a
///   scenario that this run does not have
EpisodeState episode_state_from(const checkpoint::Bytes& bytes, std::int64_t scenarios,
                                torch::Device device);

}  // namespace traffic::train
