#include "coordinator_summary.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "traffic/core/atomic_file.h"
#include "traffic/core/process.h"
#include "traffic/report/json_file.h"
#include "traffic/report/summary.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

std::filesystem::path summary_path(const TrainingTask& task) {
  return report::RunFolder(task.dir).summary();
}

/// Adds the summary of one phase to the summary of the whole run. Seconds and faults are summed.
/// Steps, rates and peak memory are those of the last phase, the start-up time that of the first.
void add_phase(const TrainingTask& task, const ordered_json& phase, report::Summary& all) {
  all.result[std::string(task.facts->folder)] = phase.value("result", ordered_json::object());
  const double seconds = phase.value("seconds", 0.0);
  all.seconds += seconds;
  const ordered_json shares = phase.value("time_share", ordered_json::object());
  for (const auto& [name, share] : shares.items()) {
    all.time_share[name] +=
        seconds * share.get<double>();  // write_plan_summary() divides by the total
  }
  all.steps = phase.value("steps", std::int64_t{0});
  all.parameters_xxh3 = phase.value("parameters_xxh3", "");
  const auto is_number = [&](const char* key) {
    return phase.contains(key) && phase[key].is_number();
  };
  for (const char* rate : {"samples_per_s", "env_steps_per_s"}) {
    if (is_number(rate)) all.rates[rate] = phase[rate].get<double>();
  }
  if (!all.startup_s && is_number("startup_s")) all.startup_s = phase["startup_s"].get<double>();
  const ordered_json faults = phase.value("faults", ordered_json::object());
  for (const auto& [name, count] : faults.items()) {
    all.faults[name] += count.get<std::int64_t>();
  }
  if (phase.contains("peak_rss_bytes")) {
    all.peak_rss_bytes = phase["peak_rss_bytes"]["per_rank"].get<std::vector<std::int64_t>>();
  }
}

}  // namespace

ordered_json read_summary(const TrainingTask& task) {
  try {
    return report::read_json_file(summary_path(task)).value_or(ordered_json::object());
  } catch (const DataError& error) {
    spdlog::warn("{}; the file is ignored", error.what());
    return ordered_json::object();
  }
}

std::string status_of(const TrainingTask& task) { return read_summary(task).value("status", ""); }

void add_retries(const TrainingTask& task) {
  ordered_json summary = read_summary(task);
  summary["faults"]["retries"] = task.retries;
  write_file_atomically(summary_path(task), summary.dump(2) + "\n");
}

void add_search(const TrainingTask& task, const report::RunFolder& run) {
  if (!task.facts->simulates) return;
  ordered_json found = ordered_json::array();
  try {
    const auto file = report::read_json_file(run.search());
    if (!file) return;
    for (const ordered_json& search : file->at("searches")) {
      for (const ordered_json& scenario : search.at("scenarios")) {
        ordered_json one{{"scenario", scenario.at("scenario")},
                         {"objective", search.at("objective")},
                         {"episodes", search.at("episodes")},
                         {"best", scenario.at("best")}};
        if (scenario.value("piece_s", 0.0) > 0.0) {
          for (const char* key : {"piece_s", "pieces"}) one[key] = scenario.at(key);
        }
        for (const ordered_json& script : scenario.at("finalists")) {
          if (script.at("controller") == one["best"]) one.update(script);
        }
        one.erase("controller");
        found.push_back(std::move(one));
      }
    }
  } catch (const DataError& error) {
    spdlog::warn("summary.json lacks the results of the search: {}", error.what());
    return;
  } catch (const ordered_json::exception& error) {
    spdlog::warn("summary.json lacks the results of the search: {}: {}", run.search().string(),
                 error.what());
    return;
  }
  ordered_json summary = read_summary(task);
  summary["result"]["search"] = std::move(found);
  write_file_atomically(summary_path(task), summary.dump(2) + "\n");
}

void add_evaluation(const TrainingTask& task, const ordered_json& controllers) {
  ordered_json summary = read_summary(task);
  summary["result"]["evaluation"] = controllers;
  write_file_atomically(summary_path(task), summary.dump(2) + "\n");
}

void add_failure(const TrainingTask& task, const std::string& message, ExitCode code) {
  ordered_json summary = read_summary(task);
  summary["status"] = "failed";
  summary["message"] = message;
  summary["exit_code"] = static_cast<int>(code);
  constexpr auto kReplace = ordered_json::error_handler_t::replace;  // of bytes that are not UTF-8
  write_file_atomically(summary_path(task), summary.dump(2, ' ', false, kReplace) + "\n");
}

void write_plan_summary(Job& job, const std::vector<TrainingTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code) {
  report::Summary all;
  all.status = status;
  all.message = message;
  all.exit_code = static_cast<int>(code);
  all.phase = job.config().run.phase;
  if (tasks.size() == 1) all.training = tasks.front().facts->name;
  all.world_size = job.communicator().size();
  for (const TrainingTask& task : tasks) {
    const ordered_json phase = tasks.size() == 1 ? ordered_json::object() : read_summary(task);
    if (phase.empty()) {
      all.faults["retries"] += task.retries;
    } else {
      add_phase(task, phase, all);
    }
  }
  for (auto& [name, share] : all.time_share) share /= std::max(all.seconds, 1e-9);
  report::write_summary(job.folder().summary(), all);
}

}  // namespace traffic::train
