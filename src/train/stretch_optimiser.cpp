#include "stretch_optimiser.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

#include "snapshot_parts.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kMaxSkippedInARow = 10;

}  // namespace

StretchOptimiser::StretchOptimiser(Stretch stretch, double clip_norm,
                                   comm::Communicator& communicator)
    : stretch_(std::move(stretch)),
      clip_norm_(clip_norm),
      communicator_(communicator),
      adam_(stretch_.parameters, {.weight_decay = 0.0}) {}

double StretchOptimiser::step(double learning_rate) {
  const double squares = communicator_.all_reduce_scaled(stretch_.gradients, 1.0);
  if (!std::isfinite(squares)) {
    ++skipped_;
    if (++skipped_in_a_row_ >= kMaxSkippedInARow) {
      throw NumericError(
          "{} steps of the {} in a row had a gradient that is not finite; the checkpoints from "
          "before are whole: resume with a lower ppo.learning_rate",
          skipped_in_a_row_, stretch_.name);
    }
    spdlog::warn("step {} of the {}: the gradient is not finite; all ranks skip it",
                 adam_.num_steps(), stretch_.name);
    return 0.0;
  }
  skipped_in_a_row_ = 0;
  const double norm = std::sqrt(squares);
  constexpr double kEps = 1e-6;
  adam_.step(stretch_.gradients, learning_rate,
             norm > clip_norm_ ? clip_norm_ / (norm + kEps) : 1.0);
  return norm;
}

void StretchOptimiser::save_to(checkpoint::Snapshot& snapshot, const std::string& prefix) const {
  put_adam(snapshot, prefix, adam_);
  snapshot.put_int(prefix + "/skipped", skipped_);
  snapshot.put_int(prefix + "/skipped_in_a_row", skipped_in_a_row_);
}

void StretchOptimiser::restore_from(const checkpoint::Snapshot& snapshot,
                                    const std::string& prefix) {
  restore_adam(snapshot, prefix, adam_);
  skipped_ = snapshot.integer(prefix + "/skipped");
  skipped_in_a_row_ = snapshot.integer(prefix + "/skipped_in_a_row");
}

}  // namespace traffic::train
