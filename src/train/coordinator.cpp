#include "coordinator.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "coordinator_summary.h"
#include "evaluate/child_evaluation.h"
#include "preparation.h"
#include "run/loop.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/added_agents.h"
#include "traffic/config/schema.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/core/signals.h"
#include "traffic/core/text.h"
#include "traffic/model/memory.h"
#include "traffic/os/heap.h"
#include "traffic/report/html_report.h"
#include "weights_export.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

/// Time for which a rank whose phase failed waits for the same failure on all other ranks.
constexpr double kMeet_s = 15.0;

/// Whether another attempt may succeed. It cannot if the cause of the failure lies in the
/// configuration or in the files that the training reads.
bool is_worth_retrying(ExitCode code) {
  return code == ExitCode::kInternal || code == ExitCode::kNumeric || code == ExitCode::kWorkers ||
         code == ExitCode::kResources;
}

/// The configuration of a training in a dry run. A training with simulations begins by measuring
/// baselines, which are episodes without control. In a dry run this measurement is one episode of
/// two decisions, with one simulation per rank, and its result is not stored.
config::Config shortened(config::Config config, int world_size) {
  config.rollout.max_concurrent_envs = world_size;
  config.episodes.baseline_episodes = 1;
  config.episodes.baseline_cache.clear();
  config.episodes.length_s = 0.0;
  config.env.max_time_s = 2 * config.env.control_period_s;
  return config;
}

/// Runs the phases (trainings) of a plan one after the other. run_plan() and dry_run_plan() use it.
class Coordinator {
 public:
  Coordinator(Job& job, const config::Plan& plan) : job_(job) {
    for (const config::Config& config : plan.phases) {
      const config::TrainingFacts& facts = config::get_training(config.run.phase);
      const bool alone = plan.phases.size() == 1;
      const fs::path& root = job.folder().root();
      tasks_.push_back(
          {.facts = &facts, .config = config, .dir = alone ? root : root / facts.folder});
    }
  }

  TrainingEnd run();
  void dry_run();

 private:
  TrainingEnd run_tasks();
  TrainingEnd run_task(TrainingTask& task);
  TrainingEnd attempt(TrainingTask& task);
  TrainingEnd evaluate(TrainingTask& task);
  void take_over(TrainingTask& task, const fs::path& result);
  bool is_finished(const TrainingTask& task);
  void retry_or_throw(TrainingTask& task, const Error& error);
  void export_result(const TrainingTask& task);
  TrainingEnd prepare_tasks(bool dry_run);
  void log_release(const TrainingTask& task, std::int64_t before);
  void sum_up_failure(const Error& error);
  void write_report(bool has_ended);

  Job& job_;
  std::vector<TrainingTask> tasks_;
};

TrainingEnd Coordinator::run() {
  try {
    const bool prepared = prepare_tasks(/*dry_run=*/false) == TrainingEnd::kDone;
    const TrainingEnd end = prepared ? run_tasks() : TrainingEnd::kStopped;
    if (job_.is_reporter() && (tasks_.size() > 1 || !prepared)) {
      write_plan_summary(job_, tasks_, end == TrainingEnd::kDone ? "done" : "stopped", {},
                         exit_code(end));
    }
    write_report(/*has_ended=*/true);
    return end;
  } catch (const Error& error) {
    sum_up_failure(error);
    write_report(/*has_ended=*/true);
    throw;
  }
}

/// Prepares all phases before the first one trains, so that errors in the preparation of later
/// phases do not appear only after hours.
TrainingEnd Coordinator::prepare_tasks(bool dry_run) {
  for (TrainingTask& task : tasks_) {
    if (prepare_task(job_, task, dry_run) == TrainingEnd::kStopped) return TrainingEnd::kStopped;
  }
  return TrainingEnd::kDone;
}

/// Writes the summary of a failed run. An error here, such as a full disk, is only logged, so that
/// it does not hide the original failure.
void Coordinator::sum_up_failure(const Error& error) {
  if (!job_.is_reporter()) return;
  try {
    if (tasks_.size() == 1 && tasks_.front().has_ended) {
      add_failure(tasks_.front(), error.what(), error.code());
      return;
    }
    write_plan_summary(job_, tasks_, "failed", error.what(), error.code());
  } catch (const Error& second) {
    spdlog::error("the summary of the failure could not be written: {}", second.what());
  }
}

TrainingEnd Coordinator::run_tasks() {
  fs::path result;
  for (TrainingTask& task : tasks_) {
    const auto hit = [&](const char* site) {
      fault::hit(site, job_.communicator().rank(), &task - tasks_.data() + 1);
    };
    if (!result.empty()) take_over(task, result);
    hit("plan.begin");
    result = task.result();
    if (tasks_.size() > 1 && is_finished(task)) {
      spdlog::info("{} is done: {}", task.facts->title(), result.string());
      if (job_.is_reporter() && !has_weights(task)) export_result(task);
      continue;
    }
    if (run_task(task) == TrainingEnd::kStopped) return TrainingEnd::kStopped;
    hit("plan.end");
    if (job_.is_reporter()) export_result(task);
    if (&task != &tasks_.back()) write_report(/*has_ended=*/false);
  }
  return TrainingEnd::kDone;
}

/// Writes the report of all phases so far. An error is only logged, because other files contain the
/// same numbers.
void Coordinator::write_report(bool has_ended) {
  if (!job_.is_reporter()) return;
  try {
    report::write_html_report(job_.folder(), has_ended);
  } catch (const Error& error) {
    spdlog::warn("report.html could not be written: {}", error.what());
  }
}

