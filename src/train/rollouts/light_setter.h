/// Traffic lights that act beside the vehicles, in the same episodes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "traffic/rollout/traffic/signal_period.h"
#include "traffic/scene/signal_book.h"

namespace traffic::train {

/// Who sets them, on the rank. Wherever the controller of vehicles decides they act as well;
/// without it they show their own programs.
class LightSetter {
 public:
  LightSetter() = default;
  virtual ~LightSetter() = default;
  LightSetter(const LightSetter&) = delete;
  LightSetter& operator=(const LightSetter&) = delete;

  /// Whether they are to be shown the graph of all lights.
  [[nodiscard]] virtual bool looks_around() const = 0;
  /// An environment begins an episode, whatever became of the one before.
  /// @param order its place among those of all ranks
  /// @param sampling_seed choices are drawn from it and kept to be learned from; nothing: the most
  /// probable ones, nothing is kept
  virtual void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) = 0;
  /// A control period's outcome.
  virtual void take_in(int env, const rollout::SignalPeriod& period) = 0;
  /// @return valid until the next call
  virtual std::span<const scene::SignalCommand> decide(int env,
                                                       const rollout::SignalPeriod& period) = 0;
  virtual void end(int env) = 0;
};

}  // namespace traffic::train
