#include "world_model/figures.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

#include "run/snapshot_parts.h"
#include "traffic/core/error.h"
#include "traffic/report/table.h"

namespace traffic::train {

void StepFigures::add(const StepResult& result) {
  constexpr double kFar = 10.0;  // a gradient norm above this multiple of clip_norm is "far above"
  last_ = result;
  ++steps_;
  if (result.skipped) {
    ++skipped_;
    return;
  }
  least_norm_ = std::min(least_norm_, result.grad_norm);
  most_norm_ = std::max(most_norm_, result.grad_norm);
  if (result.grad_norm > kFar * clip_norm_) ++far_over_;
}

report::NamedValues StepFigures::take() {
  const auto steps = static_cast<double>(std::max<std::int64_t>(1, steps_));
  const auto share = [&](std::int64_t count) { return static_cast<double>(count) / steps; };
  report::NamedValues values{{"train/loss", last_.loss},
                             {"train/grad_norm", last_.grad_norm},
                             {"train/grad_norm_min", least_norm_},
                             {"train/grad_norm_max", most_norm_},
                             {"train/clipped", share(far_over_)},
                             {"train/overflow_rate", share(skipped_)},
                             {"train/learning_rate", last_.learning_rate},
                             {"train/loss_scale", last_.loss_scale}};
  *this = StepFigures(clip_norm_);
  return values;
}

report::NamedValues validation_metrics(const std::string& prefix, const Validation& validation) {
  report::NamedValues values{{prefix + "loss", validation.loss}};
  for (const auto& [name, value] : summary_result(validation))
    values.emplace_back(prefix + name, value);
  return values;
}

std::map<std::string, double> summary_result(const Validation& validation) {
  std::map<std::string, double> result{{"loss", validation.loss},
                                       {"vehicles", validation.vehicles},
                                       {"conflict_auc", validation.conflicts.auc()},
                                       {"conflict_base_rate", validation.conflicts.base_rate()}};
  const HorizonErrors& errors = validation.errors;
  constexpr std::array<const char*, HorizonErrors::kNumPredictors> kPrefixes{
      "", "constant_velocity_", "constant_acceleration_"};
  for (std::int64_t h = 0; h < errors.horizons(); ++h) {
    for (const auto predictor : {HorizonErrors::kModel, HorizonErrors::kConstantVelocity,
                                 HorizonErrors::kConstantAcceleration}) {
      result[fmt::format("{}position_rmse_m_frame{}", kPrefixes[predictor], h + 1)] =
          errors.position_rmse_m(predictor, h);
      result[fmt::format("{}speed_rmse_mps_frame{}", kPrefixes[predictor], h + 1)] =
          errors.speed_rmse_mps(predictor, h);
    }
  }
  return result;
}

void log_validation(std::int64_t epoch, const Validation& validation) {
  const std::int64_t last = validation.errors.horizons() - 1;
  const double model = validation.errors.speed_rmse_mps(HorizonErrors::kModel, last);
  const double constant = validation.errors.speed_rmse_mps(HorizonErrors::kConstantVelocity, last);
  spdlog::info(
      "epoch {}: validation loss {:.4f}, speed RMSE {:.2f} m/s at the last horizon ({:.0f} % less "
      "than with constant velocity), conflict AUC {:.3f}",
      epoch, validation.loss, model, 100.0 * (1.0 - model / constant), validation.conflicts.auc());
}

void print_validation(const Validation& validation, const config::Data& data, double frame_s) {
  const HorizonErrors& errors = validation.errors;
  std::vector<std::string> columns{"RMSE on the test episodes"};
  for (std::int64_t h = 0; h < errors.horizons(); ++h) {
    const double seconds = frame_s * static_cast<double>(h + 1);
    columns.push_back(fmt::format("x {:g} s [m]", seconds));
    columns.push_back(fmt::format("v {:g} s [m/s]", seconds));
  }
  report::Table table(columns);
  for (const auto predictor : {HorizonErrors::kModel, HorizonErrors::kConstantVelocity,
                               HorizonErrors::kConstantAcceleration}) {
    std::vector<report::Table::Cell> row{std::string(HorizonErrors::kNames[predictor])};
    for (std::int64_t h = 0; h < errors.horizons(); ++h) {
      row.push_back(errors.position_rmse_m(predictor, h));
      row.push_back(errors.speed_rmse_mps(predictor, h));
    }
    table.add_row(row);
  }
  std::fputs(table.to_text().c_str(), stdout);
  std::fputs(fmt::format("conflict (time-to-collision under {:g} s within {:g} s): AUC {:.3f}, "
                         "base rate {:.1f} %, "
                         "{:.0f} vehicles\n",
                         data.conflict_ttc_s, frame_s * static_cast<double>(errors.horizons()),
                         validation.conflicts.auc(), 100.0 * validation.conflicts.base_rate(),
                         validation.vehicles)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps) {
  if (!has_equal_hash(snapshot, "model_hash", config, model_hash_text)) {
    throw CheckpointError(
        "checkpoint {}: its model was made with {}; resume with the configuration that it was made "
        "with (entry 'config' of the checkpoint), or start a new run with --resume never in "
        "another --run-dir",
        snapshot.source(), differing_settings(snapshot, config, is_of_model));
  }
  const std::int64_t saved_steps = snapshot.integer("train/total_steps");
  if (saved_steps != total_steps) {
    spdlog::warn(
        "the run that saved the checkpoint had {} steps in total, this run has {}, because "
        "data.*, train.* or the number of ranks differ; the learning-rate schedule of this run "
        "applies",
        saved_steps, total_steps);
  }
}

}  // namespace traffic::train
