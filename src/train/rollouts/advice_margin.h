/// How much more a command has to be worth than what is advised, found by trying.
#pragma once

#include <cstdint>

namespace traffic::train {

/// Values are estimates: who asks for whatever seems to be worth most asks for what happens to be
/// overrated, and the more of it the more there is to choose from. Who asks for nothing but what is
/// advised gains nothing. So each evaluation tries another margin beside the present one: a smaller
/// one, for what is learned meanwhile may allow it, or where the controller has fallen below its
/// best a greater one. The first is one that nothing is worth.
class AdviceMargin {
 public:
  explicit AdviceMargin(double value) : value_(value) {}

  [[nodiscard]] double value() const { return value_; }
  /// The one to be tried beside it.
  [[nodiscard]] double other(bool has_fallen) const {
    return has_fallen ? value_ * kStep : value_ / kStep;
  }

  enum class Tried : std::uint8_t { kWorse, kSame, kBetter };
  /// What became of other(has_fallen). Of two that do the same the smaller one is taken: it will be
  /// the first to do something else.
  void judge(bool has_fallen, Tried tried) {
    const bool same_and_smaller = tried == Tried::kSame && !has_fallen;
    if (tried == Tried::kBetter || same_and_smaller) value_ = other(has_fallen);
  }

 private:
  static constexpr double kStep = 3.0;

  double value_;
};

}  // namespace traffic::train
