#include "traffic/train/closed_loop/drive_evaluation.h"

#include <csignal>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "closed_loop/drive_episode.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/process_pool.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

constexpr double kReportInterval_s = 1.0;

/// The kind of a message from the process of an episode, which is the first letter of the message.
enum class Report : char {
  kShare = 's',   ///< the share of the episode that is done, as a number
  kResult = 'r',  ///< result of run_drive_episode()
  kError = 'e',   ///< exit code and text of an error
};

/// Runs an episode in the child process.
int run_child(const DriveEvaluationPlan& plan, const DriveTask& task, const os::Messages& parent) {
  const auto send = [&parent](Report kind, const std::string& text) {
    return parent.send(static_cast<char>(kind) + text);
  };
  try {
    const auto progress = [&, reported_s = steady_seconds()](double share) mutable {
      if (steady_seconds() - reported_s < kReportInterval_s) return;
      reported_s = steady_seconds();
      send(Report::kShare, std::to_string(share));
    };
    return send(Report::kResult, run_drive_episode(plan, task, progress)) ? 0 : 1;
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    const auto code = static_cast<int>(known ? known->code() : ExitCode::kInternal);
    return send(Report::kError, fmt::format("{} {}", code, error.what())) ? 0 : 1;
  }
}

/// Runs the episodes of a plan in child processes, up to plan.jobs at a time. If a process ends
/// without a result or gives no sign of life, its episode is run once more.
class DriveProcesses {
 public:
  explicit DriveProcesses(const DriveEvaluationPlan& plan)
      : plan_(plan), results_(num_drive_tasks(plan)) {}

  /// @return the results of all tasks
  const std::vector<std::string>& run(
      const std::function<void(const EvaluationProgress&)>& progress) {
    while (true) {
      while (next_ < results_.size() && pool_.size() < static_cast<std::size_t>(plan_.jobs)) {
        start(next_++, 0);
      }
      if (pool_.size() == 0) return results_;
      for (const os::ProcessPool::Event& event : pool_.wait(kReportInterval_s)) take(event);
      kill_silent();
      if (progress) report(progress);
    }
  }

 private:
  struct Process {
    std::size_t task = 0;
    int attempt = 0;
    double share = 0.0;
    Stopwatch silent{};
    bool is_done = false;
    bool is_killed = false;
  };

  void start(std::size_t task, int attempt) {
    try {
      const int number = pool_.start([this, task](const os::Messages& parent) {
        return run_child(plan_, drive_task(plan_, task), parent);
      });
      processes_[number] = {.task = task, .attempt = attempt};
    } catch (const std::system_error& error) {
      throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                          error.what());
    }
  }

  void take(const os::ProcessPool::Event& event) {
    Process& process = processes_.at(event.process);
    process.silent = Stopwatch();
    const std::string where = describe(plan_, drive_task(plan_, process.task));
    if (event.exit) {
      const Process ended = process;
      processes_.erase(event.process);
      if (ended.is_done) return;
      const std::string why =
          ended.is_killed
              ? fmt::format("its process gave no sign of life for {} s", plan_.silence_s)
              : "its process " + event.exit->describe();
      if (ended.attempt > 0) {
        throw Error(fmt::format("{}: {}", where, why), ExitCode::kWorkers);
      }
      fmt::print(stderr, "{}: {}; running the episode once more\n", where, why);
      start(ended.task, 1);
      return;
    }
    const std::string text = event.message.substr(1);
    switch (static_cast<Report>(event.message.front())) {
      case Report::kShare:
        process.share = std::stod(text);
        return;
      case Report::kResult:
        process.is_done = true;
        results_[process.task] = text;
        ++done_;
        return;
      case Report::kError: {
        const std::size_t space = text.find(' ');
        throw Error(fmt::format("{}: {}", where, text.substr(space + 1)),
                    static_cast<ExitCode>(std::stoi(text.substr(0, space))));
      }
    }
  }

  void kill_silent() {
    for (auto& [number, process] : processes_) {
      if (process.is_killed || process.silent.seconds() <= plan_.silence_s) continue;
      process.is_killed = true;
      pool_.signal(number, SIGKILL);
    }
  }

  void report(const std::function<void(const EvaluationProgress&)>& progress) const {
    double share = static_cast<double>(done_);
    for (const auto& [number, process] : processes_) {
      if (!process.is_done) share += process.share;
    }
    progress({.done = done_,
              .total = results_.size(),
              .share = share / static_cast<double>(results_.size())});
  }

  const DriveEvaluationPlan& plan_;
  std::vector<std::string> results_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  std::map<int, Process> processes_;
  os::ProcessPool pool_;
};

void check_plan(const DriveEvaluationPlan& plan) {
  if (plan.seeds.empty()) throw ConfigError("--seeds: found no seed, expected at least one");
  if (plan.scenarios.empty()) {
    throw ConfigError("--scenario: found no scenario, expected at least one");
  }
  for (const std::string& scenario : plan.scenarios) sim::find_scenario(scenario);
}

}  // namespace

std::vector<DrivenEgo> run_drive_evaluation(
    const DriveEvaluationPlan& plan,
    const std::function<void(const EvaluationProgress&)>& progress) {
  check_plan(plan);
  for (const std::filesystem::path& folder : {plan.replay_dir, plan.corrections_dir}) {
    if (folder.empty()) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) throw ResourceError("{}: {}", folder.string(), error.message());
  }
  DriveProcesses processes(plan);
  const std::vector<std::string>& results = processes.run(progress);
  std::vector<DrivenEgo> egos;
  for (std::size_t task = 0; task < results.size(); ++task) {
    for (DrivenEgo& ego : read_drive_episode(plan, drive_task(plan, task), results[task])) {
      egos.push_back(std::move(ego));
    }
  }
  if (!plan.replay_dir.empty()) write_drive_replay(plan);
  return egos;
}

}  // namespace traffic::train
