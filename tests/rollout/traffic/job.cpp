#include "rollout/traffic/job.h"

#include "support/injected.h"
#include "traffic/os/process_id.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <thread>

namespace traffic::rollout::testing {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Name of the program that a process runs; empty if the process does not exist.
std::string name_of(pid_t pid) {
  const auto stat = os::process_stat(pid);
  return stat ? stat->name : "";
}

std::string name_of_parent(pid_t pid) {
  const auto stat = os::process_stat(pid);
  return stat ? name_of(stat->parent) : "";
}

}  // namespace

Job::Job(const Options& options) : ranks_(options.ranks) {
  test::tell_injected_by("TRAFFIC_FAULT=" + options.fault);
  static int number = 0;
  mark_ = fmt::format("TRAFFIC_TEST_JOB={}.{}", getpid(), number++);
  std::string folder = (fs::temp_directory_path() / "rollout_job.XXXXXX").string();
  folder_ = mkdtemp(folder.data());
  output_ = folder_;
  output_ += ".out";
  std::vector<std::string> words = options.starter;
  if (ranks_ > 0) {
    words.insert(words.end(),
                 {options.plain_mpirun ? "mpirun" : TRAFFIC_SOURCE_DIR "/launch/mpirun.sh", "-np",
                  std::to_string(ranks_)});
  }
  words.emplace_back(TRAFFIC_BIN_DIR "/rollout_driver");
  words.insert(words.end(), options.args.begin(), options.args.end());
  const os::Descriptor output(
      open(output_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  child_ = os::ChildProcess::run(
      {.program = "/usr/bin/env",  // finds mpirun in PATH
       .args = words,
       .fds = {{STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}},
       .set_environment = {mark_, "TRAFFIC_FAULT=" + options.fault,
                           // A singleton's daemon runs as root in containers.
                           "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                           "TMPDIR=" + folder_.string(),
                           "OMPI_MCA_btl_vader_backing_directory=" + folder_.string()}});
}

Job::~Job() {
  for (const pid_t pid : all_pids()) kill(pid, SIGKILL);
  if (end_ < 0) (void)wait(10);
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
  fs::remove(output_, ignored);
}

std::vector<std::pair<pid_t, std::string>> Job::processes() const {
  std::vector<std::pair<pid_t, std::string>> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    // A zombie has an empty environment, so it is not counted.
    const std::string environment = '\0' + read_file(entry.path() / "environ");
    if (environment.find('\0' + mark_ + '\0') == std::string::npos) continue;
    const pid_t pid = std::stoi(name);
    found.emplace_back(pid, name_of(pid));
  }
  return found;
}

std::vector<pid_t> Job::pids(std::string_view program) const {
  std::vector<pid_t> found;
  for (const auto& [pid, name] : processes()) {
    if (name == program && name_of_parent(pid) != program) found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> Job::pids_of_episodes() const {
  std::vector<pid_t> found;
  for (const auto& [pid, name] : processes()) {
    if (name_of_parent(pid) == "sumo_env") found.push_back(pid);
  }
  return found;
}

std::vector<pid_t> Job::all_pids() const {
  std::vector<pid_t> found;
  for (const auto& [pid, name] : processes()) found.push_back(pid);
  return found;
}

std::string Job::output() const { return read_file(output_); }

int Job::count(std::string_view text) const {
  const std::string all = output();
  int times = 0;
  for (auto at = all.find(text); at != std::string::npos; at = all.find(text, at + 1)) ++times;
  return times;
}

void Job::signal(int number) const {
  test::tell_injected(fmt::format("signal {} to mpirun", number));
  child_.signal(number);
}

int Job::wait(double limit_s) {
  const bool ended = eventually(
      [this] {
        if (end_ >= 0) return true;
        if (const auto exit = child_.poll()) end_ = exit->code();
        return end_ >= 0;
      },
      limit_s);
  return ended ? end_ : -1;
}

std::vector<std::string> Job::files_left() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
    names.push_back(entry.path().string());
  }
  return names;
}

void Job::pause() { std::this_thread::sleep_for(std::chrono::milliseconds(10)); }

}  // namespace traffic::rollout::testing
