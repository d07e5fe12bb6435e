#include "world_model/trainer.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "monitor/memory_watch.h"
#include "optim/saved_state.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/comm/side_stream.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"

namespace traffic::train {
namespace {

/// The stream that reduces buckets of gradients during the backward pass. If it is null, the
/// gradients are reduced after the backward pass.
std::unique_ptr<comm::SideStream> make_overlap(const std::string& wish, at::Device device) {
  const bool on = wish == "on" || (wish == "auto" && device.is_cuda());
  return on ? comm::make_side_stream(device) : nullptr;
}

}  // namespace

/// Sums over the vehicles and samples of a step. All ranks exchange them in one small all_reduce,
/// which also tells them whether a rank has failed.
class StepTotals {
 public:
  void add(const WorldModelForward& forward, const FedBatch& fed) {
    sums_[0] += forward.loss.item<double>() * fed.vehicles;
    sums_[1] += fed.vehicles;
    sums_[2] += fed.samples;
  }
  void fail(const Error& error) {
    if (!failure_) failure_ = error;
  }
  void reduce(comm::Communicator& communicator) {
    sums_[3] = failure_ ? 1.0 : 0.0;
    communicator.all_reduce(torch::from_blob(sums_.data(), {4}, torch::kDouble));
    if (sums_[3] > 0.0) throw_together(communicator, failure_);
  }
  [[nodiscard]] double loss() const { return sums_[0] / std::max(1.0, sums_[1]); }
  [[nodiscard]] double vehicles() const { return sums_[1]; }
  [[nodiscard]] double samples() const { return sums_[2]; }

 private:
  std::array<double, 4> sums_{};
  std::optional<Error> failure_;
};

WorldModelTrainer::WorldModelTrainer(const config::Config& config, WorldModelNetworks& model,
                                     comm::Communicator& communicator, TimeSplit& time_split,
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
                .clip_norm = config.train.clip_norm,
                .bucket_cap_mb = config.comm.bucket_cap_mb},
               make_overlap(config.comm.overlap, communicator.device())),
      scales_loss_(config.train.precision == "fp16"),
      scaler_(scales_loss_ ? LossScaler(config.loss_scale) : LossScaler()),
      adam_(parameters_.flat(), {.beta1 = config.train.adam_beta1,
                                 .beta2 = config.train.adam_beta2,
                                 .eps = config.train.adam_eps,
                                 .weight_decay = config.train.weight_decay}),
      schedule_(schedule_of(config.train, communicator.size(), total_steps)) {}

StepResult WorldModelTrainer::step(BatchFeeder& batches) {
  TRAFFIC_CHECK(batches.steps_left() >= accumulation_steps_,
                "a step needs {} batches, but {} are left", accumulation_steps_,
                batches.steps_left());
  declare_unused_parameters();
  gradients_.zero();
  StepTotals totals;
  std::optional<comm::ReduceResult> reduced;
  for (std::int64_t part = 0; part < accumulation_steps_; ++part) {
    run_part(batches, totals);
    const auto scope = time_split_.measure(TimeShare::kReduce);
    reduced = reducer_.after_backward();
    if (reduced) totals.reduce(communicator_);
  }
  const auto scope = time_split_.measure(TimeShare::kOptimizer);
  const double learning_rate = schedule_.at(global_step_);
  const double loss_scale = scaler_.scale();
  scaler_.update(!reduced->finite);
  if (reduced->finite) {
    adam_.step(gradients_.flat(), learning_rate, reduced->clip_factor);
    skipped_.in_a_row = 0;
  } else {
    count_skipped();
  }
  const Stage stage = this->stage();
  ++global_step_;
  return StepResult{.loss = totals.loss(),
                    .grad_norm = reduced->grad_norm,
                    .learning_rate = learning_rate,
                    .samples = totals.samples(),
                    .loss_scale = loss_scale,
                    .skipped = !reduced->finite,
                    .stage = stage};
}

