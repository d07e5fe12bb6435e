/// Time: a steady clock for intervals and deadlines, the time since launch, and UTC time stamps for
/// people.
#pragma once

#include <cstdint>
#include <string>

namespace traffic {

/// Seconds of a clock that never jumps; only differences have a meaning.
double steady_seconds();
/// steady_seconds() in nanoseconds; the processes of a node can compare it.
std::int64_t monotonic_ns();

/// Seconds since the job was launched: since TRAFFIC_LAUNCH_TIME (Unix seconds, set by the launch
/// scripts) when that is in the environment, else since this process started.
/// @throws ConfigError if TRAFFIC_LAUNCH_TIME is not a number
double seconds_since_launch();

/// "2025-01-31T17:05:09Z"
std::string utc_timestamp();
/// "20250131-170509", for names of files and folders
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
