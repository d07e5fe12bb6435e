/// Traffic lights that learn in the same episodes as the controller of vehicles.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "rollouts/light_setter.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/report/metrics.h"

namespace traffic::train {

class TrainedLights {
 public:
  TrainedLights() = default;
  virtual ~TrainedLights() = default;
  TrainedLights(const TrainedLights&) = delete;
  TrainedLights& operator=(const TrainedLights&) = delete;

  /// What sets them in the simulations.
  [[nodiscard]] virtual LightSetter& setter() = 0;
  /// What is kept from now on is of the iteration.
  virtual void begin_iteration() = 0;
  /// From what was kept. Collective.
  /// @param episodes of all ranks
  /// @return figures; nothing if it was given up because a stop is requested
  /// @throws NumericError after too many steps in a row without a finite gradient
  virtual std::optional<report::NamedValues> learn(std::int64_t episodes,
                                                   std::int64_t iteration) = 0;
  /// Calls it while they are set by the weights that are judged, kept and used.
  virtual void judge(const std::function<void()>& use) = 0;

  [[nodiscard]] virtual bool are_in(const checkpoint::Snapshot& snapshot) const = 0;
  /// Weights, without what only this learning has.
  /// @throws CheckpointError if a part is missing or does not fit
  virtual void start_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void restore_from(const checkpoint::Snapshot& snapshot) = 0;
  virtual void save_to(checkpoint::Snapshot& snapshot) const = 0;
  [[nodiscard]] virtual std::int64_t skipped_steps() const = 0;
  /// Of all ranks, learned from.
  [[nodiscard]] virtual std::int64_t decisions() const = 0;
};

}  // namespace traffic::train
