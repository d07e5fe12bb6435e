/// The factor of the loss in fp16 training: large enough that small gradients do not vanish, small
/// enough that large ones do not overflow.
#pragma once

#include <cstdint>

#include "traffic/config/config.h"

namespace traffic::train {

/// Sees the outcome of each update, which must be the same on all ranks (ReduceResult::finite is);
/// so the factor is the same, too. Sums of gradients that are multiplied by it are divided by it
/// before they are clipped or used. Not thread-safe.
///
/// As torch.amp.GradScaler, with one addition: the factor is lowered only after `hysteresis`
/// overflows in a row, then with each further one.
class LossScaler {
 public:
  /// What a checkpoint keeps.
  struct State {
    double scale = 1.0;
    std::int64_t good_in_a_row = 0;
    std::int64_t overflows_in_a_row = 0;
    std::int64_t overflows = 0;  ///< of the whole run
  };

  /// A factor that is always 1, for number formats with the range of float32.
  LossScaler() = default;
  /// @throws ConfigError for an unknown strategy
  explicit LossScaler(const config::LossScale& options);

  [[nodiscard]] double scale() const { return state_.scale; }
  /// @param overflow the reduced gradient was not finite: no update was made
  void update(bool overflow);
  /// Whether further overflows will lower the factor: then they are part of the search for it, not
  /// a sign that training fails.
  [[nodiscard]] bool can_back_off() const;

  [[nodiscard]] const State& state() const { return state_; }
  /// A static factor stays that of the configuration.
  void restore(const State& state);

 private:
  config::LossScale options_;
  bool dynamic_ = false;
  State state_;
};

}  // namespace traffic::train
