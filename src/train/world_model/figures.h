/// Figures of the world model for logs, TensorBoard, the summary and people.
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

/// Of the steps since the last line of metrics: what the last one came to, and the range of all.
class StepFigures {
 public:
  /// @param clip_norm train.clip_norm
  explicit StepFigures(double clip_norm) : clip_norm_(clip_norm) {}
  void add(const StepResult& result);
  /// After a step.
  report::NamedValues take();

 private:
  double clip_norm_;
  StepResult last_;
  double least_norm_ = std::numeric_limits<double>::infinity();
  double most_norm_ = 0.0;
  std::int64_t steps_ = 0;
  std::int64_t skipped_ = 0;
  std::int64_t far_over_ = 0;  ///< steps whose gradient was far over the norm it is clipped to
};
report::NamedValues validation_metrics(const std::string& prefix, const Validation& validation);
std::map<std::string, double> summary_result(const Validation& validation);

void log_validation(std::int64_t epoch, const Validation& validation);
/// The table that ends a run, on standard output.
void print_validation(const Validation& validation, const config::Data& data, double frame_s);

/// @throws CheckpointError saying which setting differs
void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps);

}  // namespace traffic::train