/// Exports the weights of a phase. An error is only logged, because the checkpoint contains the
/// weights, too.
void Coordinator::export_result(const TrainingTask& task) {
  try {
    export_weights(task);
  } catch (const Error& error) {
    spdlog::warn("{}: the weights could not be exported: {}", task.facts->title(), error.what());
  }
}

TrainingEnd Coordinator::run_task(TrainingTask& task) {
  const std::int64_t before = rss_bytes();
  const TrainingEnd end = attempt(task);
  task.has_ended = true;
  if (job_.is_reporter()) {
    add_retries(task);
    add_search(task, job_.folder());
  }
  log_release(task, before);
  if (end == TrainingEnd::kStopped || !task.is_evaluated()) {
    return end;
  }
  return evaluate(task);
}

TrainingEnd Coordinator::attempt(TrainingTask& task) {
  while (true) {
    try {
      Run run(job_, task.config, task.dir);
      if (run.is_new()) check_new(run.config());
      if (task.facts->simulates && !config::names_added_agent(task.config.env)) {
        together_at_length(job_.communicator(),
                           [&] { check_simulation(task.config_path, task.config); });
      }
      const auto training = make_training(run);
      return run_training(run, *training);
    } catch (const Error& error) {
      retry_or_throw(task, error);
    }
  }
}

void Coordinator::retry_or_throw(TrainingTask& task, const Error& error) {
  if (!is_worth_retrying(error.code()) || task.retries >= task.config.run.max_retries) throw;
  try {
    job_.session().rendezvous("the retry of a phase", kMeet_s);
  } catch (const CommError&) {
    throw error;  // the other ranks did not come, so only this rank has failed
  }
  ++task.retries;
  task.config.run.resume = "auto";
  if (error.code() == ExitCode::kNumeric) {
    // With the same learning rates the next attempt would fail in the same way.
    config::halve_learning_rates(task.config);
    spdlog::warn("a number was not finite: the next attempt uses half the learning rates");
  }
  spdlog::warn("{} failed: {}; attempt {} of {} continues from the newest good checkpoint",
               task.facts->title(), error.what(), task.retries + 1,
               task.config.run.max_retries + 1);
}

/// Whether a phase has finished, including its evaluation. All ranks return the same value.
bool Coordinator::is_finished(const TrainingTask& task) {
  bool finished = false;
  if (job_.is_reporter()) {
    const bool evaluated = !task.is_evaluated() || fs::exists(task.dir / "evaluation.json");
    finished = evaluated && fs::exists(task.result()) && status_of(task) == "done";
  }
  return job_.communicator().all_reduce_scalar(finished ? 1.0 : 0.0) > 0.0;
}

/// Lets a phase start from the checkpoint with the result of the previous phase.
void Coordinator::take_over(TrainingTask& task, const fs::path& result) {
  together(job_.communicator(), [&] {
    if (!job_.is_reporter()) return;
    const config::TrainingFacts& found = training_of(checkpoint::load(result));
    const auto& from = task.facts->starts_from;
    if (std::ranges::find(from, found.name) == from.end()) {
      throw CheckpointError("{} belongs to {}, but {} starts from one of {}", result.string(),
                            found.title(), task.facts->title(), fmt::join(from, ", "));
    }
  });
  task.config.run.init_from = result.string();
}

TrainingEnd Coordinator::evaluate(TrainingTask& task) {
  TrainingEnd end = TrainingEnd::kDone;
  together_at_length(job_.communicator(), [&] {
    const Stopwatch clock;
    spdlog::info("{}: comparing its result with {} on seeds {}", task.facts->title(),
                 fmt::join(task.config.evaluation.controllers, ", "), task.config.evaluation.seeds);
    const auto evaluation = evaluate_phase(task.config_path, task.config, task.result());
    if (!evaluation) {
      end = TrainingEnd::kStopped;
      return;
    }
    add_evaluation(task, evaluation->controllers);
    std::fputs(evaluation->table.c_str(), stdout);
    std::fflush(stdout);
    spdlog::info("{}: evaluated on seeds {} in {:.1f} s", task.facts->title(),
                 task.config.evaluation.seeds, clock.seconds());
  });
  const bool stopped =
      job_.communicator().all_reduce_scalar(end == TrainingEnd::kStopped ? 1.0 : 0.0) > 0.0;
  return stopped ? TrainingEnd::kStopped : TrainingEnd::kDone;
}

void Coordinator::log_release(const TrainingTask& task, std::int64_t before) {
  const std::int64_t held = rss_bytes();
  model::release_cached_memory();
  os::return_free_memory();
  spdlog::info("{} has released its memory: {} in use before this phase, {} at its end, {} now",
               task.facts->title(), human_bytes(before), human_bytes(held),
               human_bytes(rss_bytes()));
}

void Coordinator::dry_run() {
  prepare_tasks(/*dry_run=*/true);
  fs::path result;
  for (TrainingTask& task : tasks_) {
    const bool is_first = result.empty();
    if (!is_first) task.config.run.init_from = result.string();
    result = task.result();
    Run run(job_, shortened(task.config, job_.communicator().size()), task.dir);
    if (run.is_new()) check_new(run.config());
    const auto training = make_training(run);
    dry_run_training(run, *training, is_first);
    // Run has written the shortened configuration to this file.
    if (job_.is_reporter() && tasks_.size() > 1) {
      write_file_atomically(report::RunFolder(task.dir).config(), config::to_toml(task.config));
    }
    spdlog::info(
        "dry run: {} could start: its configuration, input files, model, communication and disk "
        "are fine",
        task.facts->title());
  }
}

}  // namespace

TrainingEnd run_plan(Job& job, const config::Plan& plan) { return Coordinator(job, plan).run(); }

void dry_run_plan(Job& job, const config::Plan& plan) { Coordinator(job, plan).dry_run(); }

}  // namespace traffic::train
