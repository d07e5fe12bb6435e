#include "traffic/train/evaluate/evaluation.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "evaluate/episode.h"
#include "evaluate/replay.h"
#include "traffic/config/seeds.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/process.h"
#include "traffic/os/process_pool.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

/// Time between two reports of a process about its episode, and between two calls of the progress
/// function.
constexpr double kReportInterval_s = 1.0;

/// "controller meter, seed 7"
std::string name_of_task(const EvaluationPlan& plan, std::size_t task) {
  return fmt::format("controller {}, seed {}", plan.controllers[task / plan.seeds.size()],
                     plan.seeds[task % plan.seeds.size()]);
}

/// A report of an episode's process to its parent.
struct Message {
  enum class Kind : std::int32_t { kRunning, kDone, kFailed };
  Kind kind = Kind::kRunning;
  std::int32_t exit_code = 0;
  std::size_t task = 0;
  double share = 0;  ///< share of the episode that is done
  EvaluatedEpisode episode{};
  std::array<char, 2048> text{};
};

void send(const os::Messages& parent, const Message& message) {
  if (!parent.send({reinterpret_cast<const char*>(&message), sizeof(message)})) {
    std::_Exit(1);  // the parent is gone
  }
}

/// Runs an episode in the child process.
/// @param attempt 0, or 1 if the episode is run once more
int run_task(const EvaluationPlan& plan, std::size_t task, int attempt,
             const os::Messages& parent) {
  Message message{.task = task};
  try {
    const auto report = [&, reported_s = steady_seconds()](double share) mutable {
      fault::hit("evaluation.step", static_cast<std::int64_t>(task), attempt);
      if (steady_seconds() - reported_s < kReportInterval_s) return;
      reported_s = steady_seconds();
      message.share = share;
      send(parent, message);
    };
    message.episode =
        run_episode(plan, task / plan.seeds.size(), plan.seeds[task % plan.seeds.size()], report);
    message.kind = Message::Kind::kDone;
  } catch (const std::exception& error) {
    const auto* known = dynamic_cast<const Error*>(&error);
    message.kind = Message::Kind::kFailed;
    message.exit_code = static_cast<std::int32_t>(known ? known->code() : ExitCode::kInternal);
    std::string_view(error.what()).copy(message.text.data(), message.text.size() - 1);
  }
  send(parent, message);
  return 0;
}

/// Runs all episodes, each in a process of its own and plan.jobs at a time, and receives their
/// reports. If a process dies or sends no report for rollout.env_timeout_s, its episode is run once
/// more.
///
/// A process runs only one episode, because SUMO's results may depend on the addresses of its
/// objects and thus on what the process simulated before.
class Processes {
 public:
  explicit Processes(const EvaluationPlan& plan)
      : plan_(plan), retried_(plan.controllers.size() * plan.seeds.size()) {
    const auto jobs =
        std::clamp<std::size_t>(static_cast<std::size_t>(plan.jobs), 1, retried_.size());
    for (std::size_t j = 0; j < jobs; ++j) start_next();
  }

  /// Shares of the running episodes that are done, added up.
  [[nodiscard]] double running_share() const {
    double sum = 0.0;
    for (const Process& process : processes_) sum += process.share;
    return sum;
  }

  /// Waits for the next episode that finishes or fails.
  /// @param on_progress called about once a second meanwhile
  /// @return nothing after all processes have ended
  std::optional<Message> next(const std::function<void()>& on_progress) {
    while (true) {
      while (!events_.empty()) {
        const os::ProcessPool::Event event = std::move(events_.front());
        events_.pop_front();
        if (auto message = take(event)) return message;
      }
      if (pool_.size() == 0) return std::nullopt;
      for (auto& event : pool_.wait(kReportInterval_s)) events_.push_back(std::move(event));
      kill_silent();
      if (steady_seconds() - last_progress_s_ < kReportInterval_s) continue;
      last_progress_s_ = steady_seconds();
      on_progress();
    }
  }

 private:
  struct Process {
    std::size_t task = 0;
    double share = 0.0;     ///< share of the episode that is done
    Stopwatch silent = {};  ///< time since the last report
    bool reported = false;  ///< it has sent the episode's result or its error
    bool killed = false;
  };

  void start_next() {
    if (next_task_ < retried_.size()) start(next_task_++, 0);
  }

