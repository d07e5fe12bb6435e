/// Waiting without occupying a core: deadlines on the steady clock, and a back-off for polling.
#pragma once

#include "traffic/core/clock.h"

namespace traffic::comm {

/// A time limit that begins with the construction of the object.
class Deadline {
 public:
  explicit Deadline(double limit_s) : limit_s_(limit_s), end_(steady_seconds() + limit_s) {}
  [[nodiscard]] bool passed() const { return steady_seconds() >= end_; }
  [[nodiscard]] double limit_s() const { return limit_s_; }

 private:
  double limit_s_;
  double end_;
};

/// How many seconds longer than timeout_s the leaders of nodes wait for each other. If a rank is
/// missing, the leader of its node can then report that rank before the other leaders report the
/// leader as missing.
double grace_s(double timeout_s);

/// One pause of a polling loop: at first it spins briefly, then it yields the core, then it sleeps
/// for growing times.
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
