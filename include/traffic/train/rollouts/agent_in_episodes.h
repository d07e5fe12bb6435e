/// The interface through which the collector of episodes (traffic_episodes.h) lets an agent other
/// than the vehicles act in many simulations. The agent records its own experience.
#pragma once

#include <cstdint>
#include <optional>

#include "traffic/rollout/traffic/period.h"
#include "traffic/rollout/traffic/sections.h"

namespace traffic::train {

class AgentInEpisodes {
 public:
  AgentInEpisodes() = default;
  virtual ~AgentInEpisodes() = default;
  AgentInEpisodes(const AgentInEpisodes&) = delete;
  AgentInEpisodes& operator=(const AgentInEpisodes&) = delete;

  /// Called when an environment begins an episode. If the previous episode of the environment did
  /// not end, the agent drops the experience of that episode.
  /// @param order index of the episode among the episodes of all ranks
  /// @param sampling_seed with a seed, the agent draws its decisions at random and keeps the
  ///   experience for learning. Without a seed, it takes the best decisions and keeps nothing. All
  ///   agents of the episode get the same seed, so each agent derives its own seed from it.
  virtual void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) = 0;
  /// Called with the state at the start of the episode, and then with the outcome of each control
  /// period.
  virtual void take_in(int env, const rollout::Period& period) = 0;
  /// Decides, and adds the agent's commands as a section to the orders, the message to the
  /// simulation for the next control period. The agent must keep these commands in memory until the
  /// next call of any of its functions.
  virtual void decide(int env, const rollout::Period& period, rollout::Orders& orders) = 0;
  /// Called when the episode of an environment has ended.
  virtual void end(int env) = 0;
};

}  // namespace traffic::train
