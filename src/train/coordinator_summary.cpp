#include "coordinator_summary.h"

#include <algorithm>
#include <fstream>

#include "traffic/core/atomic_file.h"
#include "traffic/core/process.h"
#include "traffic/report/summary.h"

namespace traffic::train {
namespace {

using nlohmann::ordered_json;

std::filesystem::path summary_path(const PhaseTask& task) {
  return report::RunFolder(task.dir).summary();
}

void add_phase(const PhaseTask& task, const ordered_json& phase, report::Summary& all) {
  all.result["phase" + std::to_string(task.number)] = phase.value("result", ordered_json::object());
  const double seconds = phase.value("seconds", 0.0);
  all.seconds += seconds;
  const ordered_json shares = phase.value("time_share", ordered_json::object());
  for (const auto& [name, share] : shares.items()) {
    all.time_share[name] += seconds * share.get<double>();  // divided by the sum in the end
  }
  all.steps = phase.value("steps", std::int64_t{0});
  all.parameters_xxh3 = phase.value("parameters_xxh3", "");
  const auto number = [&](const char* key, std::optional<double>& into) {
    if (phase.contains(key) && phase[key].is_number()) into = phase[key].get<double>();
  };
  number("samples_per_s", all.samples_per_s);
  number("env_steps_per_s", all.env_steps_per_s);
  if (!all.startup_s) number("startup_s", all.startup_s);
  const ordered_json faults = phase.value("faults", ordered_json::object());
  for (const auto& [name, count] : faults.items()) {
    all.faults[name] += count.get<std::int64_t>();
  }
  if (phase.contains("peak_rss_bytes")) {
    all.peak_rss_bytes = phase["peak_rss_bytes"]["per_rank"].get<std::vector<std::int64_t>>();
  }
}

}  // namespace

ordered_json read_summary(const PhaseTask& task) {
  std::ifstream in(summary_path(task));
  ordered_json json = ordered_json::parse(in, nullptr, false);
  return json.is_object() ? json : ordered_json::object();
}

std::string status_of(const PhaseTask& task) { return read_summary(task).value("status", ""); }

void add_retries(const PhaseTask& task) {
  ordered_json summary = read_summary(task);
  summary["faults"]["retries"] = task.retries;
  write_file_atomically(summary_path(task), summary.dump(2) + "\n");
}

void add_evaluation(const PhaseTask& task, const ordered_json& controllers) {
  ordered_json summary = read_summary(task);
  summary["result"]["evaluation"] = controllers;
  write_file_atomically(summary_path(task), summary.dump(2) + "\n");
}

void write_plan_summary(Job& job, const std::vector<PhaseTask>& tasks, const std::string& status,
                        const std::string& message, ExitCode code) {
  report::Summary all;
  all.status = status;
  all.message = message;
  all.exit_code = static_cast<int>(code);
  all.phase = tasks.size() == 1 ? tasks.front().number : 0;
  all.world_size = job.communicator().size();
  for (const PhaseTask& task : tasks) {
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
