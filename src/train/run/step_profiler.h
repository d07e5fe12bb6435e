/// A detailed recording of chosen steps of one rank ([profile]): which operation ran when, on CPU
/// and GPU, beside the shares of the time split.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "traffic/config/config.h"
#include "traffic/core/time_split.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Where a recording goes: rank-N.json in Chrome's trace format (ui.perfetto.dev opens it) and
/// rank-N.txt, the table of profile_table.h.
struct ProfilePlace {
  std::filesystem::path folder;  ///< made when something is written
  int rank = 0;
  torch::Device device = torch::kCPU;
};

/// profile/ in the folder of the run.
ProfilePlace profile_place(Run& run);

/// For one thread. Recording changes no result; what cannot be written is a warning.
class StepProfiler {
 public:
  StepProfiler(const config::Profile& settings, ProfilePlace place, TimeSplit& time_split);
  ~StepProfiler();  ///< finishes
  StepProfiler(const StepProfiler&) = delete;
  StepProfiler& operator=(const StepProfiler&) = delete;

  /// Call before every step: begins and ends the recording at the chosen ones.
  /// @param step how many the run has taken; may come again if a step turned out not to be one
  void before_step(std::int64_t step);
  /// Behind the last step: ends a recording and writes it.
  void finish() noexcept;

 private:
  class Recording;

  config::Profile settings_;
  ProfilePlace place_;
  TimeSplit& time_split_;
  std::optional<std::int64_t> first_step_;  ///< of this process
  std::unique_ptr<Recording> recording_;
};

}  // namespace traffic::train
