/// How much more a command has to be worth than what is advised, found by trying.
#pragma once

#include <cstdint>

namespace traffic::train {

/// Values are estimates: who asks for whatever seems to be worth most asks for what happens to be
/// overrated, and the more of it the more there is to choose from. Who asks for nothing but what is
/// advised gains nothing. So each evaluation tries a margin beside the one that was best, beginning
/// with one that nothing is worth.
class AdviceMargin {
 public:
  explicit AdviceMargin(double first) : value_(first) {}
  AdviceMargin(double value, bool falling) : value_(value), falling_(falling) {}

  /// The best so far.
  [[nodiscard]] double value() const { return value_; }
  /// The one to be tried beside it.
  [[nodiscard]] double next() const { return falling_ ? value_ / kStep : value_ * kStep; }
  [[nodiscard]] bool is_falling() const { return falling_; }

  enum class Tried : std::uint8_t { kWorse, kSame, kBetter };
  /// Of two that do the same the smaller one is taken: it will be the first to do something else.
  void judge(Tried tried) {
    if (tried == Tried::kBetter || (tried == Tried::kSame && falling_)) {
      value_ = next();
    } else {
      falling_ = !falling_;
    }
  }

 private:
  static constexpr double kStep = 3.0;

  double value_;
  bool falling_ = true;
};

}  // namespace traffic::train
