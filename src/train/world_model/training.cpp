#include "world_model/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "optim/precision.h"
#include "run/gpu.h"
#include "run/memory_watch.h"
#include "run/snapshot_parts.h"
#include "run/step_profiler.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/hash.h"
#include "traffic/model/memory.h"
#include "traffic/report/progress_bar.h"
#include "traffic/report/time_split.h"
#include "world_model/batch_feeder.h"
#include "world_model/data.h"
#include "world_model/figures.h"
#include "world_model/networks.h"
#include "world_model/trainer.h"
#include "world_model/validation.h"

namespace traffic::train {
namespace {

std::int64_t total_steps(const config::Train& train, std::int64_t batches_per_epoch) {
  const std::int64_t steps = train.epochs * (batches_per_epoch / train.accumulation_steps);
  if (steps < 1) {
    throw ConfigError(
        "train.accumulation_steps: {} batches to accumulate, but an epoch has {}; lower it, "
        "data.batch_size or the "
        "number of ranks, or record more data",
        train.accumulation_steps, batches_per_epoch);
  }
  return train.max_steps > 0 ? std::min(steps, train.max_steps) : steps;
}

/// Where the next batch is copied while one is computed with; the CPU has nothing to copy.
std::unique_ptr<comm::SideStream> make_copy_stream(torch::Device device) {
  return device.is_cpu() ? nullptr : comm::make_side_stream(device);
}

/// The phase on this rank: everything that lives as long as it.
class WorldModelTraining {
 public:
  explicit WorldModelTraining(Run& run)
      : run_(run),
        communicator_(run.communicator()),
        data_(open_world_model_data(run.config(), communicator_)),
        train_loader_(make_train_loader(data_, run.config(), communicator_)),
        batches_(*train_loader_, communicator_.device(), make_copy_stream(communicator_.device())),
        model_(run.config(), data_.train->info().frame_interval_s, communicator_.device()),
        trainer_(run.config(), model_, communicator_, time_split_,
                 total_steps(run.config().train, train_loader_->steps_per_epoch())),
        memory_watch_({.allocated_gb = run.config().gpu.allocated_limit_gb,
                       .reserved_gb = run.config().gpu.reserved_limit_gb}),
        profiler_(run.config().profile, profile_place(run), time_split_) {
    run.check_room(snapshot().total_bytes());
  }

  PhaseEnd train();
  void finish(PhaseEnd end);

 private:
  void resume();
  [[nodiscard]] bool train_epoch();  // false: a stop was requested
  void after_step(const StepResult& result);
  void after_epoch();
  void watch_memory();
  void save_now();
  bool save();
  [[nodiscard]] bool is_complete() const {
    return trainer_.global_step() >= trainer_.total_steps();
  }
  [[nodiscard]] checkpoint::Snapshot snapshot() const;

