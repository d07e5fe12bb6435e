/// Waiting without burning a core: deadlines on the steady clock and a back-off for polling.
#pragma once

#include "traffic/core/clock.h"

namespace traffic::comm {

class Deadline {
 public:
  explicit Deadline(double limit_s) : limit_s_(limit_s), end_(steady_seconds() + limit_s) {}
  [[nodiscard]] bool passed() const { return steady_seconds() >= end_; }
  [[nodiscard]] double limit_s() const { return limit_s_; }

 private:
  double limit_s_;
  double end_;
};

/// How much longer than the ranks of one node the leaders of nodes wait for each other, so that the
/// leader that knows which rank is missing speaks first.
double grace_s(double timeout_s);

/// One pause of a polling loop: first a short spin, then the core is offered to others, then sleeps
/// that grow.
class Backoff {
 public:
  explicit Backoff(int longest_sleep_us = 1000) : longest_sleep_us_(longest_sleep_us) {}
  void pause();

 private:
  int longest_sleep_us_;
  int num_pauses_ = 0;
};

/// One iteration of a spin loop.
inline void spin_pause() { __builtin_ia32_pause(); }

}  // namespace traffic::comm
