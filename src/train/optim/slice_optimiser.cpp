#include "optim/slice_optimiser.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

#include "optim/saved_state.h"

namespace traffic::train {

SliceOptimiser::SliceOptimiser(ParameterSlice slice, comm::Communicator& communicator)
    : slice_(std::move(slice)),
      communicator_(communicator),
      adam_(slice_.parameters, {.weight_decay = slice_.weight_decay}) {}

std::optional<double> SliceOptimiser::reduce() {
  const double squares = communicator_.all_reduce_scaled(slice_.gradients, 1.0);
  if (!std::isfinite(squares)) {
    spdlog::warn("{1}: the gradient of step {0} is not finite; all ranks skip the step",
                 adam_.num_steps(), slice_.name);
    ++skipped_.total;
    skipped_.count_in_a_row(slice_.name, "a lower " + slice_.learning_rate_key);
    return std::nullopt;
  }
  skipped_.in_a_row = 0;
  return std::sqrt(squares);
}

void SliceOptimiser::step(double learning_rate, double factor) {
  adam_.step(slice_.gradients, learning_rate, factor);
}

void SliceOptimiser::save_to(checkpoint::Snapshot& snapshot, const std::string& prefix) const {
  put_adam(snapshot, prefix, adam_);
  snapshot.put_int(prefix + "/skipped", skipped_.total);
  snapshot.put_int(prefix + "/skipped_in_a_row", skipped_.in_a_row);
}

void SliceOptimiser::restore_from(const checkpoint::Snapshot& snapshot, const std::string& prefix) {
  restore_adam(snapshot, prefix, adam_);
  skipped_.total = snapshot.integer(prefix + "/skipped");
  skipped_.in_a_row = snapshot.integer(prefix + "/skipped_in_a_row");
}

}  // namespace traffic::train
