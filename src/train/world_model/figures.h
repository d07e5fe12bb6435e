/// Figures of phase 1 for logs, TensorBoard, the summary and people.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/report/metrics.h"
#include "world_model/trainer.h"
#include "world_model/validation.h"

namespace traffic::train {

/// Throughput over the whole run and lately, without pauses for validation and saving.
class StepRates {
 public:
  StepRates();
  void add(const StepResult& result);
  /// What happened since the last step is not training time.
  void skip_pause();

  [[nodiscard]] double last_step_s() const { return last_step_s_; }
  [[nodiscard]] double recent_samples_per_s() const { return recent_; }
  [[nodiscard]] double mean_samples_per_s() const;
  [[nodiscard]] double seconds() const { return seconds_; }
  /// From launch to the end of the first step.
  [[nodiscard]] double startup_s() const { return startup_s_; }

 private:
  double last_ = 0.0;
  double last_step_s_ = 0.0;
  double recent_ = 0.0;
  double seconds_ = 0.0;
  double samples_ = 0.0;
  double first_step_samples_ = 0.0;
  double startup_s_ = 0.0;
};

report::NamedValues step_metrics(const StepResult& result, const StepRates& rates,
                                 const report::TimeSplit& time_split);
report::NamedValues evaluation_metrics(const std::string& prefix, const Evaluation& evaluation);
std::map<std::string, double> summary_result(const Evaluation& evaluation);

void log_evaluation(std::int64_t epoch, const Evaluation& evaluation);
/// The table that ends a run, on standard output.
void print_evaluation(const Evaluation& evaluation, const config::Data& data, double frame_s);

/// @throws CheckpointError saying which setting differs
void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps);

}  // namespace traffic::train
