// A search over settings by successive halving: trains all trials for a short time, and the better
// ones for longer (study.h).
#include "traffic/tune/study.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/os/affinity.h"
#include "traffic/report/progress_bar.h"
#include "training_runs.h"

namespace traffic::tune {
namespace {

namespace fs = std::filesystem;

fs::path dir_of(const Table& table, const Trial& trial) {
  return fs::path(table.dir) / fmt::format("trial-{:03d}", trial.number);
}

std::vector<std::string> settings_of(const Table& table, const Trial& trial) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < table.choices.size(); ++i) {
    settings.push_back(table.choices[i].key + "=" + trial.values[i]);
  }
  return settings;
}

/// Trains these trials up to the budget, `jobs` trainings at a time.
void run_round(const Table& table, std::span<Trial*> trials, std::int64_t budget,
               std::int64_t jobs) {
  std::vector<TrainingRun> runs;
  std::vector<Trial*> whose;
  for (Trial* trial : trials) {
    for (const std::int64_t seed : table.training_seeds) {
      runs.push_back({.dir = dir_of(table, *trial) / fmt::format("seed-{}", seed),
                      .seed = seed,
                      .budget = budget,
                      .settings = settings_of(table, *trial),
                      .failure = ""});
      whose.push_back(trial);
    }
  }
  {
    report::ProgressBar bar({.label = fmt::format("{} = {}", table.budget_key, budget),
                             .total_steps = static_cast<std::int64_t>(runs.size()),
                             .unit = "trainings"});
    train_all(table, runs, jobs,
              [&](std::size_t done) { bar.update(static_cast<std::int64_t>(done), 1, {}); });
  }
  for (Trial* trial : trials) {
    trial->budget = budget;
    trial->figure.clear();
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].failure.empty()) {
      whose[i]->figure[runs[i].seed] = runs[i].figure;
    } else if (whose[i]->failure.empty()) {
      whose[i]->failure = runs[i].failure;
      spdlog::warn(
          "the search drops trial {}, because a training failed: {} (the whole output is in "
          "{}.log)",
          whose[i]->number, runs[i].failure, runs[i].dir.string());
    }
  }
}

bool is_better(const Table& table, const Trial& a, const Trial& b) {
  if (a.budget != b.budget) return a.budget > b.budget;
  if (a.failure.empty() != b.failure.empty()) return a.failure.empty();
  if (!a.failure.empty() || a.mean() == b.mean()) return a.number < b.number;
  return table.largest ? a.mean() > b.mean() : a.mean() < b.mean();
}

void sort_trials(const Table& table, std::vector<Trial>& trials) {
  std::stable_sort(trials.begin(), trials.end(),
                   [&](const Trial& a, const Trial& b) { return is_better(table, a, b); });
}

/// Checks the settings of all trials before the first trial is trained. Also checks that the folder
/// has no trainings with other settings. Shows progress, because each check starts a program.
void check_all(const Table& table, const std::vector<Trial>& trials) {
  report::ProgressBar bar({.label = "checking settings",
                           .total_steps = static_cast<std::int64_t>(trials.size()),
                           .unit = "trials"});
  std::vector<std::string> configurations;
  for (const Trial& trial : trials) {
    configurations.push_back(check_settings(table, settings_of(table, trial)));
    bar.update(static_cast<std::int64_t>(configurations.size()), 1, {});
  }
  for (std::size_t i = 0; i < trials.size(); ++i) {
    keep_configuration(dir_of(table, trials[i]), configurations[i]);
  }
}

void check_ranks(const Table& table) {
  if (table.ranks > 1 && !fs::exists("launch/mpirun.sh")) {
    throw ConfigError(
        "ranks is {}, but the working directory has no launch/mpirun.sh, which starts several "
        "ranks; run this command in the folder of the repository",
        table.ranks);
  }
}

}  // namespace

double Trial::mean() const {
  if (figure.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const auto& [seed, value] : figure) sum += value;
  return sum / static_cast<double>(figure.size());
}

std::vector<Trial> run_study(const Table& table, const StudyOptions& options) {
  check_ranks(table);
  std::vector<Trial> trials = draw_trials(table);
  const auto count = static_cast<std::int64_t>(trials.size());
  if (options.trial && (*options.trial < 0 || *options.trial >= count)) {
    throw ConfigError("--trial is {}, the table has trials 0 to {}", *options.trial, count - 1);
  }
  const std::int64_t jobs = options.jobs > 0
                                ? options.jobs
                                : std::max<std::int64_t>(1, os::num_cpus_available() / table.ranks);
  if (options.trial) trials = {trials[static_cast<std::size_t>(*options.trial)]};
  check_all(table, trials);

  std::vector<Trial*> going;
  for (Trial& trial : trials) going.push_back(&trial);
  const std::size_t rounds = options.trial ? 1 : table.budgets.size();
  for (std::size_t round = 0; round < rounds; ++round) {
    run_round(table, going, table.budgets[round], jobs);
    const Trial& last = *going.back();
    std::erase_if(going, [](const Trial* trial) { return !trial->failure.empty(); });
    if (going.empty()) {
      throw Error(
          fmt::format("no trial could be trained for {} = {}; trial {} failed: {}; its whole "
                      "output is in {}",
                      table.budget_key, table.budgets[round], last.number, last.failure,
                      dir_of(table, last).string()),
          ExitCode::kWorkers);
    }
    std::stable_sort(going.begin(), going.end(),
                     [&](const Trial* a, const Trial* b) { return is_better(table, *a, *b); });
    going.resize(
        static_cast<std::size_t>(std::ceil(table.keep_share * static_cast<double>(going.size()))));
  }
  sort_trials(table, trials);
  if (!options.trial) {
    write_file_atomically(fs::path(table.dir) / "tune.json",
                          study_json(table, trials).dump(2) + "\n");
  }
  return trials;
}

}  // namespace traffic::tune
