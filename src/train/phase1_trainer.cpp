#include "phase1_trainer.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "snapshot_parts.h"
#include "together.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kMaxSkippedInARow = 10;

LrSchedule make_schedule(const config::Train& train, std::int64_t total_steps) {
  const double warmup_share =
      train.warmup_epochs / static_cast<double>(std::max<std::int64_t>(1, train.epochs));
  return {.peak = train.learning_rate,
          .floor = train.min_learning_rate,
          .warmup_steps = std::llround(warmup_share * static_cast<double>(total_steps)),
          .total_steps = total_steps};
}

void spoil(const at::Tensor& gradients) {
  gradients.narrow(0, 0, 1).fill_(std::numeric_limits<float>::quiet_NaN());
}

}  // namespace

/// What every step tells all ranks in one small all_reduce.
class StepTotals {
 public:
  void add(const Phase1Forward& forward, const data::Batch& batch, double vehicles) {
    sums_[0] += forward.loss.item<double>() * vehicles;
    sums_[1] += vehicles;
    sums_[2] += batch.sample_weight.sum().item<double>();
  }
  void fail(const Error& error) {
    if (!failure_) failure_ = error;
  }
  void reduce(comm::Communicator& communicator) {
    sums_[3] = stop_requested() ? 1.0 : 0.0;
    sums_[4] = failure_ ? 1.0 : 0.0;
    communicator.all_reduce(torch::from_blob(sums_.data(), {5}, torch::kDouble));
    if (sums_[4] > 0.0) throw_together(communicator, failure_);
  }
  [[nodiscard]] double loss() const { return sums_[0] / std::max(1.0, sums_[1]); }
  [[nodiscard]] double vehicles() const { return sums_[1]; }
  [[nodiscard]] double samples() const { return sums_[2]; }
  [[nodiscard]] bool stop() const { return sums_[3] > 0.0; }

 private:
  std::array<double, 5> sums_{};
  std::optional<Error> failure_;
};

Phase1Trainer::Phase1Trainer(const config::Config& config, Phase1Model& model,
                             comm::Communicator& communicator, report::TimeSplit& time_split,
                             std::int64_t total_steps)
    : model_(model),
      communicator_(communicator),
      time_split_(time_split),
      accumulation_steps_(config.train.accumulation_steps),
      stage1_steps_(std::llround(config.train.stage1_share * static_cast<double>(total_steps))),
      parameters_(model.trainable_parameters()),
      gradients_(parameters_, communicator),
      reducer_(communicator, gradients_,
               {.accumulation_steps = accumulation_steps_,
                .compression = comm::parse_compression(config.comm.compression),
                .clip_norm = config.train.clip_norm}),
      adam_(parameters_.flat(), {.beta1 = config.train.adam_beta1,
                                 .beta2 = config.train.adam_beta2,
                                 .eps = config.train.adam_eps,
                                 .weight_decay = config.train.weight_decay}),
      schedule_(make_schedule(config.train, total_steps)) {}

std::optional<StepResult> Phase1Trainer::step(data::DataLoader& loader) {
  if (loader.steps_left() < accumulation_steps_) return std::nullopt;
  gradients_.zero();
  StepTotals totals;
  std::optional<comm::ReduceResult> reduced;
  for (std::int64_t part = 0; part < accumulation_steps_; ++part) {
    const double vehicles = run_part(loader, totals);
    const auto scope = time_split_.measure(report::Share::kReduce);
    reduced = reducer_.reduce(vehicles);
    if (reduced) totals.reduce(communicator_);
  }
  const auto scope = time_split_.measure(report::Share::kOptimizer);
  const double learning_rate = schedule_.at(global_step_);
  if (reduced->finite) {
    adam_.step(gradients_.flat(), learning_rate, reduced->clip_factor);
    skipped_in_a_row_ = 0;
  } else {
    count_skipped();
  }
  ++global_step_;
  return StepResult{.loss = totals.loss(),
                    .grad_norm = reduced->grad_norm,
                    .learning_rate = learning_rate,
                    .samples = totals.samples(),
                    .skipped = !reduced->finite,
                    .stop_requested = totals.stop()};
}

/// Forward and backward of a batch. What fails is told to all ranks with the totals.
/// @return its vehicles
double Phase1Trainer::run_part(data::DataLoader& loader, StepTotals& totals) {
  try {
    const data::Batch batch = next_batch(loader);
    const double vehicles = vehicle_weights(batch).sum().item<double>();
    const Phase1Forward forward = run_forward(batch);
    run_backward(forward);
    totals.add(forward, batch, vehicles);
    if (fault::hit("train.step", communicator_.rank(), global_step_) == fault::Action::kNan) {
      spoil(gradients_.flat());
    }
    return vehicles;
  } catch (const Error& error) {
    totals.fail(error);
    return 0.0;
  }
}

data::Batch Phase1Trainer::next_batch(data::DataLoader& loader) {
  const auto scope = time_split_.measure(report::Share::kData);
  return loader.next().value().to(communicator_.device());
}

Phase1Forward Phase1Trainer::run_forward(const data::Batch& batch) {
  const auto scope = time_split_.measure(report::Share::kForward);
  return model_.forward(batch, stage());
}

void Phase1Trainer::run_backward(const Phase1Forward& forward) {
  const auto scope = time_split_.measure(report::Share::kBackward);
  forward.loss.backward();
}

Stage Phase1Trainer::stage() const {
  return global_step_ < stage1_steps_ ? Stage::kNextState : Stage::kFuture;
}

void Phase1Trainer::count_skipped() {
  ++skipped_steps_;
  ++skipped_in_a_row_;
  spdlog::warn(
      "step {}: the gradient is not finite on at least one rank; all ranks skip this update",
      global_step_);
  if (skipped_in_a_row_ >= kMaxSkippedInARow) {
    throw NumericError(
        "step {}: {} updates in a row had a gradient that is not finite; the checkpoints from "
        "before are whole: "
        "resume with a lower train.learning_rate or with train.precision = \"fp32\"",
        global_step_, skipped_in_a_row_);
  }
}

void Phase1Trainer::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
}

void Phase1Trainer::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  put_adam(snapshot, "optimizer", adam_);
  snapshot.put_int("train/global_step", global_step_);
  snapshot.put_int("train/total_steps", schedule_.total_steps);
  snapshot.put_int("train/skipped_steps", skipped_steps_);
  snapshot.put_int("train/skipped_in_a_row", skipped_in_a_row_);
}

void Phase1Trainer::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  restore_adam(snapshot, "optimizer", adam_);
  global_step_ = snapshot.integer("train/global_step");
  skipped_steps_ = snapshot.integer("train/skipped_steps");
  skipped_in_a_row_ = snapshot.integer("train/skipped_in_a_row");
}

}  // namespace traffic::train
