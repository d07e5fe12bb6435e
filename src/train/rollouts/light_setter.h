/// Sets the traffic lights of many simulations, as the collector asks it to.
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

  /// Whether it needs the graph of all lights.
  [[nodiscard]] virtual bool looks_around() const = 0;
  /// An environment begins an episode; an unfinished one before it is dropped.
  /// @param order place of the episode among those of all ranks
  /// @param sampling_seed greens are drawn from it, and what happens is kept to be learned from.
  /// Without it the most probable greens are chosen and nothing is kept.
  virtual void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) = 0;
  /// Takes in the outcome of a control period.
  virtual void take_in(int env, const rollout::Period& period) = 0;
  /// @return greens for the lights that have a choice; valid until the next call
  virtual std::span<const scene::SignalCommand> decide(int env, const rollout::Period& period) = 0;
  /// The episode of an environment has ended.
  virtual void end(int env) = 0;
};

}  // namespace traffic::train
