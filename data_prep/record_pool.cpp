#include "record_pool.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <deque>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"
#include "traffic/os/process_pool.h"

namespace traffic::data_prep {
namespace {

constexpr double kPollS = 0.2;
/// Seconds that workers have to end after a request to stop; then they are killed.
constexpr double kGraceSeconds = 10.0;

/// Runs one job in a process of its own. Sends the messages "P EPISODES STEPS" for progress and
/// "E TEXT" for an error.
int be_worker(const os::Messages& parent, const RecordJob& job, const RecordPlan& plan,
              const RecordOptions& options, const std::string& command_line) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout belongs to the results of the parent
  try {
    const auto heartbeat = [&](std::size_t episodes, std::int64_t steps) {
      parent.send(fmt::format("P {} {}", episodes, steps));
    };
    if (options.scenes) {
      record_scenes(job, plan, options, command_line, heartbeat);
    } else {
      record_episodes(job, plan, options, command_line, heartbeat);
    }
    return 0;
  } catch (const Error& error) {
    parent.send(fmt::format("E {}", error.what()));
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    parent.send(fmt::format("E {}", error.what()));
    return static_cast<int>(ExitCode::kInternal);
  }
}

/// A running worker process.
struct Worker {
  std::size_t job = 0;
  int attempt = 1;
  std::size_t episodes = 0;
  std::int64_t steps = 0;
  double last_heard_s = 0;
  bool timed_out = false;
  std::string error = {};
};

/// A job that waits for a worker.
struct Task {
  std::size_t job;
  int attempt;
};

class Pool {
 public:
  Pool(const std::vector<RecordJob>& jobs, std::size_t workers, const RecordPlan& plan,
       const RecordOptions& options, const std::string& command_line, const PoolProgress& progress)
      : jobs_(jobs),
        max_workers_(workers),
        plan_(plan),
        options_(options),
        command_line_(command_line),
        progress_(progress),
        complete_(jobs.size(), false) {
    for (std::size_t i = 0; i < jobs.size(); ++i) waiting_.push_back({i, 1});
  }

  PoolResult run();

 private:
  void start(const Task& task);
  void listen();
  void take(Worker& worker, const std::string& message);
  void end(Worker& worker, const os::Exit& exit);
  void watch();
  void ask_to_stop();

  const std::vector<RecordJob>& jobs_;
  std::size_t max_workers_;
  const RecordPlan& plan_;
  const RecordOptions& options_;
  const std::string& command_line_;
  const PoolProgress& progress_;
  std::deque<Task> waiting_;
  os::ProcessPool processes_;
  std::map<int, Worker> workers_;  ///< key: process id
  std::vector<bool> complete_;
  std::size_t episodes_done_ = 0;  ///< episodes of complete files
  std::optional<double> stopping_since_s_;
  PoolResult result_;
};

void Pool::start(const Task& task) {
  const auto body = [&](const os::Messages& parent) {
    return be_worker(parent, jobs_[task.job], plan_, options_, command_line_);
  };
  try {
    const int process = processes_.start(body, SIGTERM);
    workers_[process] = {
        .job = task.job, .attempt = task.attempt, .last_heard_s = steady_seconds()};
  } catch (const std::system_error& error) {
    throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                        error.what());
  }
}

void Pool::take(Worker& worker, const std::string& message) {
  worker.last_heard_s = steady_seconds();
  unsigned long episodes = 0;
  long long steps = 0;
  if (std::sscanf(message.c_str(), "P %lu %lld", &episodes, &steps) == 2) {
    const std::int64_t more = steps - worker.steps;
    worker.episodes = episodes;
    worker.steps = steps;
    result_.steps += more;
    std::size_t done = episodes_done_;
    for (const auto& [process, other] : workers_) done += other.episodes;
    progress_(done, more);
  } else {
    worker.error = message.substr(2);
  }
}

void Pool::end(Worker& worker, const os::Exit& exit) {
  const std::string file = jobs_[worker.job].file.string();
  if (exit.well()) {
    complete_[worker.job] = true;
    episodes_done_ += std::exchange(worker.episodes, 0);
    return;
  }
  worker.episodes = 0;
  remove_stale_temporaries(jobs_[worker.job].file.parent_path());
  if (stopping_since_s_) return;
  auto code = ExitCode::kWorkers;
  std::string reason = worker.error;
  if (worker.timed_out) {
    reason = fmt::format("the simulation has sent no message for {} s", options_.timeout_s);
  } else if (exit.signal() != 0) {
    reason = "the process " + exit.describe();
  } else {
    code = static_cast<ExitCode>(exit.code());
  }
  const bool again = code == ExitCode::kWorkers && worker.attempt == 1;
  spdlog::warn("{}: {}{}", file, reason, again ? "; the file is recorded once more" : "");
  if (again) {
    waiting_.push_back({worker.job, 2});
    ++result_.retries;
  } else {
    result_.failed.push_back({file, reason, code});
  }
}

void Pool::listen() {
  for (const auto& event : processes_.wait(kPollS)) {
    Worker& worker = workers_.at(event.process);
    if (!event.exit) {
      take(worker, event.message);
      continue;
    }
    end(worker, *event.exit);
    workers_.erase(event.process);
  }
}

void Pool::watch() {
  const double now = steady_seconds();
  for (auto& [process, worker] : workers_) {
    const bool late_to_stop = stopping_since_s_ && now - *stopping_since_s_ > kGraceSeconds;
    if (now - worker.last_heard_s > options_.timeout_s || late_to_stop) {
      worker.timed_out = true;
      processes_.signal(process, SIGKILL);
    }
  }
}

void Pool::ask_to_stop() {
  stopping_since_s_ = steady_seconds();
  result_.stopped = true;
  waiting_.clear();
  for (const auto& [process, worker] : workers_) processes_.signal(process, SIGTERM);
}

PoolResult Pool::run() {
  while (!waiting_.empty() || !workers_.empty()) {
    if (stop_requested() && !stopping_since_s_) ask_to_stop();
    while (!waiting_.empty() && workers_.size() < max_workers_) {
      start(waiting_.front());
      waiting_.pop_front();
    }
    listen();
    watch();
  }
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    if (complete_[i]) result_.files.push_back(jobs_[i].file.string());
  }
  return std::move(result_);
}

}  // namespace

PoolResult run_pool(const std::vector<RecordJob>& jobs, std::size_t workers, const RecordPlan& plan,
                    const RecordOptions& options, const std::string& command_line,
                    const PoolProgress& progress) {
  return Pool(jobs, workers, plan, options, command_line, progress).run();
}

}  // namespace traffic::data_prep
