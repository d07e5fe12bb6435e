#include "run/loop.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <utility>

#include "run/gpu.h"
#include "run/memory_watch.h"
#include "run/snapshot_parts.h"
#include "run/step_profiler.h"
#include "run/straggler_watch.h"
#include "run/throughput.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
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
  void watch_ranks(const torch::Tensor& busy_s);
  void tell(const Iteration& done);
  void watch_memory();
  [[nodiscard]] bool evaluate();  // likewise
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
  StragglerWatch straggler_watch_;
  double busy_s_ = 0.0;  ///< of the last step, without waiting for other ranks
  bool evaluation_due_ = false;
  Stopwatch since_save_;
  std::optional<checkpoint::Snapshot> complete_;  ///< of the last step, where steps are long
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
    if (wishes.save) save(snapshot(), /*best=*/false);
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
}

bool Loop::iterate() {
  profiler_.before_step(training_.step());
  const Stopwatch clock;
  const double waited_s = communicator_.waited_s();
  const std::optional<Iteration> done = training_.iterate();
  if (!done) return false;
  const double step_s = clock.seconds();
  busy_s_ = std::max(0.0, step_s - (communicator_.waited_s() - waited_s));
  throughput_.add(step_s, done->items);
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
  torch::Tensor wishes = torch::zeros({3 + communicator_.size()}, torch::kDouble);
  wishes[0] = stop_requested() ? 1.0 : 0.0;
  wishes[1] = late ? 1.0 : 0.0;
  wishes[2] = run_.has_given_up_saving() ? 1.0 : 0.0;
  wishes[3 + communicator_.rank()] = busy_s_;
  communicator_.all_reduce(wishes);
  if (wishes[2].item<double>() > 0.0) run_.wait_for_saves();  // throws
  watch_ranks(wishes.slice(0, 3));
  const std::int64_t interval = options.save_interval_steps;
  const bool on_step = interval > 0 && training_.step() / interval != step_before / interval;
  return {.stop = wishes[0].item<double>() > 0.0,
          .save = on_step || wishes[1].item<double>() > 0.0};
}

/// All ranks wait for the slowest: it is named, with its machine.
void Loop::watch_ranks(const torch::Tensor& busy_s) {
  const auto straggler = straggler_watch_.add(
      {busy_s.const_data_ptr<double>(), static_cast<std::size_t>(busy_s.numel())});
  if (!straggler) return;
  const std::string host = communicator_.broadcast_string(hostname(), straggler->rank);
  if (!run_.is_reporter()) return;
  spdlog::warn(
      "rank {} on {} is slower than the others, and all wait for it: its own work took {:.3g} s a "
      "{}, {:.3g} s in the others (the last {}), {:.1f} times as long; look for other load, a low "
      "clock, short memory or a slow disk there",
      straggler->rank, host, straggler->step_s, units_.step, straggler->others_step_s,
      straggler->num_steps, straggler->factor());
}

/// A stop means that what is complete is saved: a save that fails is tried again until there were
/// too many.
void Loop::stop(const checkpoint::Snapshot& snapshot) {
  profiler_.finish();
  progress_.reset();
  while (run_.wait_for_saves() != snapshot.step()) save(snapshot, /*best=*/false);
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

void Loop::save(const checkpoint::Snapshot& snapshot, bool best) {
  run_.save(snapshot, best);
  since_save_ = Stopwatch();
}

checkpoint::Snapshot Loop::snapshot() const {
  checkpoint::Snapshot snapshot(training_.step());
  training_.save_to(snapshot);
  put_training(snapshot, run_.facts());
  run_.sign(snapshot);
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
  summary.faults["straggler_findings"] = straggler_watch_.num_found();
  if (end == TrainingEnd::kDone) {
    run_.wait_for_best();
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
