/// Figures of the world model for logs, TensorBoard, the summary and people.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/checkpoint/snapshot.h"
#include "traffic/report/metrics.h"
#include "world_model/trainer.h"
#include "world_model/validation.h"

namespace traffic::train {

report::NamedValues step_metrics(const StepResult& result);
report::NamedValues validation_metrics(const std::string& prefix, const Validation& validation);
std::map<std::string, double> summary_result(const Validation& validation);

void log_validation(std::int64_t epoch, const Validation& validation);
/// The table that ends a run, on standard output.
void print_validation(const Validation& validation, const config::Data& data, double frame_s);

/// @throws CheckpointError saying which setting differs
void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps);

}  // namespace traffic::train
