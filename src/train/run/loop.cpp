#include "run/loop.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "monitor/advice.h"
#include "monitor/loss_watch.h"
#include "monitor/resource_keeper.h"
#include "monitor/step_profiler.h"
#include "monitor/straggler_watch.h"
#include "monitor/throughput.h"
#include "run/agreement.h"
#include "run/snapshot_parts.h"
#include "run/start_report.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/core/signals.h"
#include "traffic/core/text.h"
#include "traffic/report/progress_bar.h"

namespace traffic::train {
namespace {

constexpr const char* kEvaluationDue = "loop/evaluation_due";
constexpr const char* kTimeIsOver = "loop/time_is_over";

/// Where the profiler writes its files: the folder profile/ in the run folder.
ProfilePlace profile_place(Run& run) {
  return {.folder = report::RunFolder(run.dir()).profile(),
          .rank = run.communicator().rank(),
          .device = run.communicator().device()};
}

/// Runs one training from its start, or from the resumed step, to its end. See run_training().
class Loop {
 public:
  Loop(Run& run, Training& training)
      : run_(run),
        communicator_(run.communicator()),
        training_(training),
        units_(training.units()),
        title_(run.facts().title()),
        throughput_(units_.first_is_warm_up),
        resources_(communicator_, run.config()),
        profiler_(run.config().profile, profile_place(run), training.time_split()) {
    const std::int64_t saved_bytes = snapshot().total_bytes();
    run_.check_room(saved_bytes + training_.bytes_of_parts());
    report_start(run_, training_, resources_.read(), saved_bytes);
  }

  TrainingEnd train();
  void finish(TrainingEnd end);

 private:
  /// Decisions that all ranks agree on between two steps.
  struct Wishes {
    bool stop = false;
    bool save = false;
  };

  /// A place at which a test can inject a fault (traffic/core/fault.h).
  void hit(std::string_view site) const {
    fault::hit(site, communicator_.rank(), training_.step());
  }
  void resume();
  [[nodiscard]] bool is_complete() const {
    return time_is_over_ || training_.step() >= training_.total_steps();
  }
  // Returns nothing if the step was abandoned because of a stop request.
  [[nodiscard]] std::optional<Iteration> iterate();
  [[nodiscard]] Wishes agree(std::int64_t step_before);
  void end_by_time();
  void watch_ranks(const std::vector<double>& busy_s);
  void watch_loss(const Iteration& done);
  void tell(const Iteration& done);
  [[nodiscard]] bool evaluate();  // returns false if it was abandoned because of a stop request
  void save(const checkpoint::Snapshot& snapshot, bool best);
  [[nodiscard]] checkpoint::Snapshot snapshot() const;
  void stop(const checkpoint::Snapshot& snapshot);

