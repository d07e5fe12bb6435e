#include "run/loop.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <utility>

#include "run/gpu.h"
#include "run/memory_watch.h"
#include "run/snapshot_parts.h"
#include "run/step_profiler.h"
#include "run/throughput.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/signals.h"
#include "traffic/report/progress_bar.h"

namespace traffic::train {
namespace {

constexpr const char* kEvaluationDue = "loop/evaluation_due";

class Loop {
 public:
  Loop(Run& run, Training& training)
      : run_(run),
        communicator_(run.communicator()),
        training_(training),
        units_(training.units()),
        title_(run.facts().title()),
        throughput_(units_.first_is_warm_up),
        memory_watch_({.allocated_gb = run.config().gpu.allocated_limit_gb,
                       .reserved_gb = run.config().gpu.reserved_limit_gb}),
        profiler_(run.config().profile, profile_place(run), training.time_split()) {
    run_.check_room(snapshot().total_bytes() + training_.bytes_of_parts());
  }

  TrainingEnd train();
  void finish(TrainingEnd end);

 private:
  /// What all ranks agree on between two steps.
  struct Wishes {
    bool stop = false;
    bool save = false;
  };

  void resume();
  [[nodiscard]] bool is_complete() const { return training_.step() >= training_.total_steps(); }
  [[nodiscard]] bool iterate();  // false: given up, a stop is requested
  [[nodiscard]] Wishes agree(std::int64_t step_before);
  void tell(const Iteration& done);
  void watch_memory();
  [[nodiscard]] bool evaluate();  // likewise
  void save();
  void save(const checkpoint::Snapshot& snapshot, bool best);
  [[nodiscard]] checkpoint::Snapshot snapshot() const;
  void stop(const checkpoint::Snapshot& snapshot);

