#include "optim/slice_optimiser.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

#include "optim/saved_state.h"
#include "traffic/comm/gradient_reducer.h"

namespace traffic::train {

StretchOptimiser::StretchOptimiser(Stretch stretch, double clip_norm,
                                   comm::Communicator& communicator)
    : stretch_(std::move(stretch)),
      clip_norm_(clip_norm),
      communicator_(communicator),
      adam_(stretch_.parameters, {.weight_decay = 0.0}) {}

double StretchOptimiser::step(double learning_rate) {
  const double squares = communicator_.all_reduce_scaled(stretch_.gradients, 1.0);
  if (!std::isfinite(squares)) {
    spdlog::warn("step {} of the {}: the gradient is not finite; all ranks skip it",
                 adam_.num_steps(), stretch_.name);
    ++skipped_.total;
    skipped_.count_in_a_row(stretch_.name, "a lower " + stretch_.learning_rate_key);
    return 0.0;
  }
  skipped_.in_a_row = 0;
  const double norm = std::sqrt(squares);
  adam_.step(stretch_.gradients, learning_rate, comm::clip_factor(norm, clip_norm_));
  return norm;
}

void StretchOptimiser::save_to(checkpoint::Snapshot& snapshot, const std::string& prefix) const {
  put_adam(snapshot, prefix, adam_);
  snapshot.put_int(prefix + "/skipped", skipped_.total);
  snapshot.put_int(prefix + "/skipped_in_a_row", skipped_.in_a_row);
}

void StretchOptimiser::restore_from(const checkpoint::Snapshot& snapshot,
                                    const std::string& prefix) {
  restore_adam(snapshot, prefix, adam_);
  skipped_.total = snapshot.integer(prefix + "/skipped");
  skipped_.in_a_row = snapshot.integer(prefix + "/skipped_in_a_row");
}

}  // namespace traffic::train
