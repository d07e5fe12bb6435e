#include "record_pool.h"

#include <fcntl.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"

namespace traffic::data_prep {
namespace {

constexpr int kPollMilliseconds = 200;
/// How long workers may take to end after a request to stop.
constexpr double kGraceSeconds = 10.0;

/// The writing end of a worker's pipe. Lines: "P episodes steps" and "E code message".
void send_line(int fd, std::string line) {
  std::replace(line.begin(), line.end(), '\n', ' ');
  line += '\n';
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(fd, line.data() + done, line.size() - done);
    if (n < 0 && errno != EINTR) return;  // nobody listens any more
    if (n > 0) done += static_cast<std::size_t>(n);
  }
}

/// What the child process does; never returns.
[[noreturn]] void be_worker(int fd, pid_t parent, const RecordJob& job, const RecordPlan& plan,
                            const RecordOptions& options, const std::string& command_line) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(static_cast<int>(ExitCode::kStopped));
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout belongs to the results of the parent
  int code = 0;
  try {
    record_episodes(job, plan, options, command_line,
                    [fd](std::size_t episodes, std::int64_t steps) {
                      send_line(fd, fmt::format("P {} {}", episodes, steps));
                    });
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    send_line(fd, fmt::format("E {} {}", code, error.what()));
  } catch (const std::exception& error) {
    code = static_cast<int>(ExitCode::kInternal);
    send_line(fd, fmt::format("E {} {}", code, error.what()));
  }
  _exit(code);
}

struct Worker {
  std::size_t job = 0;
  int attempt = 1;
  pid_t pid = -1;
  int fd = -1;
  std::string buffer;
  std::size_t episodes = 0;
  std::int64_t steps = 0;
  double last_heard_s = 0;
  bool timed_out = false;
  std::string error;
};

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
  void read_lines(Worker& worker);
  void take_line(Worker& worker, const std::string& line);
  void end(Worker& worker);
  void watch();
  void ask_to_stop();

  const std::vector<RecordJob>& jobs_;
  std::size_t max_workers_;
  const RecordPlan& plan_;
  const RecordOptions& options_;
  const std::string& command_line_;
  const PoolProgress& progress_;
  std::deque<Task> waiting_;
  std::vector<Worker> workers_;
  std::vector<bool> complete_;
  std::size_t episodes_done_ = 0;  ///< of complete files
  std::optional<double> stopping_since_s_;
  PoolResult result_;
};

void Pool::start(const Task& task) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw ResourceError("cannot make a pipe: {}; raise the limit of open files (ulimit -n)",
                        std::strerror(errno));
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    for (const auto& other : workers_) close(other.fd);
    be_worker(ends[1], parent, jobs_[task.job], plan_, options_, command_line_);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    throw ResourceError("cannot start a process: {}; raise the limit of processes (ulimit -u)",
                        std::strerror(errno));
  }
  Worker worker;
  worker.job = task.job;
  worker.attempt = task.attempt;
  worker.pid = pid;
  worker.fd = ends[0];
  worker.last_heard_s = steady_seconds();
  workers_.push_back(std::move(worker));
}

void Pool::take_line(Worker& worker, const std::string& line) {
  worker.last_heard_s = steady_seconds();
  unsigned long episodes = 0;
  long long steps = 0;
  if (std::sscanf(line.c_str(), "P %lu %lld", &episodes, &steps) == 2) {
    const std::int64_t more = steps - worker.steps;
    worker.episodes = episodes;
    worker.steps = steps;
    result_.steps += more;
    std::size_t done = episodes_done_;
    for (const auto& other : workers_) done += other.episodes;
    progress_(done, more);
  } else if (line.starts_with("E ")) {
    const auto space = line.find(' ', 2);
    worker.error = space == std::string::npos ? line : line.substr(space + 1);
  }
}

void Pool::read_lines(Worker& worker) {
  char bytes[4096];
  const ssize_t n = read(worker.fd, bytes, sizeof bytes);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    end(worker);
    return;
  }
  worker.buffer.append(bytes, static_cast<std::size_t>(n));
  for (std::size_t at; (at = worker.buffer.find('\n')) != std::string::npos;) {
    take_line(worker, worker.buffer.substr(0, at));
    worker.buffer.erase(0, at + 1);
  }
}

/// The worker has closed its pipe: it has ended, or is about to.
void Pool::end(Worker& worker) {
  close(std::exchange(worker.fd, -1));
  int status = 0;
  while (waitpid(worker.pid, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string file = jobs_[worker.job].file.string();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
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
    reason = fmt::format("the simulation was silent for {} s", options_.timeout_s);
  } else if (WIFSIGNALED(status)) {
    reason = fmt::format("the process died by signal {} ({})", WTERMSIG(status),
                         strsignal(WTERMSIG(status)));
  } else {
    code = static_cast<ExitCode>(WEXITSTATUS(status));
  }
  const bool again = code == ExitCode::kWorkers && worker.attempt == 1;
  spdlog::warn("{}: {}{}", file, reason, again ? "; trying once more" : "");
  if (again) {
    waiting_.push_back({worker.job, 2});
    ++result_.retries;
  } else {
    result_.failed.push_back({file, reason, code});
  }
}

void Pool::listen() {
  std::vector<pollfd> fds;
  for (const auto& worker : workers_) fds.push_back({worker.fd, POLLIN, 0});
  if (poll(fds.data(), fds.size(), kPollMilliseconds) <= 0) return;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents != 0) read_lines(workers_[i]);
  }
  std::erase_if(workers_, [](const Worker& worker) { return worker.fd < 0; });
}

void Pool::watch() {
  const double now = steady_seconds();
  for (auto& worker : workers_) {
    const bool late_to_stop = stopping_since_s_ && now - *stopping_since_s_ > kGraceSeconds;
    if (now - worker.last_heard_s > options_.timeout_s || late_to_stop) {
      worker.timed_out = true;
      kill(worker.pid, SIGKILL);
    }
  }
}

void Pool::ask_to_stop() {
  stopping_since_s_ = steady_seconds();
  result_.stopped = true;
  waiting_.clear();
  for (const auto& worker : workers_) kill(worker.pid, SIGTERM);
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
