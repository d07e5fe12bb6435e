#include "traffic/train/coordinator.h"

#include <malloc.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "coordinator_summary.h"
#include "evaluate/child_evaluation.h"
#include "policy/starting_weights.h"
#include "ppo/training.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/signals.h"
#include "traffic/core/text.h"
#include "traffic/model/memory.h"
#include "traffic/report/html_report.h"
#include "weights_export.h"
#include "world_model/training.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

/// How long a rank that failed waits for the others to fail as well.
constexpr double kMeet_s = 15.0;

/// Another attempt may end otherwise: the cause is neither what was asked for nor what is read.
bool is_worth_retrying(ExitCode code) {
  return code == ExitCode::kInternal || code == ExitCode::kNumeric || code == ExitCode::kWorkers ||
         code == ExitCode::kResources;
}

PhaseEnd run_phase(int number, Run& run) {
  return number == 1 ? run_world_model(run) : run_ppo(run);
}

class Coordinator {
 public:
  Coordinator(Job& job, const config::Plan& plan) : job_(job) {
    for (const config::Config& config : plan.phases) {
      const int number = std::stoi(config.run.phase);
      const bool alone = plan.phases.size() == 1;
      const fs::path& root = job.folder().root();
      tasks_.push_back({.number = number,
                        .config = config,
                        .dir = alone ? root : root / ("phase" + config.run.phase)});
    }
  }

  PhaseEnd run();
  void dry_run();

 private:
  PhaseEnd run_tasks();
  PhaseEnd run_task(PhaseTask& task);
  PhaseEnd attempt(PhaseTask& task);
  PhaseEnd evaluate(PhaseTask& task);
  void take_over(PhaseTask& task, const fs::path& result);
  bool is_finished(const PhaseTask& task);
  void retry_or_throw(PhaseTask& task, const Error& error);
  void export_result(const PhaseTask& task);
  void log_release(const PhaseTask& task, std::int64_t before);
  void write_report();

  Job& job_;
  std::vector<PhaseTask> tasks_;
};

PhaseEnd Coordinator::run() {
  try {
    const PhaseEnd end = run_tasks();
    if (job_.is_reporter() && tasks_.size() > 1) {
      write_plan_summary(job_, tasks_, end == PhaseEnd::kDone ? "done" : "stopped", {},
                         exit_code(end));
    }
    write_report();
    return end;
  } catch (const Error& error) {
    if (job_.is_reporter()) {
      write_plan_summary(job_, tasks_, "failed", error.what(), error.code());
    }
    write_report();
    throw;
  }
}

PhaseEnd Coordinator::run_tasks() {
  fs::path result;
  for (PhaseTask& task : tasks_) {
    if (!result.empty()) take_over(task, result);
    result = task.result();
    if (tasks_.size() > 1 && is_finished(task)) {
      spdlog::info("phase {} is done: {}", task.number, result.string());
      if (job_.is_reporter() && !has_weights(task)) export_result(task);
      continue;
    }
    if (run_task(task) == PhaseEnd::kStopped) return PhaseEnd::kStopped;
    if (job_.is_reporter()) export_result(task);
    if (&task != &tasks_.back()) write_report();
  }
  return PhaseEnd::kDone;
}

/// Of all phases so far. No reason to fail: the figures are in other files, too.
void Coordinator::write_report() {
  if (!job_.is_reporter()) return;
  try {
    report::write_html_report(job_.folder());
  } catch (const ResourceError& error) {
    spdlog::warn("no report.html: {}", error.what());
  }
}

/// No reason to fail: the checkpoint has the weights, too.
void Coordinator::export_result(const PhaseTask& task) {
  try {
    export_weights(task);
  } catch (const Error& error) {
    spdlog::warn("phase {}: its weights are not exported: {}", task.number, error.what());
  }
}

PhaseEnd Coordinator::run_task(PhaseTask& task) {
  const std::int64_t before = rss_bytes();
  const PhaseEnd end = attempt(task);
  if (job_.is_reporter()) add_retries(task);
  log_release(task, before);
  if (end == PhaseEnd::kStopped || task.number == 1 || task.config.evaluation.seeds.empty()) {
    return end;
  }
  return evaluate(task);
}

