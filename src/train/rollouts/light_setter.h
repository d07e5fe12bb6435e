/// The interface through which the collector lets the agent `lights` set the traffic lights of many
/// simulations.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_book.h"

namespace traffic::train {

class LightSetter {
 public:
  LightSetter() = default;
  virtual ~LightSetter() = default;
  LightSetter(const LightSetter&) = delete;
  LightSetter& operator=(const LightSetter&) = delete;

  /// Whether observations must include the graph of all lights.
  [[nodiscard]] virtual bool looks_around() const = 0;
  /// Called when an environment begins an episode. An unfinished episode before it is dropped.
  /// @param order index of the episode among the episodes of all ranks
  /// @param sampling_seed seed from which greens are sampled; the experience is then kept for
  ///   learning. Without a seed the most probable greens are chosen and nothing is kept.
  virtual void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) = 0;
  /// Called with the outcome of each control period.
  virtual void take_in(int env, const rollout::Period& period) = 0;
  /// Chooses the next greens.
  /// @return greens for the lights that have a choice; valid until the next call
  virtual std::span<const scene::SignalCommand> decide(int env, const rollout::Period& period) = 0;
  /// Called when the episode of an environment has ended.
  virtual void end(int env) = 0;
};

}  // namespace traffic::train
