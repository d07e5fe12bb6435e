/// Where the episode of one simulation stands, between control steps and between iterations.
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
#include "traffic/scene/score.h"

namespace traffic::train {

/// What became of an episode.
struct EpisodeOutcome {
  std::int64_t order = 0;  ///< place among those of all ranks
  rollout::EpisodeSeed traffic;
  std::int64_t steps = 0;  ///< control steps
  double reward = 0;       ///< sum over steps and conflicts
  double cost = 0;         ///< likewise
  scene::EpisodeScore score;
};

/// The decision that a command's costs are charged to.
struct Charge {
  std::size_t step = 0;
  std::size_t decision = 0;
};

/// Whom an expert could command in a state.
struct Commandable {
  std::vector<std::uint32_t> vehicle_id{};  ///< of the candidates
  std::vector<std::int64_t> conflict{};     ///< ahead of them
  std::int64_t may_pick = 0;
};

struct EpisodeState {
  rollout::EpisodeProgress progress{};
  std::uint64_t sampling_seed = 0;
  double time_s = 0;
  EpisodeOutcome outcome{};
  RecurrentState memory{};
  Trajectory trajectory{};
  std::map<std::uint32_t, Charge> charges{};
  Commandable commandable{};  ///< in the last step, while an expert drives or advises
  bool advised = false;       ///< by an expert, which does not drive
  // Of fragments: enough to bring a new simulation to the same point.
  std::optional<Observation> pending = std::nullopt;    ///< observed, not yet decided on
  std::vector<std::vector<scene::Command>> given = {};  ///< commands of every control step so far
  std::size_t replayed = 0;                             ///< of those, by the present simulation
};

/// Everything that an iteration of fragments leaves behind for the next: a magic number, a version,
/// then field by field.
checkpoint::Bytes to_bytes(const EpisodeState& state);
/// @param scenarios of this run: a state of another one is refused
/// @throws CheckpointError if the bytes are not those of a state, or of another version
EpisodeState episode_state_from(const checkpoint::Bytes& bytes, std::int64_t scenarios,
                                torch::Device device);

}  // namespace traffic::train