  Run& run_;
  comm::Communicator& communicator_;
  WorldModelData data_;
  std::unique_ptr<data::TrafficLoader> train_loader_;
  BatchFeeder batches_;
  report::TimeSplit time_split_;
  WorldModelNetworks model_;
  WorldModelTrainer trainer_;
  std::unique_ptr<report::ProgressBar> progress_;
  StepRates rates_;
  MemoryWatch memory_watch_;
  StepProfiler profiler_;
  std::int64_t epoch_ = 0;
  double best_loss_ = std::numeric_limits<double>::infinity();
  bool epoch_running_ = false;
};

PhaseEnd WorldModelTraining::train() {
  resume();
  progress_ = std::make_unique<report::ProgressBar>(
      report::ProgressOptions{.label = "phase 1",
                              .total_steps = trainer_.total_steps(),
                              .first_step = trainer_.global_step(),
                              .mode = run_.config().log.progress});
  if (is_complete()) spdlog::info("phase 1 is complete already: {} steps", trainer_.global_step());
  while (!is_complete()) {
    if (!epoch_running_) batches_.start_epoch(epoch_);
    epoch_running_ = true;
    if (!train_epoch()) {
      save_now();
      spdlog::info("stopped by request at step {}; start again with the same --run-dir to go on",
                   trainer_.global_step());
      return PhaseEnd::kStopped;
    }
    epoch_running_ = false;
    ++epoch_;
    after_epoch();
  }
  profiler_.finish();
  progress_.reset();
  return PhaseEnd::kDone;
}

bool WorldModelTraining::train_epoch() {
  while (!is_complete()) {
    profiler_.before_step(trainer_.global_step());
    const auto result = trainer_.step(batches_);
    if (!result) break;
    after_step(*result);
    if (result->stop_requested) return false;
  }
  return true;
}

void WorldModelTraining::after_step(const StepResult& result) {
  const std::int64_t step = trainer_.global_step();
  rates_.add(result);
  if (run_.is_reporter()) {
    progress_->update(step, static_cast<std::int64_t>(result.samples), {{"loss", result.loss}});
  }
  if (step % run_.config().log.interval_steps == 0 || is_complete()) {
    run_.write_metrics(step, step_metrics(result, rates_, time_split_));
    watch_memory();
  }
  const std::int64_t interval = run_.config().checkpoint.save_interval_steps;
  if (interval > 0 && step % interval == 0) save_now();
}

void WorldModelTraining::after_epoch() {
  comm::check_replicas_equal(communicator_, trainer_.parameters().flat(),
                             "the parameters after an epoch");
  const auto loader = make_evaluation_loader(data_.validation, run_.config(), communicator_);
  const Evaluation evaluation =
      evaluate(model_, *loader, communicator_, run_.config().train.eval_max_batches);
  log_evaluation(epoch_, evaluation);
  run_.write_metrics(trainer_.global_step(), evaluation_metrics("validation/", evaluation));
  const bool best = evaluation.loss < best_loss_;
  if (best) best_loss_ = evaluation.loss;
  if (best || is_complete() || epoch_ % run_.config().checkpoint.save_interval_epochs == 0) {
    if (save() && best) run_.mark_best(trainer_.global_step());
  }
  const std::int64_t empty_cache_epochs = run_.config().gpu.empty_cache_epochs;
  if (empty_cache_epochs > 0 && epoch_ % empty_cache_epochs == 0) {
    empty_gpu_cache(communicator_.device());
  }
  rates_.skip_pause();
}

void WorldModelTraining::watch_memory() {
  const torch::Device device = communicator_.device();
  if (!device.is_cuda()) return;
  const MemoryActions actions = memory_watch_.look(gpu_memory(device));
  for (const std::string& warning : actions.warnings) spdlog::warn("{}", warning);
  if (actions.clear_cache) empty_gpu_cache(device);
}

void WorldModelTraining::save_now() {
  save();
  rates_.skip_pause();
}

bool WorldModelTraining::save() {
  // A checkpoint is built in memory: in the place of idle activations, not beside them.
  model::release_cached_memory();
  return run_.save(snapshot());
}

checkpoint::Snapshot WorldModelTraining::snapshot() const {
  checkpoint::Snapshot snapshot(trainer_.global_step());
  trainer_.save_to(snapshot);
  const std::vector<std::int64_t> sampler =
      (epoch_running_ ? batches_.state() : data::SamplerState{}).encode();
  snapshot.put_tensor("sampler", torch::tensor(sampler));
  snapshot.put_int("train/epoch", epoch_);
  snapshot.put_int("train/epoch_running", epoch_running_ ? 1 : 0);
  snapshot.put_real("train/best_loss", best_loss_);
  snapshot.put_int("phase", 1);
  snapshot.put_text("model_hash", model_hash_text(run_.config()));
  snapshot.put_text("config", config::to_toml(run_.config()));
  return snapshot;
}

void WorldModelTraining::resume() {
  const auto snapshot = run_.take_resume_point();
  if (!snapshot) {
    const std::string& init_from = run_.config().run.init_from;
    if (init_from.empty()) return;
    const auto start = checkpoint::load(init_from);
    if (run_.is_reporter()) warn_of_unknown_settings(start);
    trainer_.start_from(start);
    return;
  }
  check_resumable(*snapshot, run_.config(), trainer_.total_steps());
  trainer_.restore_from(*snapshot);
  epoch_ = snapshot->integer("train/epoch");
  epoch_running_ = snapshot->integer("train/epoch_running") != 0;
  best_loss_ = snapshot->real("train/best_loss");
  if (epoch_running_) {
    const at::Tensor sampler = snapshot->tensor("sampler");
    const std::vector<std::int64_t> numbers(sampler.data_ptr<std::int64_t>(),
                                            sampler.data_ptr<std::int64_t>() + sampler.numel());
    batches_.restore(data::SamplerState::decode(numbers));
  }
}

void WorldModelTraining::finish(PhaseEnd end) {
  report::Summary summary;
  summary.status = end == PhaseEnd::kDone ? "done" : "stopped";
  summary.exit_code = static_cast<int>(exit_code(end));
  summary.phase = 1;
  summary.steps = trainer_.global_step();
  summary.seconds = rates_.seconds();
  summary.samples_per_s = rates_.mean_samples_per_s();
  summary.startup_s = rates_.startup_s();
  summary.time_share = time_split_.shares();
  summary.parameters_xxh3 = parameters_hash(trainer_.parameters());
  summary.faults["skipped_steps"] = trainer_.skipped_steps();
  if (end == PhaseEnd::kDone) {
    model::release_cached_memory();
    trainer_.restore_from(checkpoint::load(run_.best_path()));
    const auto loader = make_evaluation_loader(data_.test, run_.config(), communicator_);
    const Evaluation evaluation = evaluate(model_, *loader, communicator_, 0);
    summary.result = summary_result(evaluation);
    if (run_.is_reporter()) print_evaluation(evaluation, run_.config().data, model_.frame_s());
    run_.keep_phase_result(1);
  }
  run_.write_summary(std::move(summary));
}

}  // namespace

PhaseEnd run_world_model(Run& run) {
  check_precision("train.precision", run.config().train.precision, run.communicator().device());
  WorldModelTraining phase(run);
  const PhaseEnd end = phase.train();
  phase.finish(end);
  return end;
}

void dry_run_world_model(Run& run) {
  check_precision("train.precision", run.config().train.precision, run.communicator().device());
  const WorldModelTraining phase(run);
  spdlog::info("dry run: configuration, data, model, communication and disk are fine");
}

}  // namespace traffic::train