/// Forward and backward pass of one batch. If it fails, the totals tell all ranks of the failure.
void WorldModelTrainer::run_part(BatchFeeder& batches, StepTotals& totals) {
  try {
    const FedBatch fed = next_batch(batches);
    const Stopwatch watch;
    WorldModelForward forward = run_forward(fed.batch);
    run_backward(forward.loss, reducer_.before_backward(fed.vehicles, scaler_.scale()));
    speed_.seconds += watch.seconds();
    prepare_batch(batches);
    const Stopwatch rest;
    add_loss(forward, fed, totals);
    speed_.samples += fed.samples;
    speed_.seconds += rest.seconds();
  } catch (const Error& error) {
    totals.fail(error);
  } catch (const c10::OutOfMemoryError& error) {
    totals.fail(out_of_gpu_memory(error.what_without_backtrace()));
  }
}

void WorldModelTrainer::declare_unused_parameters() {
  if (declared_stage_ == stage()) return;
  declared_stage_ = stage();
  reducer_.declare_unused(model_.parameters_without_gradient(stage()));
}

FedBatch WorldModelTrainer::next_batch(BatchFeeder& batches) {
  const auto scope = time_split_.measure(TimeShare::kData);
  return batches.next().value();
}

/// Prepares the next batch while the device computes.
void WorldModelTrainer::prepare_batch(BatchFeeder& batches) {
  const auto scope = time_split_.measure(TimeShare::kData);
  batches.prepare();
}

/// Adds the loss to the totals. Reading the loss waits until the device has finished its work.
void WorldModelTrainer::add_loss(const WorldModelForward& forward, const FedBatch& fed,
                                 StepTotals& totals) {
  const auto scope = time_split_.measure(TimeShare::kBackward);
  totals.add(forward, fed);
}

WorldModelForward WorldModelTrainer::run_forward(const data::Batch& batch) {
  const auto scope = time_split_.measure(TimeShare::kForward);
  return model_.forward(batch, stage());
}

void WorldModelTrainer::run_backward(torch::Tensor& loss, double factor) {
  const auto scope = time_split_.measure(TimeShare::kBackward);
  const auto action = fault::hit("train.step", communicator_.rank(), global_step_);
  if (action == fault::Action::kNan) factor = std::numeric_limits<double>::quiet_NaN();
  if (action == fault::Action::kHuge) loss = loss * 1e4;
  (factor == 1.0 ? loss : loss * factor).backward();
}

Stage WorldModelTrainer::stage() const {
  return global_step_ < stage1_steps_ ? Stage::kNextState : Stage::kFuture;
}

void WorldModelTrainer::count_skipped() {
  ++skipped_.total;
  spdlog::warn(
      "step {}: the gradient is not finite on at least one rank; all ranks skip this update{}",
      global_step_, scales_loss_ ? fmt::format(" (loss scale now {})", scaler_.scale()) : "");
  if (scaler_.can_back_off()) return;
  skipped_.count_in_a_row(fmt::format("step {}", global_step_),
                          "a lower train.learning_rate or with train.precision = \"fp32\"");
}

void WorldModelTrainer::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_.parameters());
}

void WorldModelTrainer::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_.parameters());
  put_adam(snapshot, "optimizer", adam_);
  snapshot.put_int("train/global_step", global_step_);
  snapshot.put_int("train/total_steps", schedule_.total_steps);
  snapshot.put_int("train/skipped_steps", skipped_.total);
  snapshot.put_int("train/skipped_in_a_row", skipped_.in_a_row);
  if (scales_loss_) put_loss_scale(snapshot, scaler_);
}

void WorldModelTrainer::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  restore_adam(snapshot, "optimizer", adam_);
  global_step_ = snapshot.integer("train/global_step");
  skipped_.total = snapshot.integer("train/skipped_steps");
  skipped_.in_a_row = snapshot.integer("train/skipped_in_a_row");
  if (scales_loss_) restore_loss_scale(snapshot, scaler_);
}

}  // namespace traffic::train
