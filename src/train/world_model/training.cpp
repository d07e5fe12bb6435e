#include "world_model/training.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "monitor/gpu.h"
#include "optim/precision.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/model/memory.h"
#include "world_model/batch_feeder.h"
#include "world_model/batch_size.h"
#include "world_model/data.h"
#include "world_model/figures.h"
#include "world_model/networks.h"
#include "world_model/presets.h"
#include "world_model/rank_shares.h"
#include "world_model/trainer.h"
#include "world_model/validation.h"

namespace traffic::train {
namespace {

/// Number of optimiser steps of the whole training.
/// @param batches_per_epoch batches of one rank
std::int64_t total_steps_of(const config::Train& train, std::int64_t batches_per_epoch) {
  const std::int64_t steps = train.epochs * (batches_per_epoch / train.accumulation_steps);
  if (steps < 1) {
    throw ConfigError(
        "train.accumulation_steps is {}, but an epoch has only {} batches; lower "
        "train.accumulation_steps, data.batch_size or the number of ranks, or record more data",
        train.accumulation_steps, batches_per_epoch);
  }
  return train.max_steps > 0 ? std::min(steps, train.max_steps) : steps;
}

/// The stream that copies the next batch to a GPU while it computes; null on the CPU, where nothing
/// is copied.
std::unique_ptr<comm::SideStream> make_copy_stream(torch::Device device) {
  return device.is_cpu() ? nullptr : comm::make_side_stream(device);
}

void log_damage(data::TrafficLoader& loader) {
  for (const std::string& message : loader.take_damage()) {
    spdlog::warn("data: damaged samples are replaced by others: {}", message);
  }
}

/// The training `world_model` (phase 1). Each call of iterate() makes one optimiser step. The
/// validation split is evaluated after some epochs, and the test split at the end.
class WorldModelTraining final : public Training {
 public:
  explicit WorldModelTraining(Run& run)
      : run_(run),
        config_(with_batch_size(run)),
        communicator_(run.communicator()),
        data_(open_world_model_data(config_, communicator_)),
        train_loader_(make_train_loader(data_, config_, communicator_)),
        batches_(*train_loader_, communicator_.device(), make_copy_stream(communicator_.device())),
        model_(config_, data_.train->info().frame_interval_s, communicator_.device()),
        trainer_(config_, model_, communicator_, time_split_,
                 total_steps_of(config_.train, train_loader_->steps_per_epoch())),
        figures_(config_.train.clip_norm) {
    model_.ignore_missing(data_.train->info());
    // If a split cannot be evaluated, this throws now instead of after an epoch.
    for (const auto& split : {data_.validation, data_.test}) {
      make_evaluation_loader(split, config_, communicator_);
    }
  }

  [[nodiscard]] TrainingUnits units() const override { return {.first_is_warm_up = true}; }
  [[nodiscard]] std::int64_t step() const override { return trainer_.global_step(); }
  [[nodiscard]] std::int64_t total_steps() const override { return trainer_.total_steps(); }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return trainer_.parameters();
  }

  [[nodiscard]] MemoryNeeds memory_needs() const override;
  [[nodiscard]] std::string batch_text() const override;

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override { trainer_.restore_from(snapshot); }
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override {
    summary.faults["skipped_steps"] = trainer_.skipped_steps();
    summary.faults["damaged_blocks"] = train_loader_->num_bad_blocks();
  }

 private:
  void end_epoch(Iteration& done);
  void measure_ranks();
  void take_rank_weights(std::vector<double> weights);
  void restore_rank_weights(const checkpoint::Snapshot& snapshot);
  [[nodiscard]] bool is_epoch_over() const {
    return batches_.steps_left() < config_.train.accumulation_steps;
  }

