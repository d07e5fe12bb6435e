/// Metrics of the world model for logs, TensorBoard, the summary and the final table.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/report/metrics.h"
#include "world_model/trainer.h"
#include "world_model/validation.h"

namespace traffic::train {

/// Collects the metrics of several steps: the values of the last step, and some ranges over all of
/// them.
class StepFigures {
 public:
  /// @param clip_norm train.clip_norm
  explicit StepFigures(double clip_norm) : clip_norm_(clip_norm) {}
  void add(const StepResult& result);
  /// Returns the metrics of the steps since the last call. There must be at least one.
  report::NamedValues take();

 private:
  double clip_norm_;
  StepResult last_;
  double least_norm_ = std::numeric_limits<double>::infinity();
  double most_norm_ = 0.0;
  std::int64_t steps_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t far_over_ = 0;  ///< steps whose gradient norm was far above clip_norm
};
report::NamedValues validation_metrics(const std::string& prefix, const Validation& validation);
std::map<std::string, double> summary_result(const Validation& validation);

void log_validation(std::int64_t epoch, const Validation& validation);
/// Prints the final table of a run to standard output.
void print_validation(const Validation& validation, const config::Data& data, double frame_s);

/// @throws CheckpointError that names the differing setting
void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps);

}  // namespace traffic::train
