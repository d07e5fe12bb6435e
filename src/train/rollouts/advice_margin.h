/// Searches for the advice margin of a policy of vehicles that has an advisor, a script that
/// suggests a command for each vehicle. The policy gives another command only if its value exceeds
/// the value of the advised command by this margin.
#pragma once

#include <cstdint>

namespace traffic::train {

/// The values of commands are estimates. A policy that always gives the command with the highest
/// value often picks overrated commands. A policy that only follows the advice gains nothing over
/// it. Each evaluation therefore tries a second margin in addition to the current one. Usually the
/// second margin is smaller, since the values may have become more accurate. If the gain has fallen
/// below its best, the second margin is larger. At the start of a training the margin is so large
/// that the policy always follows the advice.
class AdviceMargin {
 public:
  explicit AdviceMargin(double value) : value_(value) {}

  [[nodiscard]] double value() const { return value_; }
  /// The second margin, to compare with value().
  /// @param has_fallen whether the gain has fallen below its best
  [[nodiscard]] double other(bool has_fallen) const {
    return has_fallen ? value_ * kStep : value_ / kStep;
  }

  enum class Tried : std::uint8_t { kWorse, kSame, kBetter };
  /// Sets value() to other(has_fallen) if that margin did better. If both margins gave the same
  /// gains, it keeps the smaller margin, with which further learning changes decisions sooner.
  /// @param tried how other(has_fallen) did compared with value()
  void judge(bool has_fallen, Tried tried) {
    const bool same_and_smaller = tried == Tried::kSame && !has_fallen;
    if (tried == Tried::kBetter || same_and_smaller) value_ = other(has_fallen);
  }

 private:
  static constexpr double kStep = 3.0;

  double value_;
};

}  // namespace traffic::train