PhaseEnd Coordinator::attempt(PhaseTask& task) {
  while (true) {
    try {
      Run run(job_, task.config, task.dir);
      if (task.number > 1) {
        if (run.is_new()) check_starting_weights(task.config);
        together(job_.communicator(), [&] {
          if (job_.is_reporter()) check_simulation(task.dir / "config.toml", task.config);
        });
      }
      return run_phase(task.number, run);
    } catch (const Error& error) {
      retry_or_throw(task, error);
    }
  }
}

void Coordinator::retry_or_throw(PhaseTask& task, const Error& error) {
  if (!is_worth_retrying(error.code()) || task.retries >= task.config.run.max_retries) throw;
  try {
    job_.session().rendezvous("the retry of a phase", kMeet_s);
  } catch (const CommError&) {
    throw error;  // the others are elsewhere: this failure is of this rank alone
  }
  ++task.retries;
  task.config.run.resume = "auto";
  spdlog::warn("phase {} failed: {}; attempt {} of {} goes on from its newest good checkpoint",
               task.number, error.what(), task.retries + 1, task.config.run.max_retries + 1);
}

/// Finished with everything that belongs to it. The same on all ranks.
bool Coordinator::is_finished(const PhaseTask& task) {
  bool finished = false;
  if (job_.is_reporter()) {
    const bool evaluated = task.number == 1 || task.config.evaluation.seeds.empty() ||
                           fs::exists(task.dir / "evaluation.json");
    finished = evaluated && fs::exists(task.result()) && status_of(task) == "done";
  }
  return job_.communicator().all_reduce_scalar(finished ? 1.0 : 0.0) > 0.0;
}

/// The result of the phase before becomes what this one starts from.
void Coordinator::take_over(PhaseTask& task, const fs::path& result) {
  together(job_.communicator(), [&] {
    if (!job_.is_reporter()) return;
    const checkpoint::Snapshot snapshot = checkpoint::load(result);
    if (snapshot.integer("phase") != task.number - 1) {
      throw CheckpointError("{} is of phase {}, phase {} starts from one of phase {}",
                            result.string(), snapshot.integer("phase"), task.number,
                            task.number - 1);
    }
  });
  task.config.run.init_from = result.string();
}

PhaseEnd Coordinator::evaluate(PhaseTask& task) {
  PhaseEnd end = PhaseEnd::kDone;
  together(job_.communicator(), [&] {
    if (!job_.is_reporter()) return;
    const Stopwatch clock;
    const auto evaluation = evaluate_phase(task.dir / "config.toml", task.config, task.result());
    if (!evaluation) {
      end = PhaseEnd::kStopped;
      return;
    }
    add_evaluation(task, evaluation->controllers);
    std::fputs(evaluation->table.c_str(), stdout);
    std::fflush(stdout);
    spdlog::info("phase {}: evaluated on seeds {} in {:.1f} s", task.number,
                 task.config.evaluation.seeds, clock.seconds());
  });
  const bool stopped =
      job_.communicator().all_reduce_scalar(end == PhaseEnd::kStopped ? 1.0 : 0.0) > 0.0;
  return stopped ? PhaseEnd::kStopped : PhaseEnd::kDone;
}

void Coordinator::log_release(const PhaseTask& task, std::int64_t before) {
  const std::int64_t held = rss_bytes();
  model::release_cached_memory();
  malloc_trim(0);
  spdlog::info("phase {} has let go: {} resident, {} with it, {} before it", task.number,
               human_bytes(rss_bytes()), human_bytes(held), human_bytes(before));
}

void Coordinator::dry_run() {
  for (const PhaseTask& task : tasks_) {
    Run run(job_, task.config, task.dir);
    const bool is_first = &task == &tasks_.front();  // others start from the result of one before
    if (is_first && task.number > 1 && run.is_new()) check_starting_weights(task.config);
    task.number == 1 ? dry_run_world_model(run) : dry_run_ppo(run);
  }
}

}  // namespace

PhaseEnd run_plan(Job& job, const config::Plan& plan) { return Coordinator(job, plan).run(); }

void dry_run_plan(Job& job, const config::Plan& plan) { Coordinator(job, plan).dry_run(); }

}  // namespace traffic::train
