/// Time: a steady clock for intervals and deadlines, the time since launch, and UTC time stamps for
/// people.
#pragma once

#include <cstdint>
#include <string>

namespace traffic {

/// Seconds on a clock that never jumps. Only the difference of two readings has a meaning.
double steady_seconds();
/// steady_seconds() in nanoseconds. Readings of different processes of a machine can be compared.
std::int64_t monotonic_ns();

/// Seconds since the job was launched. The launch scripts set the environment variable
/// TRAFFIC_LAUNCH_TIME to the time of the launch in Unix seconds. Without this variable, the job
/// counts as launched when this process started.
/// @throws ConfigError if TRAFFIC_LAUNCH_TIME is not a number
double seconds_since_launch();

/// The present time in UTC, such as "2025-01-31T17:05:09Z".
std::string utc_timestamp();
/// The present time in UTC for names of files and folders, such as "20250131-170509".
std::string utc_file_stamp();

/// Measures an interval on the steady clock.
class Stopwatch {
 public:
  Stopwatch() : start_(steady_seconds()) {}
  [[nodiscard]] double seconds() const { return steady_seconds() - start_; }

 private:
  double start_;
};

}  // namespace traffic