  Run& run_;
  comm::Communicator& communicator_;
  Training& training_;
  TrainingUnits units_;
  std::string title_;
  std::unique_ptr<report::ProgressBar> progress_;  ///< only on the reporter
  std::optional<double> learning_rate_;            ///< last value of the metric train/learning_rate
  Throughput throughput_;
  ResourceKeeper resources_;
  WaitShares wait_shares_;
  Adviser adviser_;
  StepProfiler profiler_;
  StragglerWatch straggler_watch_;
  LossWatch loss_watch_;
  double busy_s_ = 0.0;  ///< duration of the last step without waiting for other ranks, in seconds
  bool evaluation_due_ = false;
  bool time_is_over_ = false;
  Stopwatch since_save_;
  /// State before the current step; set only if TrainingUnits::long_steps is set.
  std::optional<checkpoint::Snapshot> complete_;
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
    spdlog::info("{} was already complete: {} {}s", title_, training_.step(), units_.step);
  }
  while (true) {
    if (evaluation_due_ && !evaluate()) {
      stop(snapshot());
      return TrainingEnd::kStopped;
    }
    if (is_complete()) break;
    if (units_.long_steps) (complete_ = snapshot())->own_tensors();
    const std::int64_t step_before = training_.step();
    const std::optional<Iteration> done = iterate();
    if (!done) {
      stop(*complete_);
      return TrainingEnd::kStopped;
    }
    const Wishes wishes = agree(step_before);
    tell(*done);
    if (wishes.stop) {
      stop(snapshot());
      return TrainingEnd::kStopped;
    }
    if (wishes.save || (done->save_due && !evaluation_due_)) save(snapshot(), /*best=*/false);
  }
  profiler_.finish();
  progress_.reset();
  return TrainingEnd::kDone;
}

void Loop::resume() {
  hit("loop.resume");
  const auto snapshot = run_.take_resume_point();
  if (!snapshot) {
    training_.start();
    evaluation_due_ = training_.start_is_candidate();
    return;
  }
  check_training(*snapshot, run_.facts());
  training_.restore_from(*snapshot);
  evaluation_due_ = snapshot->contains(kEvaluationDue) && snapshot->integer(kEvaluationDue) != 0;
  time_is_over_ = snapshot->contains(kTimeIsOver);
}

std::optional<Iteration> Loop::iterate() {
  profiler_.before_step(training_.step());
  const Stopwatch clock;
  const double waited_s = communicator_.waited_s();
  std::optional<Iteration> done = training_.iterate();
  if (!done) return done;
  const double step_s = clock.seconds();
  busy_s_ = std::max(0.0, step_s - (communicator_.waited_s() - waited_s));
  throughput_.add(step_s, done->items);
  evaluation_due_ = done->evaluation_due || is_complete();
  watch_loss(*done);
  return done;
}

/// Warns if the loss has risen suddenly. Such a spike does not affect the best checkpoint, because
/// only better parameters replace it.
void Loop::watch_loss(const Iteration& done) {
  if (!done.loss) return;
  const auto spike = loss_watch_.add(*done.loss);
  if (!spike || !run_.is_reporter()) return;
  spdlog::warn(
      "{} {}: the loss has jumped to {:.4g} from a median of {:.4g}; training continues, and the "
      "best checkpoint is kept; if this happens often, lower the learning rate or check the data",
      units_.step, training_.step(), spike->loss, spike->level);
}

void Loop::tell(const Iteration& done) {
  for (const auto& [name, value] : done.metrics) {
    if (name == "train/learning_rate") learning_rate_ = value;
  }
  if (progress_) {
    report::NamedValues shown = done.shown;
    if (learning_rate_) shown.emplace_back("lr", *learning_rate_);
    const report::NamedValues more = resources_.all().shown();
    shown.insert(shown.end(), more.begin(), more.end());
    progress_->update(training_.step(), done.items, shown);
  }
  if (done.metrics.empty()) return;
  report::NamedValues values = done.metrics;
  values.emplace_back("time/" + units_.duration, throughput_.last_step_s());
  values.emplace_back("time/" + units_.rate, throughput_.recent_items_per_s());
  for (const auto& [name, share] : training_.time_split().shares()) {
    values.emplace_back("time_share/" + name, share);
  }
  for (const report::NamedValues& more :
       {resources_.all().figures(),
        wait_shares_.take(training_.time_split(), communicator_.waited_s(),
                          run_.facts().simulates)}) {
    values.insert(values.end(), more.begin(), more.end());
  }
  run_.write_metrics(training_.step(), values);
  const std::vector<std::string> advice = adviser_.look(values);
  if (run_.is_reporter()) {
    for (const std::string& line : advice) spdlog::warn("{}", line);
  }
  resources_.look_at_gpu();
}

/// Agrees with all ranks on whether to stop or to save. A stop request on any rank applies to all
/// ranks. The clock of rank 0 decides whether a checkpoint is due.
/// @param step_before step count before the last iteration, which may have advanced several steps
Loop::Wishes Loop::agree(std::int64_t step_before) {
  const config::Checkpoint& options = run_.config().checkpoint;
  const bool late = run_.is_reporter() && options.save_interval_s > 0.0 &&
                    since_save_.seconds() >= options.save_interval_s;
  const Agreement agreed = agree_on({.stop = stop_requested(),
                                     .late = late,
                                     .time_is_over = training_.time_is_over(),
                                     .has_given_up_saving = run_.has_given_up_saving(),
                                     .busy_s = busy_s_,
                                     .reading = resources_.read()},
                                    communicator_);
  // Rank 0 has failed to save too often; wait_for_saves() throws the error on all ranks.
  if (agreed.has_given_up_saving) run_.wait_for_saves();
  if (agreed.time_is_over && !is_complete()) end_by_time();
  watch_ranks(agreed.busy_s);
  resources_.look(agreed.readings);
  const std::int64_t interval = options.save_interval_steps;
  const bool on_step = interval > 0 && training_.step() / interval != step_before / interval;
  return {.stop = agreed.stop, .save = on_step || agreed.late};
}

void Loop::end_by_time() {
  time_is_over_ = true;
  evaluation_due_ = true;
  if (!run_.is_reporter()) return;
  spdlog::info(
      "{}: its time is used up after {} of {} {}s; the result is the best controller so far",
      title_, training_.step(), training_.total_steps(), units_.step);
}

/// Warns if one rank is much slower than the others, so that all ranks wait for it.
void Loop::watch_ranks(const std::vector<double>& busy_s) {
  const auto straggler = straggler_watch_.add(busy_s);
  if (!straggler) return;
  const std::string host = communicator_.broadcast_string(hostname(), straggler->rank);
  if (!run_.is_reporter()) return;
  spdlog::warn(
      "rank {} on {} is slower than the others, which all wait for this rank: its own work took "
      "{:.3g} s per {}, the work of the others {:.3g} s (means over the last {}), a ratio of "
      "{:.1f}; "
      "check that machine for other load, a low clock rate, too little memory or a slow disk",
      straggler->rank, host, straggler->step_s, units_.step, straggler->others_step_s,
      straggler->num_steps, straggler->factor());
}

/// Saves the state after a stop request. If a save fails, it is tried again until too many saves in
/// a row have failed.
void Loop::stop(const checkpoint::Snapshot& snapshot) {
  profiler_.finish();
  progress_.reset();
  while (run_.wait_for_saves() != snapshot.step()) save(snapshot, /*best=*/false);
  spdlog::info("stopped by request at {} {}; start again with the same --run-dir to resume",
               units_.step, snapshot.step());
}

bool Loop::evaluate() {
  hit("loop.evaluate");
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
  if (time_is_over_) snapshot.put_int(kTimeIsOver, 1);
  snapshot.put_text("config", config::to_toml(run_.config()));
  return snapshot;
}

void Loop::finish(TrainingEnd end) {
  hit("loop.finish");
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
  summary.faults["straggler_findings"] = straggler_watch_.num_found();
  summary.faults["loss_spikes"] = loss_watch_.num_found();
  if (end == TrainingEnd::kDone) {
    run_.wait_for_best();
    training_.take_best(checkpoint::load(run_.best_path()));
    training_.conclude(summary);
    run_.keep_result();
  }
  training_.count_faults(summary);
  const std::string last_line =
      fmt::format("{} is {}: {} {} after {} of training, {:.4g} {}/s, peak memory {} on a node",
                  title_, summary.status, units_.step, summary.steps,
                  human_duration(summary.seconds), throughput_.mean_items_per_s(), units_.items,
                  human_bytes(static_cast<std::int64_t>(resources_.all().peak_bytes())));
  run_.write_summary(std::move(summary));
  spdlog::info("{}; {}", last_line, (run_.dir() / "summary.json").string());
}

}  // namespace

TrainingEnd run_training(Run& run, Training& training) {
  Loop loop(run, training);
  const TrainingEnd end = loop.train();
  loop.finish(end);
  training.close();
  return end;
}

void dry_run_training(Run& run, Training& training, bool is_there) {
  const Loop loop(run, training);
  if (is_there && run.is_new() && !run.config().run.init_from.empty()) training.start();
  training.close();
}

}  // namespace traffic::train
