#include "training_runs.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/signals.h"
#include "traffic/os/affinity.h"
#include "traffic/os/child_process.h"
#include "traffic/os/descriptor.h"
#include "traffic/report/json_file.h"
#include "traffic/report/run_reader.h"

namespace traffic::tune {
namespace {

namespace fs = std::filesystem;

constexpr auto kLookEvery = std::chrono::milliseconds(50);
constexpr int kLogMode = 0644;

fs::path beside(const fs::path& dir, const char* ending) { return dir.string() + ending; }

/// traffic_train of the same build.
std::string traffic_train() {
  return (fs::read_symlink("/proc/self/exe").parent_path() / "traffic_train").string();
}

void add_settings(std::vector<std::string>& arguments, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    arguments.push_back("--set");
    arguments.push_back(setting);
  }
}

/// Several ranks go through launch/mpirun.sh, which knows about root and cores.
os::Program program_of(const Table& table, const TrainingRun& run, std::int64_t jobs, int log) {
  std::vector<std::string> arguments{table.config, "--run-dir", run.dir.string(), "--seed",
                                     fmt::format("{}", run.seed)};
  const std::int64_t threads =
      std::max<std::int64_t>(1, os::num_cpus_available() / (jobs * table.ranks));
  // The end of a trial is not the result of a study, and a loser's is nobody's.
  add_settings(arguments, {"evaluation.seeds=", fmt::format("run.threads_per_rank={}", threads),
                           fmt::format("{}={}", table.budget_key, run.budget)});
  add_settings(arguments, table.set);
  add_settings(arguments, run.settings);
  os::Program program{.program = traffic_train(), .fds = {{1, log}, {2, log}}};
  if (table.ranks > 1) {
    arguments.insert(arguments.begin(), {"-np", fmt::format("{}", table.ranks), program.program});
    program.program = fs::absolute("launch/mpirun.sh").string();
  }
  program.args = std::move(arguments);
  return program;
}

/// What was kept of an earlier training, if it went that far.
std::optional<double> figure_before(const TrainingRun& run) {
  const auto result = report::read_json_file(beside(run.dir, ".json"));
  if (!result || result->value("budget", std::int64_t{0}) < run.budget) return std::nullopt;
  const auto figures = result->value("figures", nlohmann::ordered_json::object());
  const std::string budget = fmt::format("{}", run.budget);
  if (!figures.contains(budget) || !figures[budget].is_number()) return std::nullopt;
  return figures[budget].get<double>();
}

void keep_figure(const TrainingRun& run) {
  const fs::path path = beside(run.dir, ".json");
  auto result = report::read_json_file(path).value_or(nlohmann::ordered_json::object());
  result["budget"] = run.budget;
  result["figures"][fmt::format("{}", run.budget)] = run.figure;
  write_file_atomically(path, result.dump(2) + "\n");
}

std::string last_line(const fs::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

void take_result(const Table& table, TrainingRun& run, const os::Exit& exit) {
  if (!exit.well()) {
    run.failure =
        fmt::format("traffic_train {}: {}", exit.describe(), last_line(beside(run.dir, ".log")));
    return;
  }
  const auto summary = report::RunReader(run.dir).summary();
  const auto result = summary ? summary->value("result", nlohmann::ordered_json::object())
                              : nlohmann::ordered_json::object();
  if (!result.contains(table.figure) || !result[table.figure].is_number()) {
    std::string names;
    for (const auto& [name, value] : result.items()) {
      if (value.is_number()) names += (names.empty() ? "" : ", ") + name;
    }
    throw ConfigError("{}/summary.json has no figure '{}' in its result; there are {}",
                      run.dir.string(), table.figure, names.empty() ? "none" : names);
  }
  run.figure = result[table.figure];
  keep_figure(run);
}

struct Started {
  TrainingRun* run;
  os::ChildProcess process;
};

Started start(const Table& table, TrainingRun& run, std::int64_t jobs) {
  std::error_code error;
  fs::create_directories(run.dir.parent_path(), error);
  const fs::path path = beside(run.dir, ".log");
  const os::Descriptor log(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kLogMode));
  if (!log.is_open()) throw io_error("write", path, errno);
  try {
    return {.run = &run, .process = os::ChildProcess::run(program_of(table, run, jobs, log.get()))};
  } catch (const std::system_error& failed) {
    throw ResourceError("{}; build it, and run this from the folder of the repository",
                        failed.what());
  }
}

/// Asks all to save and waits for them.
[[noreturn]] void stop_all(std::vector<Started>& started) {
  for (const Started& one : started) one.process.signal(SIGUSR1);
  for (Started& one : started) one.process.wait();
  throw Error("stopped by request; the same command goes on", ExitCode::kStopped);
}

}  // namespace

void check_settings(const Table& table, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{table.config, "--print-config"};
  add_settings(arguments, {fmt::format("{}={}", table.budget_key, table.budgets.front())});
  add_settings(arguments, table.set);
  add_settings(arguments, settings);
  auto output = os::run_program(traffic_train(), arguments, [] { return stop_requested(); });
  if (output.stopped) throw Error("stopped by request", ExitCode::kStopped);
  while (output.error.ends_with('\n')) output.error.pop_back();
  if (!output.exit.well()) throw ConfigError("{}", output.error);
}

void train_all(const Table& table, std::vector<TrainingRun>& runs, std::int64_t jobs,
               const std::function<void(std::size_t done)>& done) {
  std::vector<Started> started;
  std::size_t next = 0;
  std::size_t num_done = 0;
  while (num_done < runs.size()) {
    while (next < runs.size() && started.size() < static_cast<std::size_t>(jobs)) {
      TrainingRun& run = runs[next++];
      if (const auto figure = figure_before(run)) {
        run.figure = *figure;
        done(++num_done);
      } else {
        started.push_back(start(table, run, jobs));
      }
    }
    if (stop_requested()) stop_all(started);
    for (auto one = started.begin(); one != started.end();) {
      if (const auto exit = one->process.poll()) {
        take_result(table, *one->run, *exit);
        one = started.erase(one);
        done(++num_done);
      } else {
        ++one;
      }
    }
    if (!started.empty()) std::this_thread::sleep_for(kLookEvery);
  }
}

}  // namespace traffic::tune
