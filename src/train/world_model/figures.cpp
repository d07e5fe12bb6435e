#include "world_model/figures.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>

#include "run/snapshot_parts.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/report/table.h"

namespace traffic::train {
namespace {

constexpr double kSmoothing = 0.9;

}  // namespace

StepRates::StepRates() : last_(steady_seconds()) {}

void StepRates::add(const StepResult& result) {
  const double now = steady_seconds();
  last_step_s_ = now - last_;
  last_ = now;
  if (startup_s_ == 0.0) {  // the first step includes what happens only once
    startup_s_ = seconds_since_launch();
    first_step_samples_ = result.samples;
    recent_ = result.samples / last_step_s_;
    return;
  }
  seconds_ += last_step_s_;
  samples_ += result.samples;
  recent_ = kSmoothing * recent_ + (1.0 - kSmoothing) * result.samples / last_step_s_;
}

void StepRates::skip_pause() { last_ = steady_seconds(); }

double StepRates::mean_samples_per_s() const {
  return seconds_ > 0.0 ? samples_ / seconds_ : first_step_samples_ / std::max(1e-9, last_step_s_);
}

report::NamedValues step_metrics(const StepResult& result, const StepRates& rates,
                                 const report::TimeSplit& time_split) {
  report::NamedValues values{{"train/loss", result.loss},
                             {"train/grad_norm", result.grad_norm},
                             {"train/learning_rate", result.learning_rate},
                             {"train/loss_scale", result.loss_scale},
                             {"time/step_s", rates.last_step_s()},
                             {"time/samples_per_s", rates.recent_samples_per_s()}};
  for (const auto& [part, share] : time_split.shares()) {
    values.emplace_back("time_share/" + part, share);
  }
  return values;
}

report::NamedValues evaluation_metrics(const std::string& prefix, const Evaluation& evaluation) {
  report::NamedValues values{{prefix + "loss", evaluation.loss}};
  for (const auto& [name, value] : summary_result(evaluation))
    values.emplace_back(prefix + name, value);
  return values;
}

std::map<std::string, double> summary_result(const Evaluation& evaluation) {
  std::map<std::string, double> result{{"loss", evaluation.loss},
                                       {"vehicles", evaluation.vehicles},
                                       {"conflict_auc", evaluation.conflicts.auc()},
                                       {"conflict_base_rate", evaluation.conflicts.base_rate()}};
  const HorizonErrors& errors = evaluation.errors;
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

void log_evaluation(std::int64_t epoch, const Evaluation& evaluation) {
  const std::int64_t last = evaluation.errors.horizons() - 1;
  const double model = evaluation.errors.speed_rmse_mps(HorizonErrors::kModel, last);
  const double constant = evaluation.errors.speed_rmse_mps(HorizonErrors::kConstantVelocity, last);
  spdlog::info(
      "epoch {}: validation loss {:.4f}, speed RMSE {:.2f} m/s at the last horizon ({:.0f} % under "
      "constant velocity), "
      "conflict AUC {:.3f}",
      epoch, evaluation.loss, model, 100.0 * (1.0 - model / constant), evaluation.conflicts.auc());
}

void print_evaluation(const Evaluation& evaluation, const config::Data& data, double frame_s) {
  const HorizonErrors& errors = evaluation.errors;
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
                         evaluation.conflicts.auc(), 100.0 * evaluation.conflicts.base_rate(),
                         evaluation.vehicles)
                 .c_str(),
             stdout);
  std::fflush(stdout);
}

void check_resumable(const checkpoint::Snapshot& snapshot, const config::Config& config,
                     std::int64_t total_steps) {
  const auto refuse = [&](const char* what, const std::string& found, const std::string& expected) {
    throw CheckpointError(
        "checkpoint {}: {} is {}, this run has {}; go on with the configuration it was made with "
        "(the entry 'config' "
        "in it), or start anew with --resume never in another --run-dir",
        snapshot.source(), what, found, expected);
  };
  if (snapshot.integer("phase") != 1)
    refuse("the phase", std::to_string(snapshot.integer("phase")), "1");
  if (!has_equal_hash(snapshot, "model_hash", config, model_hash_text)) {
    refuse("the [model] table's hash", snapshot.text("model_hash"), model_hash_text(config));
  }
  const std::int64_t saved_steps = snapshot.integer("train/total_steps");
  if (saved_steps != total_steps) {
    spdlog::warn(
        "the checkpoint's run was to take {} steps, this one {} (other data.*, train.* or number "
        "of ranks): the run "
        "goes on, with this learning-rate schedule",
        saved_steps, total_steps);
  }
}

}  // namespace traffic::train
