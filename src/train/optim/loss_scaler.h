/// Chooses the factor on the loss in fp16 training (the loss scale). It is large enough that small
/// gradients do not vanish, and small enough that large gradients do not overflow.
#pragma once

#include <cstdint>

#include "traffic/config/config.h"

namespace traffic::train {

/// Adapts the scale to overflows. update() must get the same outcome on all ranks, as
/// ReduceResult::finite is; then all ranks have the same scale. Gradients contain the scale, and
/// the caller divides them by it before clipping or using them. Not thread-safe.
///
/// The algorithm is that of torch.amp.GradScaler with two additions. The scale is lowered only from
/// the `hysteresis`-th overflow in a row on, and it stays between `min` and `max`.
class LossScaler {
 public:
  /// The state that a checkpoint stores.
  struct State {
    double scale = 1.0;
    std::int64_t good_in_a_row = 0;  ///< updates since the last overflow or growth of the scale
    std::int64_t overflows_in_a_row = 0;
    std::int64_t overflows = 0;  ///< number of overflows in the whole run
  };

  /// For number formats with the range of float32: the scale is always 1.
  LossScaler() = default;
  /// @throws ConfigError for an unknown strategy
  explicit LossScaler(const config::LossScale& options);

  [[nodiscard]] double scale() const { return state_.scale; }
  /// @param overflow whether the reduced gradient was not finite, so that no update was made
  void update(bool overflow);
  /// Whether further overflows will lower the scale. If so, overflows are part of the search for
  /// the scale and not a sign of failing training.
  [[nodiscard]] bool can_back_off() const;

  [[nodiscard]] const State& state() const { return state_; }
  /// Restores the state; a static scale keeps the value of the configuration.
  void restore(const State& state);

 private:
  config::LossScale options_;
  bool dynamic_ = false;
  State state_;
};

}  // namespace traffic::train
