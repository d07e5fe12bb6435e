// RunState: finds the progress, the newest checkpoint and the processes of a run (run_state.h).
#include "traffic/report/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <system_error>
#include <utility>

#include "traffic/core/text.h"
#include "traffic/report/table.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

double age_s(fs::file_time_type time) {
  return std::chrono::duration<double>(fs::file_time_type::clock::now() - time).count();
}

void read_log(RunState& state, const fs::path& log) {
  static const std::regex kWhen("^[0-9-]{10}T[0-9:.]+Z ");
  static const std::regex kProgress("[0-9] % \\(");
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.empty()) continue;
    state.last_log_line = std::regex_replace(line, kWhen, "");
    if (std::regex_search(line, kProgress)) state.progress = state.last_log_line;
  }
  std::error_code error;
  if (const auto time = fs::last_write_time(log, error); !error) state.log_age_s = age_s(time);
}

void find_checkpoint(RunState& state, const RunFolder& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.checkpoints(), error)) {
    const auto time = fs::last_write_time(entry.path(), error);
    if (error || entry.path().extension() != ".h5") continue;
    if (!state.checkpoint.empty() && age_s(time) > state.checkpoint_age_s) continue;
    state.checkpoint = entry.path();
    state.checkpoint_age_s = age_s(time);
  }
}

/// A table with one row for each program of the run (number of its processes, memory, CPU time),
/// and the row "together" for all programs.
Table by_program(const RunState& state) {
  struct Sum {
    std::int64_t count = 0;
    std::int64_t running = 0;
    std::int64_t rss_bytes = 0;
    double cpu_s = 0;
  };
  std::map<std::string, Sum> programs;
  for (const ProcessFacts& process : state.processes) {
    for (const std::string& name : {process.name, std::string("together")}) {
      Sum& sum = programs[name];
      ++sum.count;
      sum.running += process.state == 'R' ? 1 : 0;
      sum.rss_bytes += process.rss_bytes;
      sum.cpu_s += process.cpu_s;
    }
  }
  Table table({"program", "processes", "running_now", "memory", "cpu_s"});
  for (const auto& [name, sum] : programs) {
    table.add_row({name, sum.count, sum.running, human_bytes(sum.rss_bytes), sum.cpu_s});
  }
  return table;
}

Table by_process(const RunState& state) {
  Table table({"program", "pid", "state", "memory", "cpu_s"});
  for (const ProcessFacts& process : state.processes) {
    table.add_row({process.name, static_cast<std::int64_t>(process.pid),
                   std::string(1, process.state), human_bytes(process.rss_bytes), process.cpu_s});
  }
  return table;
}

}  // namespace

RunState state_of(const RunReader& run) {
  RunState state{.folder = run.folder().root().string(),
                 .status = std::string(to_string(run.status())),
                 .progress = {},
                 .last_log_line = {},
                 .checkpoint = {},
                 .processes = {}};
  read_log(state, run.folder().logs() / "train.log");
  find_checkpoint(state, run.folder());
  for (const RunReader& part : run.parts()) find_checkpoint(state, part.folder());
  const auto holder = run.holder();
  if (holder && holder->is_running_here()) state.processes = family_of(holder->pid);
  return state;
}

std::string state_text(const RunState& state, bool each_process) {
  std::string text = fmt::format("{}: {}\n", state.folder, state.status);
  if (!state.progress.empty()) text += fmt::format("  {}\n", state.progress);
  if (state.last_log_line != state.progress) text += fmt::format("  {}\n", state.last_log_line);
  if (!state.last_log_line.empty()) {
    text += fmt::format("  the last line of the log is {} old\n", human_duration(state.log_age_s));
  }
  text += state.checkpoint.empty()
              ? "  no checkpoint yet\n"
              : fmt::format("  newest checkpoint: {}, {} old\n", state.checkpoint.string(),
                            human_duration(state.checkpoint_age_s));
  if (!state.processes.empty()) {
    text += (each_process ? by_process(state) : by_program(state)).to_text();
  }
  return text;
}

Json state_json(const RunState& state) {
  Json processes = Json::array();
  for (const ProcessFacts& process : state.processes) {
    processes.push_back(Json{{"pid", process.pid},
                             {"program", process.name},
                             {"state", std::string(1, process.state)},
                             {"rss_bytes", process.rss_bytes},
                             {"cpu_s", process.cpu_s}});
  }
  const bool has_checkpoint = !state.checkpoint.empty();
  return Json{{"run", state.folder},
              {"status", state.status},
              {"progress", state.progress},
              {"last_log_line", state.last_log_line},
              {"log_age_s", state.log_age_s},
              {"checkpoint", has_checkpoint ? Json(state.checkpoint.string()) : Json()},
              {"checkpoint_age_s", has_checkpoint ? Json(state.checkpoint_age_s) : Json()},
              {"processes", std::move(processes)}};
}

}  // namespace traffic::report