  Run& run_;
  config::Config config_;  ///< with the batch size and rank shares in use
  comm::Communicator& communicator_;
  WorldModelData data_;
  std::unique_ptr<data::TrafficLoader> train_loader_;
  BatchFeeder batches_;
  WorldModelNetworks model_;
  WorldModelTrainer trainer_;
  StepFigures figures_;
  std::int64_t epoch_ = 0;
  double best_loss_ = std::numeric_limits<double>::infinity();
  bool epoch_running_ = false;
  /// Whether this process has done a step. The first step takes longer than later steps.
  bool is_warm_ = false;
};

/// Activations are allocated on the model's device, decoded data in main memory.
MemoryNeeds WorldModelTraining::memory_needs() const {
  const std::int64_t activations = activation_bytes(config_);
  std::int64_t decoded = 0;
  for (const data::SampleBlock& block : data_.train->blocks()) decoded += block.decoded_bytes;
  const std::int64_t cache = std::min(decoded, config_.data.cache_mb << 20);
  const bool on_gpu = communicator_.device().is_cuda();
  return {.host = cache + (on_gpu ? 0 : activations), .gpu = on_gpu ? activations : 0};
}

std::string WorldModelTraining::batch_text() const {
  const std::int64_t parts = config_.train.accumulation_steps;
  const std::int64_t all = config_.data.batch_size * communicator_.size() * parts;
  return fmt::format(
      "{} samples: data.batch_size = {} per rank, {} rank{}{}{}", all, config_.data.batch_size,
      communicator_.size(), communicator_.size() == 1 ? "" : "s",
      parts > 1 ? fmt::format(", train.accumulation_steps = {}", parts) : "",
      advice_on_batch(config_.data.batch_size, train_loader_->steps_per_epoch() / parts));
}

void WorldModelTraining::start() {
  if (config_.run.init_from.empty()) return;
  const auto start = checkpoint::load(config_.run.init_from);
  if (run_.is_reporter()) warn_of_unknown_settings(start);
  trainer_.start_from(start);
  model_.ignore_missing(data_.train->info());
}

/// Makes one step. After the last step of an epoch, it ends the epoch.
std::optional<Iteration> WorldModelTraining::iterate() {
  if (epoch_running_ && is_epoch_over()) {
    // Only a resumed run gets here, for example with another number of ranks. The rest of its epoch
    // is then too small for one more step.
    Iteration none;
    end_epoch(none);
    return none;
  }
  if (!epoch_running_) batches_.start_epoch(epoch_);
  epoch_running_ = true;
  const StepResult result = trainer_.step(batches_);
  figures_.add(result);
  if (!std::exchange(is_warm_, true)) trainer_.take_speed();
  log_damage(*train_loader_);
  Iteration done{
      .items = static_cast<std::int64_t>(result.samples),
      .loss = WatchedLoss{.value = result.loss, .stage = static_cast<std::int64_t>(result.stage)},
      .shown = {{"loss", result.loss}}};
  if (is_epoch_over() || step() >= total_steps()) end_epoch(done);
  if (step() % config_.log.interval_steps == 0 || step() >= total_steps()) {
    done.metrics = figures_.take();
  }
  return done;
}

void WorldModelTraining::end_epoch(Iteration& done) {
  epoch_running_ = false;
  ++epoch_;
  batches_.end_epoch();
  measure_ranks();
  done.evaluation_due = epoch_ % config_.train.eval_interval_epochs == 0;
  done.save_due = epoch_ % config_.checkpoint.save_interval_epochs == 0;
}

/// If the shares of the ranks are not known yet, measures them at the end of an epoch. They apply
/// to all later epochs, also in resumed runs.
void WorldModelTraining::measure_ranks() {
  if (config_.data.shard_weights != "measured" || !config_.data.rank_weights.empty()) return;
  std::vector<double> shares = measured_shares(trainer_.take_speed(), communicator_);
  if (shares.empty()) return;
  if (run_.is_reporter()) {
    spdlog::info("data: the measured speeds give the ranks these shares of the samples: {:.2f}",
                 fmt::join(shares, ", "));
  }
  take_rank_weights(std::move(shares));
}

void WorldModelTraining::take_rank_weights(std::vector<double> weights) {
  config_.data.rank_weights = std::move(weights);
  train_loader_->set_rank_weights(config_.data.rank_weights);
}

std::optional<Assessment> WorldModelTraining::evaluate() {
  const auto loader = make_evaluation_loader(data_.validation, config_, communicator_);
  Validation validation = validate(model_, *loader, communicator_, config_.train.eval_max_batches);
  log_damage(*loader);
  if (fault::hit("train.validate", communicator_.rank(), epoch_) == fault::Action::kNan) {
    validation.loss = std::numeric_limits<double>::quiet_NaN();
  }
  log_validation(epoch_, validation);
  const std::int64_t empty_cache_epochs = config_.gpu.empty_cache_epochs;
  if (empty_cache_epochs > 0 && epoch_ % empty_cache_epochs == 0) {
    empty_gpu_cache(communicator_.device());
  }
  // Releases idle activations, because the checkpoint that follows needs memory.
  model::release_cached_memory();
  if (!std::isfinite(validation.loss)) {
    throw NumericError(
        "step {}: the loss on the validation episodes is {}, so the parameters are unusable; lower "
        "train.learning_rate",
        step(), validation.loss);
  }
  const bool best = validation.loss < best_loss_;
  if (best) best_loss_ = validation.loss;
  return Assessment{.best = best,
                    .save = epoch_ % config_.checkpoint.save_interval_epochs == 0,
                    .metrics = validation_metrics("validation/", validation)};
}

void WorldModelTraining::save_to(checkpoint::Snapshot& snapshot) const {
  trainer_.save_to(snapshot);
  const std::vector<std::int64_t> sampler =
      (epoch_running_ ? batches_.state() : data::SamplerState{}).encode();
  snapshot.put_tensor("sampler", torch::tensor(sampler));
  snapshot.put_int("train/epoch", epoch_);
  snapshot.put_int("train/epoch_running", epoch_running_ ? 1 : 0);
  snapshot.put_real("train/best_loss", best_loss_);
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("features", features_text(data_.train->info()));
  snapshot.put_int("data/batch_size", config_.data.batch_size);
  if (config_.data.shard_weights == "measured" && !config_.data.rank_weights.empty()) {
    snapshot.put_tensor("data/rank_weights",
                        torch::tensor(config_.data.rank_weights, torch::kDouble));
  }
}

void WorldModelTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  check_resumable(snapshot, config_, trainer_.total_steps());
  check_features(snapshot, data_.train->info());
  trainer_.restore_from(snapshot);
  epoch_ = snapshot.integer("train/epoch");
  epoch_running_ = snapshot.integer("train/epoch_running") != 0;
  best_loss_ = snapshot.real("train/best_loss");
  restore_rank_weights(snapshot);
  if (epoch_running_) {
    const at::Tensor sampler = snapshot.tensor("sampler");
    const std::vector<std::int64_t> numbers(sampler.data_ptr<std::int64_t>(),
                                            sampler.data_ptr<std::int64_t>() + sampler.numel());
    batches_.restore(data::SamplerState::decode(numbers));
  }
}

