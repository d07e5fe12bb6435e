#include "search/budget.h"

#include <algorithm>

namespace traffic::train {

SearchBudget::SearchBudget(double minutes, comm::Communicator& communicator)
    : seconds_(60.0 * minutes), communicator_(communicator) {}

double SearchBudget::elapsed_s() const {
  return communicator_.all_reduce_scalar(clock_.seconds(), comm::ReduceOp::kMax);
}

bool SearchBudget::has_passed(double share) const {
  return is_timed() && clock_.seconds() > share * seconds_;
}

void SearchBudget::measure(std::int64_t episodes, double seconds) {
  constexpr double kShortest_s = 1e-3;
  episode_s_ = std::max(kShortest_s, seconds / static_cast<double>(episodes));
}

std::int64_t SearchBudget::fitting(double share) const {
  const double left_s = share * seconds_ - elapsed_s();
  return static_cast<std::int64_t>(std::max(0.0, left_s) / episode_s_);
}

}  // namespace traffic::train
