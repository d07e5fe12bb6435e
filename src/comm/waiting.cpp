// The pauses of a polling loop (waiting.h).
#include "waiting.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace traffic::comm {
namespace {

constexpr int kSpins = 64;
constexpr int kYields = 64;
constexpr int kFirstSleepUs = 20;

}  // namespace

double grace_s(double timeout_s) { return std::clamp(0.2 * timeout_s, 0.5, 5.0); }

void Backoff::pause() {
  const int n = num_pauses_++;
  if (n < kSpins) {
    spin_pause();
  } else if (n < kSpins + kYields) {
    sched_yield();
  } else {
    const int doublings = std::min((n - kSpins - kYields) / 8, 6);
    const int sleep_us = std::min(kFirstSleepUs << doublings, longest_sleep_us_);
    std::this_thread::sleep_for(std::chrono::microseconds(sleep_us));
  }
}

}  // namespace traffic::comm
