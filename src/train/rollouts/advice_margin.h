/// The search for the advice margin: by how much the value of a command must exceed the value of
/// the advised command, so that the policy gives it instead.
#pragma once

#include <cstdint>

namespace traffic::train {

/// The values of commands are estimates. A policy that always gives the command with the highest
/// value picks overrated commands, the more often the more commands there are. A policy that only
/// follows the advice gains nothing over it. Each evaluation therefore tries a second margin beside
/// the current one. The second margin is smaller, since the values may have become more accurate,
/// or larger if the gain has fallen below its best. At the start of a training the margin is so
/// large that the policy always follows the advice.
class AdviceMargin {
 public:
  explicit AdviceMargin(double value) : value_(value) {}

  [[nodiscard]] double value() const { return value_; }
  /// The margin to try beside value().
  [[nodiscard]] double other(bool has_fallen) const {
    return has_fallen ? value_ * kStep : value_ / kStep;
  }

  enum class Tried : std::uint8_t { kWorse, kSame, kBetter };
  /// Adopts other(has_fallen) if it did better than value(). If both gave the same gains, the
  /// smaller one is adopted, because further learning changes its decisions first.
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
