#include "evaluate/episode_processes.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include "evaluate/episode.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"

namespace traffic::train {
namespace {

/// Minimum time in seconds between two reports of a process about its episode, and between two
/// calls of goes_on.
constexpr double kReportInterval_s = 1.0;

/// The name of an episode for messages, such as "controller meter, seed 7".
std::string name_of_task(const EvaluationPlan& plan, std::size_t task) {
  return fmt::format("controller {}, seed {}", plan.controllers[task / plan.seeds.size()],
                     plan.seeds[task % plan.seeds.size()]);
}

void send(const os::Messages& parent, const EpisodeReport& report) {
  if (!parent.send({reinterpret_cast<const char*>(&report), sizeof(report)})) {
    std::_Exit(1);  // the parent process has ended, so nobody needs the result
  }
}

[[noreturn]] void fail(const EvaluationPlan& plan, std::size_t task, const std::string& why,
                       ExitCode code) {
  throw Error(fmt::format("{}: {}", name_of_task(plan, task), why), code);
}

}  // namespace

EpisodeProcesses::EpisodeProcesses(const EvaluationPlan& plan, NextTask next_task, double mark_s)
    : plan_(plan), next_task_(std::move(next_task)), mark_s_(mark_s) {}

double EpisodeProcesses::running_share() const {
  double sum = 0.0;
  for (const Process& process : processes_) sum += process.share;
  return sum;
}

std::optional<EpisodeReport> EpisodeProcesses::next(const std::function<bool()>& goes_on) {
  while (true) {
    while (!events_.empty()) {
      const os::ProcessPool::Event event = std::move(events_.front());
      events_.pop_front();
      if (auto report = take(event)) return report;
    }
    start_waiting();
    if (pool_.size() == 0) return std::nullopt;
    for (auto& event : pool_.wait(kReportInterval_s)) events_.push_back(std::move(event));
    kill_silent();
    if (steady_seconds() - last_interval_s_ < kReportInterval_s) continue;
    last_interval_s_ = steady_seconds();
    if (!goes_on()) return std::nullopt;
  }
}

void EpisodeProcesses::end(std::size_t task) {
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    Process& process = processes_[p];
    if (process.task != task || process.reported) continue;
    process.reported = true;
    process.killed = true;
    process.share = 0.0;
    pool_.signal(static_cast<int>(p), SIGKILL);
  }
}

void EpisodeProcesses::start_waiting() {
  while (pool_.size() == 0 || pool_.size() < static_cast<std::size_t>(plan_.jobs)) {
    const auto task = next_task_();
    if (!task) return;
    start(*task, 0);
  }
}

void EpisodeProcesses::start(std::size_t task, int attempt) {
  try {
    pool_.start([this, task, attempt](const os::Messages& parent) {
      return run_task(task, attempt, parent);
    });
  } catch (const std::system_error& error) {
    throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                        error.what());
  }
  processes_.push_back({.task = task});
}

/// Runs an episode in the child process.
/// @param attempt 0 for the first run of the episode, 1 if it is run once more
int EpisodeProcesses::run_task(std::size_t task, int attempt, const os::Messages& parent) const {
  EpisodeReport report{.task = task};
  try {
    const auto progress = [&, reported_s = steady_seconds(), next_mark = std::int64_t{0}](
                              double share, const EvaluatedEpisode& so_far) mutable {
      fault::hit("evaluation.step", static_cast<std::int64_t>(task), attempt);
      report.share = share;
      const double next_mark_s = static_cast<double>(next_mark) * mark_s_;
      if (mark_s_ > 0.0 && so_far.score.seconds >= next_mark_s) {
        report.kind = EpisodeReport::Kind::kMark;
        report.mark = next_mark++;
        report.episode = so_far;
      } else if (steady_seconds() - reported_s >= kReportInterval_s) {
        report.kind = EpisodeReport::Kind::kRunning;
      } else {
        return;
      }
      reported_s = steady_seconds();
      send(parent, report);
    };
    report.episode = run_episode(plan_, task / plan_.seeds.size(),
                                 plan_.seeds[task % plan_.seeds.size()], progress);
    report.kind = EpisodeReport::Kind::kDone;
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    report.kind = EpisodeReport::Kind::kFailed;
    report.exit_code = static_cast<std::int32_t>(known ? known->code() : ExitCode::kInternal);
    std::string_view(error.what()).copy(report.text.data(), report.text.size() - 1);
  }
  send(parent, report);
  return 0;
}

void EpisodeProcesses::kill_silent() {
  for (std::size_t p = 0; p < processes_.size(); ++p) {
    Process& process = processes_[p];
    if (process.killed || process.silent.seconds() <= plan_.config.rollout.env_timeout_s) continue;
    process.killed = true;
    pool_.signal(static_cast<int>(p), SIGKILL);
  }
}

std::optional<EpisodeReport> EpisodeProcesses::take(const os::ProcessPool::Event& event) {
  Process& process = processes_[static_cast<std::size_t>(event.process)];
  process.silent = Stopwatch();
  if (event.exit) {
    take_end(process, *event.exit);
    return std::nullopt;
  }
  // The process sent this message before end() killed it.
  if (process.reported) return std::nullopt;
  EpisodeReport report;
  std::memcpy(&report, event.message.data(), sizeof(report));
  using Kind = EpisodeReport::Kind;
  if (report.kind == Kind::kFailed) {
    fail(plan_, process.task, report.text.data(), static_cast<ExitCode>(report.exit_code));
  }
  process.reported = report.kind == Kind::kDone;
  process.share = process.reported ? 0.0 : report.share;
  return report.kind == Kind::kRunning ? std::nullopt : std::optional(report);
}

void EpisodeProcesses::take_end(Process& process, const os::Exit& exit) {
  const bool killed = std::exchange(process.killed, true);  // kill_silent() skips it now
  const std::size_t task = process.task;
  process.share = 0.0;
  if (process.reported) return;
  const std::string why =
      killed ? fmt::format("its process gave no sign of life for {} s (rollout.env_timeout_s)",
                           plan_.config.rollout.env_timeout_s)
             : "its process " + exit.describe() +
                   (exit.signal() == SIGKILL ? memory_hint(oom_kills_before_) : "");
  if (!retried_.insert(task).second) fail(plan_, task, why, ExitCode::kWorkers);
  fmt::print(stderr, "{}: {}; the episode is run once more\n", name_of_task(plan_, task), why);
  start(task, 1);
}

}  // namespace traffic::train
