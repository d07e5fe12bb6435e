/// Turns the results of steps and validations of the world model into metrics and log lines.
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

/// Collects the metrics of several steps: loss, gradient norm, learning rate and loss scale of the
/// last step, the minimum and maximum gradient norm of the steps that were not skipped, and the
/// shares of steps that were skipped or had a gradient norm far above the limit for clipping.
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
  std::int64_t far_over_ = 0;  ///< steps whose gradient norm was above 10 * clip_norm
};

/// The metrics of a validation, with a prefix before each name.
report::NamedValues validation_metrics(const std::string& prefix, const Validation& validation);
/// The metrics of a validation for summary.json.
std::map<std::string, double> summary_result(const Validation& validation);

/// Logs a line with the loss and the main errors of a validation.
void log_validation(std::int64_t epoch, const Validation& validation);
/// Prints the final table of a run to standard output.
void print_validation(const Validation& validation, const config::Data& data, double frame_s);

/// Checks that the model of a checkpoint has the sizes of the configuration, and warns if the
/// length of the training differs.
/// @throws CheckpointError with the names of the differing settings
void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps);

}  // namespace traffic::train
