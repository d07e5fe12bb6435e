#include "optim/loss_scaler.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train {

LossScaler::LossScaler(const config::LossScale& options)
    : options_(options), dynamic_(options.strategy == "dynamic") {
  if (!dynamic_ && options.strategy != "static") {
    throw ConfigError("loss_scale.strategy = {}: expected dynamic or static", options.strategy);
  }
  state_.scale = dynamic_ ? options_.initial : options_.fixed;
}

void LossScaler::update(bool overflow) {
  if (overflow) {
    state_.good_in_a_row = 0;
    ++state_.overflows;
    ++state_.overflows_in_a_row;
    if (dynamic_ && state_.overflows_in_a_row >= options_.hysteresis) {
      state_.scale = std::max(options_.min, state_.scale * options_.backoff_factor);
    }
    return;
  }
  state_.overflows_in_a_row = 0;
  if (!dynamic_ || ++state_.good_in_a_row < options_.growth_interval) return;
  state_.good_in_a_row = 0;
  state_.scale = std::min(options_.max, state_.scale * options_.growth_factor);
}

bool LossScaler::can_back_off() const { return dynamic_ && state_.scale > options_.min; }

void LossScaler::restore(const State& state) {
  const double fixed = state_.scale;
  state_ = state;
  if (!dynamic_) state_.scale = fixed;
}

}  // namespace traffic::train
