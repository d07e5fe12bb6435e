#include "file_jobs.h"

#include <unistd.h>

#include <map>
#include <memory>
#include <new>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"
#include "traffic/os/affinity.h"
#include "traffic/os/process_pool.h"
#include "traffic/report/progress_bar.h"

namespace traffic::data_prep {
namespace {

constexpr double kPollSeconds = 0.2;
constexpr double kTellSeconds = 0.1;

/// Runs one job in a process of its own. Sends the messages {"frames": n} for progress, and
/// {"answer": ...} or {"error": ...} at the end.
int do_job(const os::Messages& parent, const FileJob& job) {
  dup2(STDERR_FILENO, STDOUT_FILENO);  // stdout belongs to the results of the parent
  const auto send = [&](const nlohmann::json& message) {
    parent.send(message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  };
  const auto fail = [&](const std::string& what, ExitCode code) {
    send({{"error", what}});
    return static_cast<int>(code);
  };
  std::int64_t untold = 0;
  double told_s = steady_seconds();
  const auto progress = [&](std::int64_t frames) {
    untold += frames;
    if (steady_seconds() - told_s < kTellSeconds) return;
    send({{"frames", std::exchange(untold, 0)}});
    told_s = steady_seconds();
  };
  try {
    const auto answer = job.work(progress);
    send({{"frames", untold}});
    send({{"answer", answer}});
    return 0;
  } catch (const Error& error) {
    return fail(error.what(), error.code());
  } catch (const std::bad_alloc&) {
    return fail(job.file + ": out of memory", ExitCode::kResources);
  } catch (const std::exception& error) {
    return fail(error.what(), ExitCode::kInternal);
  }
}

class Jobs {
 public:
  Jobs(const std::vector<FileJob>& jobs, const FileJobOptions& options)
      : jobs_(jobs),
        answers_(jobs.size()),
        most_(static_cast<std::size_t>(options.jobs > 0 ? options.jobs : os::num_cpus_available())),
        bar_({.label = options.label,
              .total_steps = static_cast<std::int64_t>(jobs.size()),
              .unit = "frames"}) {}

  std::vector<FileAnswer> run();

 private:
  void start();
  void take(const os::ProcessPool::Event& event);

  const std::vector<FileJob>& jobs_;
  std::vector<FileAnswer> answers_;
  std::size_t most_;
  report::ProgressBar bar_;
  std::size_t next_ = 0;
  std::int64_t done_ = 0;
  std::map<int, std::size_t> job_of_;  ///< key: process id
  os::ProcessPool pool_;
};

void Jobs::start() {
  const std::size_t job = next_++;
  try {
    const int process =
        pool_.start([&, job](const os::Messages& parent) { return do_job(parent, jobs_[job]); });
    job_of_[process] = job;
  } catch (const std::system_error& error) {
    throw ResourceError("{}; raise the limits of open files and processes (ulimit -n, -u)",
                        error.what());
  }
}

void Jobs::take(const os::ProcessPool::Event& event) {
  const std::size_t job = job_of_.at(event.process);
  FileAnswer& answer = answers_[job];
  if (!event.exit) {
    auto message = nlohmann::json::parse(event.message);
    if (message.contains("frames")) bar_.update(done_, message["frames"], {});
    if (message.contains("answer")) answer.answer = std::move(message["answer"]);
    if (message.contains("error")) answer.error = message["error"];
    return;
  }
  bar_.update(++done_, 0, {});
  if (event.exit->well()) return;
  if (event.exit->signal() != 0 || answer.error.empty()) {
    answer.error = fmt::format(
        "{}: the process that read the file crashed ({}); the file is damaged or malicious",
        jobs_[job].file, event.exit->describe());
    answer.code = ExitCode::kData;
  } else {
    answer.code = static_cast<ExitCode>(event.exit->code());
  }
}

std::vector<FileAnswer> Jobs::run() {
  while (next_ < jobs_.size() || pool_.size() > 0) {
    if (stop_requested()) throw Error("stopped by request", ExitCode::kStopped);
    while (next_ < jobs_.size() && pool_.size() < most_) start();
    for (const auto& event : pool_.wait(kPollSeconds)) take(event);
  }
  return std::move(answers_);
}

}  // namespace

std::vector<FileAnswer> run_apart(const std::vector<FileJob>& jobs, const FileJobOptions& options) {
  install_stop_handlers();
  const auto clean = [&] {
    if (!options.folder.empty()) remove_stale_temporaries(options.folder);
  };
  try {
    auto answers = Jobs(jobs, options).run();
    clean();
    return answers;
  } catch (...) {
    clean();  // the destructor of Jobs has ended the processes
    throw;
  }
}

std::vector<nlohmann::json> run_all_apart(const std::vector<FileJob>& jobs,
                                          const FileJobOptions& options) {
  std::vector<nlohmann::json> answers;
  for (auto& one : run_apart(jobs, options)) {
    if (!one.error.empty()) throw Error(one.error, one.code);
    answers.push_back(std::move(one.answer));
  }
  return answers;
}

}  // namespace traffic::data_prep
