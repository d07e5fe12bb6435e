/// The interface through which the collector of episodes lets an agent act in many simulations. The
/// agent records its own experience.
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

  /// Called when an environment begins an episode. If its previous episode did not end, the agent
  /// drops the experience of that episode.
  /// @param order index of the episode among the episodes of all ranks
  /// @param sampling_seed seed from which decisions are drawn; the experience is then kept for
  ///   learning. Without a seed the best decisions are taken and nothing is kept. All agents of the
  ///   episode get the same seed, so each derives its own from it.
  virtual void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) = 0;
  /// Called with the answer to the reset and with the outcome of each control period.
  virtual void take_in(int env, const rollout::Period& period) = 0;
  /// Decides, and adds the agent's section to the orders for the next control period. The commands
  /// in this section must stay valid until the next call of any function of the agent.
  virtual void decide(int env, const rollout::Period& period, rollout::Orders& orders) = 0;
  /// Called when the episode of an environment has ended.
  virtual void end(int env) = 0;
};

}  // namespace traffic::train
