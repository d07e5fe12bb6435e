// Runs trainings as separate programs, several at the same time (training_runs.h).
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
#include <sstream>
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

/// The path of the program traffic_train, in the folder of this program.
std::string traffic_train() {
  return (fs::read_symlink("/proc/self/exe").parent_path() / "traffic_train").string();
}

void add_settings(std::vector<std::string>& arguments, const std::vector<std::string>& settings) {
  for (const std::string& setting : settings) {
    arguments.push_back("--set");
    arguments.push_back(setting);
  }
}

/// The command of a training. launch/mpirun.sh starts trainings with several ranks; it sets the
/// options of mpirun for root users and cores.
os::Program program_of(const Table& table, const TrainingRun& run, std::int64_t jobs, int log) {
  std::vector<std::string> arguments{table.config, "--run-dir", run.dir.string(), "--seed",
                                     fmt::format("{}", run.seed)};
  const std::int64_t threads =
      std::max<std::int64_t>(1, os::num_cpus_available() / (jobs * table.ranks));
  // The search only needs one number of each training's result, so it switches off the evaluation
  // at the end of the trainings.
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

/// The result of an earlier training with the same budget; nullopt if there is none.
std::optional<double> figure_before(const Table& table, const TrainingRun& run) {
  using Json = nlohmann::ordered_json;
  const auto kept = report::read_json_file(beside(run.dir, ".json"));
  if (!kept) return std::nullopt;
  const Json results = kept->value("results", Json::object());
  const Json numbers = results.value(fmt::format("{}", run.budget), Json::object());
  if (!numbers.contains(table.figure)) return std::nullopt;
  return numbers[table.figure].get<double>();
}

/// Stores every number of a result, so that a later search can compare another number without
/// training again.
void keep_result(const TrainingRun& run, const nlohmann::ordered_json& result) {
  auto numbers = nlohmann::ordered_json::object();
  for (const auto& [name, value] : result.items()) {
    if (value.is_number()) numbers[name] = value;
  }
  const fs::path path = beside(run.dir, ".json");
  auto kept = report::read_json_file(path).value_or(nlohmann::ordered_json::object());
  kept["budget"] = run.budget;
  kept["results"][fmt::format("{}", run.budget)] = std::move(numbers);
  write_file_atomically(path, kept.dump(2) + "\n");
}

/// A configuration in TOML without the line of one key.
std::string without_key(const std::string& configuration, const std::string& key) {
  const std::size_t dot = key.rfind('.');
  std::istringstream lines(configuration);
  std::string table;
  std::string rest;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('[')) table = line.substr(1, line.find(']') - 1);
    if (table == key.substr(0, dot) && line.starts_with(key.substr(dot + 1) + " = ")) continue;
    rest += line + "\n";
  }
  return rest;
}

/// Describes the first line in which two configurations differ, e.g. "was train_batch_size = 40, is
/// now train_batch_size = 80".
std::string first_difference(const std::string& before, const std::string& now) {
  std::istringstream old_lines(before);
  std::istringstream new_lines(now);
  std::string a;
  std::string b;
  do {
    a.clear();
    b.clear();
    std::getline(old_lines, a);
    std::getline(new_lines, b);
  } while (a == b && old_lines && new_lines);
  return fmt::format("was {}, is now {}", a.empty() ? "shorter" : a, b.empty() ? "shorter" : b);
}

std::string last_line(const fs::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last.empty() ? "it printed nothing" : last;
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
    throw ConfigError(
        "{}/summary.json: `result` has no metric '{}' (`figure` of the table); its metrics are: {}",
        run.dir.string(), table.figure, names.empty() ? "none" : names);
  }
  run.figure = result[table.figure];
  keep_result(run, result);
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
    throw ResourceError("{}; build traffic_train, and run this from the folder of the repository",
                        failed.what());
  }
}

/// Makes all trainings save and end by a signal, and waits for them.
[[noreturn]] void stop_all(std::vector<Started>& started) {
  for (const Started& one : started) one.process.signal(SIGUSR1);
  for (Started& one : started) one.process.wait();
  throw Error("stopped by request; the same command continues the search", ExitCode::kStopped);
}

}  // namespace

std::string check_settings(const Table& table, const std::vector<std::string>& settings) {
  std::vector<std::string> arguments{table.config, "--print-config"};
  add_settings(arguments, {fmt::format("{}={}", table.budget_key, table.budgets.front())});
  add_settings(arguments, table.set);
  add_settings(arguments, settings);
  auto output = os::run_program(traffic_train(), arguments, [] { return stop_requested(); });
  if (output.stopped) throw Error("stopped by request", ExitCode::kStopped);
  while (output.error.ends_with('\n')) output.error.pop_back();
  if (!output.exit.well()) throw ConfigError("{}", output.error);
  return without_key(output.out, table.budget_key);
}

void keep_configuration(const fs::path& trial_dir, const std::string& configuration) {
  const fs::path path = trial_dir / "config.toml";
  std::ifstream in(path, std::ios::binary);
  const std::string before{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (before == configuration) return;
  if (!before.empty()) {
    throw ConfigError(
        "{} has trainings with other settings (its config.toml {}); choose another `dir`, or "
        "remove "
        "the folder to train them again",
        trial_dir.string(), first_difference(before, configuration));
  }
  std::error_code error;
  fs::create_directories(trial_dir, error);
  if (error) throw io_error("make the folder", trial_dir, error.value());
  write_file_atomically(path, configuration);
}

void train_all(const Table& table, std::vector<TrainingRun>& runs, std::int64_t jobs,
               const std::function<void(std::size_t done)>& done) {
  std::vector<Started> started;
  std::size_t next = 0;
  std::size_t num_done = 0;
  while (num_done < runs.size()) {
    while (next < runs.size() && started.size() < static_cast<std::size_t>(jobs)) {
      TrainingRun& run = runs[next++];
      if (const auto figure = figure_before(table, run)) {
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