  Run& run_;
  comm::Communicator& communicator_;
  Training& training_;
  TrainingUnits units_;
  std::string title_;
  std::unique_ptr<report::ProgressBar> progress_;  ///< of the reporter
  Throughput throughput_;
  MemoryWatch memory_watch_;
  StepProfiler profiler_;
  bool evaluation_due_ = false;
  Stopwatch since_save_;
  std::optional<std::int64_t> saved_step_;         ///< the last that was saved as it is
  std::optional<checkpoint::Snapshot> complete_;   ///< of the last step, where steps are long
  std::optional<checkpoint::Snapshot> owed_best_;  ///< could not be saved yet
};

TrainingEnd Loop::train() {
  resume();
  if (run_.is_reporter()) {
    progress_ = std::make_unique<report::ProgressBar>(
        report::ProgressOptions{.label = title_,
                                .total_steps = training_.total_steps(),
                                .first_step = training_.step(),
                                .unit = units_.items,
                                .mode = run_.config().log.progress});
  }
  if (is_complete() && !evaluation_due_) {
    spdlog::info("{} is complete already: {} {}s", title_, training_.step(), units_.step);
  }
  while (true) {
    if (evaluation_due_ && !evaluate()) {
      stop(snapshot());
      return TrainingEnd::kStopped;
    }
    if (is_complete()) break;
    if (units_.long_steps) (complete_ = snapshot())->own_tensors();
    const std::int64_t step_before = training_.step();
    if (!iterate()) {
      stop(*complete_);
      return TrainingEnd::kStopped;
    }
    const Wishes wishes = agree(step_before);
    if (wishes.stop) {
      stop(snapshot());
      return TrainingEnd::kStopped;
    }
    if (wishes.save) save();
  }
  profiler_.finish();
  progress_.reset();
  return TrainingEnd::kDone;
}

void Loop::resume() {
  const auto snapshot = run_.take_resume_point();
  if (!snapshot) {
    training_.start();
    return;
  }
  check_training(*snapshot, run_.facts());
  training_.restore_from(*snapshot);
  evaluation_due_ = snapshot->contains(kEvaluationDue) && snapshot->integer(kEvaluationDue) != 0;
  saved_step_ = training_.step();
}

bool Loop::iterate() {
  profiler_.before_step(training_.step());
  const Stopwatch clock;
  const std::optional<Iteration> done = training_.iterate();
  if (!done) return false;
  throughput_.add(clock.seconds(), done->items);
  evaluation_due_ = done->evaluation_due || is_complete();
  tell(*done);
  return true;
}

void Loop::tell(const Iteration& done) {
  if (progress_) progress_->update(training_.step(), done.items, done.shown);
  if (done.metrics.empty()) return;
  report::NamedValues values = done.metrics;
  values.emplace_back("time/" + units_.duration, throughput_.last_step_s());
  values.emplace_back("time/" + units_.rate, throughput_.recent_items_per_s());
  for (const auto& [name, share] : training_.time_split().shares()) {
    values.emplace_back("time_share/" + name, share);
  }
  run_.write_metrics(training_.step(), values);
  watch_memory();
}

void Loop::watch_memory() {
  const torch::Device device = communicator_.device();
  if (!device.is_cuda()) return;
  const MemoryActions actions = memory_watch_.look(gpu_memory(device));
  for (const std::string& warning : actions.warnings) spdlog::warn("{}", warning);
  if (actions.clear_cache) empty_gpu_cache(device);
}

/// A stop that one rank was asked for, and what the clock of rank 0 says, are for all.
/// @param step_before the last iteration, which may have been several steps
Loop::Wishes Loop::agree(std::int64_t step_before) {
  const config::Checkpoint& options = run_.config().checkpoint;
  const bool late = run_.is_reporter() && options.save_interval_s > 0.0 &&
                    since_save_.seconds() >= options.save_interval_s;
  torch::Tensor wishes =
      torch::tensor({stop_requested() ? 1.0 : 0.0, late ? 1.0 : 0.0}, torch::kDouble);
  communicator_.all_reduce(wishes);
  const std::int64_t interval = options.save_interval_steps;
  const bool on_step = interval > 0 && training_.step() / interval != step_before / interval;
  return {.stop = wishes[0].item<double>() > 0.0,
          .save = on_step || wishes[1].item<double>() > 0.0};
}

void Loop::stop(const checkpoint::Snapshot& snapshot) {
  profiler_.finish();
  progress_.reset();
  if (saved_step_ != snapshot.step()) save(snapshot, /*best=*/false);
  spdlog::info("stopped by request at {} {}; start again with the same --run-dir to go on",
               units_.step, snapshot.step());
}

bool Loop::evaluate() {
  comm::check_replicas_equal(communicator_, training_.parameters().flat(),
                             "the parameters before an evaluation");
  const std::optional<Assessment> assessment = training_.evaluate();
  if (!assessment) return false;
  evaluation_due_ = false;
  run_.write_metrics(training_.step(), assessment->metrics);
  if (assessment->best || assessment->save || is_complete()) save(snapshot(), assessment->best);
  return true;
}

void Loop::save() { save(snapshot(), /*best=*/false); }

/// A best one that cannot be saved now is kept until it can: later ones are compared with it.
void Loop::save(const checkpoint::Snapshot& snapshot, bool best) {
  if (best) owed_best_.reset();
  if (owed_best_ && run_.save_best(*owed_best_)) owed_best_.reset();
  const bool saved = run_.save(snapshot, best);
  if (saved) saved_step_ = snapshot.step();
  if (!saved && best) (owed_best_ = snapshot)->own_tensors();
  since_save_ = Stopwatch();
}

checkpoint::Snapshot Loop::snapshot() const {
  checkpoint::Snapshot snapshot(training_.step());
  training_.save_to(snapshot);
  put_training(snapshot, run_.facts());
  snapshot.put_int(kEvaluationDue, evaluation_due_ ? 1 : 0);
  snapshot.put_text("config", config::to_toml(run_.config()));
  return snapshot;
}

void Loop::finish(TrainingEnd end) {
  report::Summary summary;
  summary.status = end == TrainingEnd::kDone ? "done" : "stopped";
  summary.exit_code = static_cast<int>(exit_code(end));
  summary.training = run_.facts().name;
  summary.phase = run_.facts().key();
  summary.steps = training_.step();
  summary.seconds = throughput_.seconds();
  summary.rates[units_.rate] = throughput_.mean_items_per_s();
  summary.startup_s = throughput_.startup_s();
  summary.time_share = training_.time_split().shares();
  summary.parameters_xxh3 = parameters_hash(training_.parameters());
  training_.count_faults(summary);
  if (end == TrainingEnd::kDone) {
    if (owed_best_ && !run_.save_best(*owed_best_)) {
      throw ResourceError("the best checkpoint, of {} {}, could not be saved; see the log for why",
                          units_.step, owed_best_->step());
    }
    training_.take_best(checkpoint::load(run_.best_path()));
    training_.conclude(summary);
    run_.keep_result();
  }
  run_.write_summary(std::move(summary));
}

}  // namespace

TrainingEnd run_training(Run& run, Training& training) {
  Loop loop(run, training);
  const TrainingEnd end = loop.train();
  loop.finish(end);
  training.close();
  return end;
}

void dry_run_training(Run& run, Training& training) {
  const Loop loop(run, training);
  training.close();
}

}  // namespace traffic::train
