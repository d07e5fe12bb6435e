/// Counts updates that all ranks skipped because the gradient was not finite.
#pragma once

#include <cstdint>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic::train {

struct SkippedSteps {
  std::int64_t total = 0;     ///< number in the whole training
  std::int64_t in_a_row = 0;  ///< number since the last update

  /// Adds one to in_a_row, not to total.
  /// @param of_what the part of the model, for the message
  /// @param advice the setting to resume with, for the message
  /// @throws NumericError if ten updates in a row were skipped
  void count_in_a_row(std::string_view of_what, std::string_view advice) {
    constexpr std::int64_t kMax = 10;
    if (++in_a_row < kMax) return;
    throw NumericError(
        "{}: {} updates in a row had a gradient that is not finite; earlier checkpoints are "
        "intact: resume with {}",
        of_what, in_a_row, advice);
  }
};

}  // namespace traffic::train
