#include "driving/trainer.h"

#include <spdlog/spdlog.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "monitor/memory_watch.h"
#include "optim/precision.h"
#include "optim/saved_state.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"

namespace traffic::train::driving_policy {
namespace {

/// Exponent with which the decay of the mean weights rises (k-diffusion, Diffusion Policy).
constexpr double kEmaPower = 0.75;

comm::NamedTensors mean_tensors(const comm::ParameterArena& parameters, const torch::Tensor& mean) {
  comm::NamedTensors all;
  for (const comm::ArenaEntry& entry : parameters.entries()) {
    all.emplace_back(entry.name, comm::view_of(mean, entry));
  }
  return all;
}

}  // namespace

Trainer::Trainer(const config::Config& config, Policy& policy, comm::Communicator& communicator,
                 TimeSplit& time_split, std::int64_t total_steps)
    : policy_(policy),
      communicator_(communicator),
      time_split_(time_split),
      accumulation_steps_(config.train.accumulation_steps),
      weight_decay_(config.train.weight_decay),
      gradients_(policy.parameters(), communicator),
      reducer_(communicator, gradients_,
               {.accumulation_steps = accumulation_steps_,
                .compression = comm::parse_compression(config.comm.compression),
                .clip_norm = config.train.clip_norm,
                .bucket_cap_mb = config.comm.bucket_cap_mb}),
      scales_loss_(config.train.precision == "fp16"),
      scaler_(scales_loss_ ? LossScaler(config.loss_scale) : LossScaler()),
      adam_(policy.parameters().flat(), {.beta1 = config.train.adam_beta1,
                                         .beta2 = config.train.adam_beta2,
                                         .eps = config.train.adam_eps}),
      schedule_(schedule_of(config.train, communicator.size(), total_steps)),
      mean_weights_(policy.parameters().flat().clone()) {
  policy.network()->set_compute_type(compute_type(config.train.precision));
}

StepResult Trainer::step(DrivingLoader& batches) {
  gradients_.zero();
  totals_ = {};
  failure_.reset();
  std::optional<comm::ReduceResult> reduced;
  for (std::int64_t part = 0; part < accumulation_steps_; ++part) {
    run_part(batches);
    const auto scope = time_split_.measure(TimeShare::kReduce);
    reduced = reducer_.after_backward();
  }
  {
    const auto scope = time_split_.measure(TimeShare::kReduce);
    totals_[2] = failure_ ? 1.0 : 0.0;
    communicator_.all_reduce(torch::from_blob(totals_.data(), {3}, torch::kDouble));
    if (totals_[2] > 0.0) throw_together(communicator_, failure_);
  }
  const auto scope = time_split_.measure(TimeShare::kOptimizer);
  const double learning_rate = schedule_.at(global_step_);
  scaler_.update(!reduced->finite);
  if (reduced->finite) {
    // Decoupled weight decay. Source: Loshchilov and Hutter 2019, arXiv:1711.05101.
    const torch::NoGradGuard no_grad;
    policy_.parameters().flat().mul_(1.0 - learning_rate * weight_decay_);
    adam_.step(gradients_.flat(), learning_rate, reduced->clip_factor);
    skipped_.in_a_row = 0;
  } else {
    ++skipped_.total;
    spdlog::warn(
        "step {}: the gradient is not finite on at least one rank; all ranks skip this "
        "update",
        global_step_);
    if (!scaler_.can_back_off()) {
      skipped_.count_in_a_row("the driving policy", "a lower train.learning_rate");
    }
  }
  ++global_step_;
  update_mean();
  return {.loss = totals_[0] / std::max(1e-12, totals_[1]),
          .grad_norm = reduced->grad_norm,
          .learning_rate = learning_rate,
          .samples = totals_[1]};
}

/// Forward and backward pass of one batch. If it fails, step() tells all ranks of the failure.
void Trainer::run_part(DrivingLoader& batches) {
  try {
    std::optional<DrivingBatch> batch;
    {
      const auto scope = time_split_.measure(TimeShare::kData);
      batch = batches.next();
      TRAFFIC_CHECK(batch.has_value(), "the epoch has no batch left");
    }
    const auto weight = batch->weight.sum().item<double>();
    torch::Tensor loss;
    {
      const auto scope = time_split_.measure(TimeShare::kForward);
      loss = policy_.loss(batch->to(policy_.device()));
    }
    const auto scope = time_split_.measure(TimeShare::kBackward);
    double factor = reducer_.before_backward(weight, scaler_.scale());
    if (fault::hit("train.step", communicator_.rank(), global_step_) == fault::Action::kNan) {
      factor = std::numeric_limits<double>::quiet_NaN();
    }
    (factor == 1.0 ? loss : loss * factor).backward();
    totals_[0] += loss.item<double>() * weight;
    totals_[1] += weight;
  } catch (const Error& error) {
    if (!failure_) failure_ = error;
  } catch (const c10::OutOfMemoryError& error) {
    if (!failure_) failure_ = out_of_gpu_memory(error.what_without_backtrace());
  }
}

void Trainer::update_mean() {
  const torch::NoGradGuard no_grad;
  const double decay =
      std::min(policy_.settings().ema_decay,
               1.0 - std::pow(1.0 + static_cast<double>(global_step_), -kEmaPower));
  mean_weights_.lerp_(policy_.parameters().flat(), 1.0 - decay);
}

void Trainer::start_from(const checkpoint::Snapshot& snapshot) {
  policy_.restore_statistics(snapshot);
  copy_parameters(snapshot, policy_.parameters().parameters());
  const torch::NoGradGuard no_grad;
  mean_weights_.copy_(policy_.parameters().flat());
}

void Trainer::save_to(checkpoint::Snapshot& snapshot) const {
  policy_.save_to(snapshot);
  // The mean weights, with which the policy drives, get the names that the export and other
  // programs expect.
  put_parameters(snapshot, mean_tensors(policy_.parameters(), mean_weights_));
  snapshot.put_tensor("train/weights", policy_.parameters().flat());
  put_adam(snapshot, "optimizer", adam_);
  snapshot.put_int("train/global_step", global_step_);
  snapshot.put_int("train/skipped_steps", skipped_.total);
  snapshot.put_int("train/skipped_in_a_row", skipped_.in_a_row);
  if (scales_loss_) put_loss_scale(snapshot, scaler_);
}

void Trainer::restore_from(const checkpoint::Snapshot& snapshot) {
  policy_.restore_statistics(snapshot);
  copy_parameters(snapshot, mean_tensors(policy_.parameters(), mean_weights_));
  {
    const torch::NoGradGuard no_grad;
    snapshot.copy_tensor("train/weights", policy_.parameters().flat());
  }
  restore_adam(snapshot, "optimizer", adam_);
  global_step_ = snapshot.integer("train/global_step");
  skipped_.total = snapshot.integer("train/skipped_steps");
  skipped_.in_a_row = snapshot.integer("train/skipped_in_a_row");
  if (scales_loss_) restore_loss_scale(snapshot, scaler_);
}

WithMeanWeights::WithMeanWeights(Policy& policy, const Trainer& trainer)
    : policy_(policy), weights_(policy.parameters().flat().clone()) {
  const torch::NoGradGuard no_grad;
  policy.parameters().flat().copy_(trainer.mean_weights());
}

WithMeanWeights::~WithMeanWeights() {
  const torch::NoGradGuard no_grad;
  policy_.parameters().flat().copy_(weights_);
}

}  // namespace traffic::train::driving_policy