/// Restores measured shares if the number of ranks is the same; otherwise they are measured again.
void WorldModelTraining::restore_rank_weights(const checkpoint::Snapshot& snapshot) {
  if (config_.data.shard_weights != "measured" || !snapshot.contains("data/rank_weights")) return;
  const at::Tensor saved = snapshot.tensor("data/rank_weights");
  if (saved.numel() != communicator_.size()) return;
  take_rank_weights({saved.data_ptr<double>(), saved.data_ptr<double>() + saved.numel()});
}

void WorldModelTraining::conclude(report::Summary& summary) {
  model::release_cached_memory();
  const auto loader = make_evaluation_loader(data_.test, config_, communicator_);
  const Validation test = validate(model_, *loader, communicator_, 0);
  log_damage(*loader);
  summary.result = summary_result(test);
  if (run_.is_reporter()) print_validation(test, config_.data, model_.frame_s());
}

}  // namespace

TrainingRow world_model_training() {
  return {.facts = {.name = "world_model",
                    .number = "1",
                    .folder = "phase1",
                    .help = "the graph encoder and the world model, on recorded traffic",
                    .product = "World model",
                    .about = "A world model of traffic on a road with connected vehicles: a graph "
                             "encoder and a recurrent model that predicts the next states of the "
                             "vehicles and their conflicts.",
                    .starts_from = {},
                    .simulates = false,
                    .sections = {"data", "data.augmentation", "train", "loss_scale"},
                    .presets = world_model_presets()},
          .make = [](Run& run) -> std::unique_ptr<Training> {
            check_precision("train.precision", run.config().train.precision,
                            run.communicator().device());
            return std::make_unique<WorldModelTraining>(run);
          }};
}

}  // namespace traffic::train