  void start(std::size_t task, int attempt) {
    try {
      pool_.start([this, task, attempt](const os::Messages& parent) {
        return run_task(plan_, task, attempt, parent);
      });
    } catch (const std::system_error& error) {
      throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                          error.what());
    }
    processes_.push_back({.task = task});
  }

  void kill_silent() {
    for (std::size_t p = 0; p < processes_.size(); ++p) {
      Process& process = processes_[p];
      if (process.killed || process.silent.seconds() <= plan_.config.rollout.env_timeout_s)
        continue;
      process.killed = true;
      pool_.signal(static_cast<int>(p), SIGKILL);
    }
  }

  std::optional<Message> take(const os::ProcessPool::Event& event) {
    Process& process = processes_[static_cast<std::size_t>(event.process)];
    process.silent = Stopwatch();
    if (event.exit) return take_end(process, *event.exit);
    Message message;
    std::memcpy(&message, event.message.data(), sizeof(message));
    process.reported = message.kind != Message::Kind::kRunning;
    process.share = process.reported ? 0.0 : message.share;
    return process.reported ? std::optional(message) : std::nullopt;
  }

  std::optional<Message> take_end(Process& process, const os::Exit& exit) {
    const bool killed = std::exchange(process.killed, true);  // kill_silent() skips it now
    const std::size_t task = process.task;
    process.share = 0.0;
    if (process.reported) {
      start_next();
      return std::nullopt;
    }
    const std::string why =
        killed ? fmt::format("its process gave no sign of life for {} s (rollout.env_timeout_s)",
                             plan_.config.rollout.env_timeout_s)
               : "its process " + exit.describe() +
                     (exit.signal() == SIGKILL ? memory_hint(oom_kills_before_) : "");
    if (!retried_[task]) {
      retried_[task] = true;
      fmt::print(stderr, "{}: {}; the episode is run once more\n", name_of_task(plan_, task), why);
      start(task, 1);
      return std::nullopt;
    }
    Message message{.kind = Message::Kind::kFailed,
                    .exit_code = static_cast<std::int32_t>(ExitCode::kWorkers),
                    .task = task};
    why.copy(message.text.data(), message.text.size() - 1);
    return message;
  }

  const EvaluationPlan& plan_;
  os::ProcessPool pool_;
  std::deque<os::ProcessPool::Event> events_;
  std::vector<Process> processes_;
  std::vector<bool> retried_;  ///< [tasks]
  std::size_t next_task_ = 0;
  double last_progress_s_ = steady_seconds();
  std::int64_t oom_kills_before_ = num_oom_kills();
};

void check_plan(const EvaluationPlan& plan) {
  if (plan.seeds.empty()) throw ConfigError("--seeds: found no seed, expected at least one");
  sim::find_scenario(plan.config.env.scenario);
}

}  // namespace

void check_controllers(const std::vector<std::string>& names) {
  if (names.empty()) throw ConfigError("--controller: found no controller, expected at least one");
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    throw ConfigError("--controller: found the same controller twice in {}; give each one once",
                      fmt::join(names, ", "));
  }
  for (const std::string& name : names) check_controller(name);
}

std::vector<EvaluatedEpisode> run_evaluation(
    const EvaluationPlan& plan, const std::function<void(const EvaluationProgress&)>& progress) {
  check_plan(plan);
  if (!plan.replay_dir.empty()) create_replay_dir(plan);
  Processes processes(plan);
  std::vector<EvaluatedEpisode> episodes(plan.controllers.size() * plan.seeds.size());
  std::size_t done = 0;
  const auto on_progress = [&] {
    if (!progress) return;
    const auto total = static_cast<double>(episodes.size());
    progress({.done = done,
              .total = episodes.size(),
              .share = (static_cast<double>(done) + processes.running_share()) / total});
  };
  while (const auto message = processes.next(on_progress)) {
    if (message->kind == Message::Kind::kFailed) {
      throw Error(fmt::format("{}: {}", name_of_task(plan, message->task), message->text.data()),
                  static_cast<ExitCode>(message->exit_code));
    }
    episodes[message->task] = message->episode;
    ++done;
  }
  TRAFFIC_CHECK(done == episodes.size(), "{} of {} episodes have a result", done, episodes.size());
  if (!plan.replay_dir.empty()) write_replay(plan);
  return episodes;
}

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  config::SeedList list = config::read_seeds(text);
  if (list.refusal.empty()) return list.seeds;
  throw ConfigError("--seeds: found '{}', {}", text, list.refusal);
}

}  // namespace traffic::train
