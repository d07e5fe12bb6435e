/// Records some steps of a rank in detail, as [profile] says: when each operation ran on CPU and
/// GPU, and to which part of the step (data, forward, backward, ...) it belongs.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

#include "traffic/config/config.h"
#include "traffic/core/time_split.h"

namespace traffic::train {

/// Destination of a recording: rank-N.json in Chrome's trace format (open it in ui.perfetto.dev)
/// and rank-N.txt, the table of profile_table.h.
struct ProfilePlace {
  std::filesystem::path folder;  ///< created when a recording is written
  int rank = 0;
  torch::Device device = torch::kCPU;
};

/// Starts, ends and writes the recordings of a rank. Use it in one thread. Recording does not
/// change the results of the training. If a recording cannot be written, the error is only logged.
class StepProfiler {
 public:
  StepProfiler(const config::Profile& settings, ProfilePlace place, TimeSplit& time_split);
  ~StepProfiler();  ///< calls finish()
  StepProfiler(const StepProfiler&) = delete;
  StepProfiler& operator=(const StepProfiler&) = delete;

  /// Call it before every step. It starts and ends the recording at the chosen steps.
  /// @param step number of steps that the run has done; the same number may be passed again if a
  ///   step was abandoned
  void before_step(std::int64_t step);
  /// Call it after the last step. It ends a recording and writes it.
  void finish() noexcept;

 private:
  class Recording;

  config::Profile settings_;
  ProfilePlace place_;
  TimeSplit& time_split_;
  std::optional<std::int64_t> first_step_;  ///< first step of this process
  std::unique_ptr<Recording> recording_;
};

}  // namespace traffic::train
