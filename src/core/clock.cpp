// Clocks: steady time, the time since launch, and time stamps in UTC.
#include "traffic/core/clock.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "traffic/core/error.h"
#include "traffic/os/process_id.h"

namespace traffic {
namespace {

double seconds_of(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Age of this process, from its start in clock ticks since the machine's boot.
double process_age_s() {
  const double started = static_cast<double>(os::process_start_ticks(getpid())) /
                         static_cast<double>(sysconf(_SC_CLK_TCK));
  return std::max(0.0, seconds_of(CLOCK_BOOTTIME) - started);
}

double launch_age_s() {
  const double process_age = process_age_s();
  const char* text = std::getenv("TRAFFIC_LAUNCH_TIME");
  if (text == nullptr || *text == '\0') return process_age;
  double launch = 0.0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, launch);
  if (error != std::errc{} || stop != end) {
    throw ConfigError("TRAFFIC_LAUNCH_TIME: found '{}', expected Unix seconds as of `date +%s.%N`",
                      text);
  }
  return std::max(process_age, seconds_of(CLOCK_REALTIME) - launch);
}

std::string format_utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), length};
}

}  // namespace

double steady_seconds() { return seconds_of(CLOCK_MONOTONIC); }

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

double seconds_since_launch() {
  // Computed only at the first call, so that later jumps of the wall clock have no effect.
  static const double launched = steady_seconds() - launch_age_s();
  return steady_seconds() - launched;
}

std::string utc_timestamp() { return format_utc("%Y-%m-%dT%H:%M:%SZ"); }
std::string utc_file_stamp() { return format_utc("%Y%m%d-%H%M%S"); }

}  // namespace traffic
