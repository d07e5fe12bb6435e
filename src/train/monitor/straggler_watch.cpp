#include "monitor/straggler_watch.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "monitor/median.h"

namespace traffic::train {
namespace {

/// Number of short steps over which times are summed (the window). The window is so large that a
/// single slow step (a checkpoint, a page read from disk) does not make a rank a straggler.
constexpr int kShortSteps = 20;
/// Number of long steps in a window. Steps of trainings with simulations take seconds, and there
/// are few of them.
constexpr int kLongSteps = 3;
constexpr double kLongS = 30.0;  ///< a window with more seconds than this has long steps
constexpr double kFactor = 1.5;  ///< a straggler takes this many times as long as other ranks
constexpr double kLeastDifferenceS = 1e-3;  ///< smaller differences are noise
constexpr double kLeastBusyS = 1e-6;        ///< lower bound for ranks that only wait
constexpr int kWindowsBetweenWords = 50;    ///< windows between two warnings of one straggler

}  // namespace

std::optional<Straggler> StragglerWatch::add(std::span<const double> busy_s) {
  if (busy_s.size() < 2) return std::nullopt;
  busy_s_.resize(busy_s.size());
  std::transform(busy_s.begin(), busy_s.end(), busy_s_.begin(), busy_s_.begin(), std::plus<>());
  ++num_steps_;
  const bool long_enough = *std::max_element(busy_s_.begin(), busy_s_.end()) >= kLongS;
  if (num_steps_ < (long_enough ? kLongSteps : kShortSteps)) return std::nullopt;
  const std::optional<Straggler> found = look();
  busy_s_.clear();
  num_steps_ = 0;
  ++windows_since_named_;
  if (!found) return std::nullopt;
  ++num_found_;
  if (found->rank == named_ && windows_since_named_ < kWindowsBetweenWords) return std::nullopt;
  named_ = found->rank;
  windows_since_named_ = 0;
  return found;
}

std::optional<Straggler> StragglerWatch::look() const {
  const auto slowest = std::max_element(busy_s_.begin(), busy_s_.end());
  std::vector<double> others(busy_s_.begin(), slowest);
  others.insert(others.end(), slowest + 1, busy_s_.end());
  const Straggler found{
      .rank = static_cast<int>(slowest - busy_s_.begin()),
      .step_s = *slowest / num_steps_,
      .others_step_s = std::max(median(std::move(others)) / num_steps_, kLeastBusyS),
      .num_steps = num_steps_};
  if (found.step_s < kFactor * found.others_step_s ||
      found.step_s - found.others_step_s < kLeastDifferenceS) {
    return std::nullopt;
  }
  return found;
}

}  // namespace traffic::train
