#include "monitor/loss_watch.h"

#include <cmath>
#include <vector>

#include "monitor/median.h"

namespace traffic::train {
namespace {

constexpr std::size_t kWindow = 50;   ///< number of losses whose median is the level
constexpr std::size_t kLeast = 15;    ///< minimum number of losses for a level
constexpr double kSpikeFactor = 3.0;  ///< a spike exceeds this multiple of the level
/// A spike also exceeds the level by this multiple of the median deviation.
constexpr double kDeviations = 12;
/// After this many spikes in a row, the watch discards the earlier losses and computes the level
/// from new losses.
constexpr int kSettled = 25;

}  // namespace

void LossWatch::begin(std::int64_t stage) {
  stage_ = stage;
  before_.clear();
  in_a_row_ = 0;
}

std::optional<LossSpike> LossWatch::add(const WatchedLoss& loss) {
  if (loss.stage != stage_) begin(loss.stage);
  if (!std::isfinite(loss.value)) return std::nullopt;
  if (before_.size() >= kLeast) {
    const std::vector<double> values(before_.begin(), before_.end());
    const double level = median(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - level));
    const double above = loss.value - level;
    if (above > (kSpikeFactor - 1) * std::abs(level) && above > kDeviations * median(distances)) {
      ++num_found_;
      if (++in_a_row_ >= kSettled) begin(stage_);
      if (in_a_row_ != 1) return std::nullopt;
      return LossSpike{.loss = loss.value, .level = level};
    }
  }
  in_a_row_ = 0;
  before_.push_back(loss.value);
  if (before_.size() > kWindow) before_.pop_front();
  return std::nullopt;
}

}  // namespace traffic::train
