// RunReader: reads the folder of a run for other programs, and finds the folders of runs.
#include "traffic/report/run_reader.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/report/json_file.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<RunStatus, std::string_view>, 5> kStatuses = {
    {{RunStatus::kRunning, "running"},
     {RunStatus::kDone, "done"},
     {RunStatus::kStopped, "stopped"},
     {RunStatus::kFailed, "failed"},
     {RunStatus::kDead, "dead"}}};

/// Whether this is the folder of a run or of a training within a run. Other folders, e.g. of logs
/// or checkpoints, have none of these files.
bool has_files_of_a_run(const RunFolder& folder) {
  std::error_code error;
  return fs::exists(folder.config(), error) || fs::exists(folder.summary(), error) ||
         fs::exists(folder.metrics(), error);
}

/// The parent folder of `dir`. If `dir` belongs to one training of a run, this is the run's folder.
RunFolder folder_above(const fs::path& dir) {
  std::error_code error;
  return RunFolder(fs::weakly_canonical(dir, error).parent_path());
}

/// Whether this is the folder of one training in a run of several. Such a folder has no lock; the
/// folder of the run has one.
bool is_part_of_a_run(const RunFolder& folder) {
  std::error_code error;
  const RunFolder above = folder_above(folder.root());
  return !fs::exists(folder.lock(), error) && fs::exists(above.lock(), error) &&
         has_files_of_a_run(above);
}

/// When a run last wrote to its log or its summary.
fs::file_time_type last_written(const RunFolder& folder) {
  fs::file_time_type newest = fs::file_time_type::min();
  for (const fs::path& file :
       {folder.logs() / "train.log", folder.summary(), folder.metrics(), folder.config()}) {
    std::error_code error;
    const auto time = fs::last_write_time(file, error);
    if (!error) newest = std::max(newest, time);
  }
  return newest;
}

std::vector<fs::path> folders_in(const fs::path& dir) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  return folders;
}

}  // namespace

std::string_view to_string(RunStatus status) {
  return std::ranges::find(kStatuses, status, &decltype(kStatuses)::value_type::first)->second;
}

RunReader::RunReader(const fs::path& dir)
    : folder_(dir), lock_(folder_.lock()), is_part_(is_part_of_a_run(folder_)) {
  if (!has_files_of_a_run(folder_)) {
    throw DataError(
        "{} is not the folder of a run: it has no config.toml, summary.json or metrics.jsonl",
        dir.string());
  }
  if (is_part_) lock_ = folder_above(dir).lock();
}

std::vector<RunReader> RunReader::parts() const {
  std::vector<fs::path> dirs = folders_in(folder_.root());
  std::erase_if(dirs, [](const fs::path& dir) { return !has_files_of_a_run(RunFolder(dir)); });
  std::ranges::sort(dirs);
  return {dirs.begin(), dirs.end()};
}

std::optional<nlohmann::ordered_json> RunReader::summary() const {
  return read_json_file(folder_.summary());
}

std::optional<nlohmann::ordered_json> RunReader::search() const {
  return read_json_file(folder_.search());
}

std::optional<nlohmann::ordered_json> RunReader::evaluation() const {
  return read_json_file(folder_.evaluation());
}

std::optional<LockHolder> RunReader::holder() const {
  std::ifstream file(lock_, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::optional<LockHolder> holder = parse_lock_holder(text);
  if (holder && (holder->host != hostname() || holder->is_running_here())) return holder;
  return std::nullopt;
}

RunStatus RunReader::status() const {
  // After a run was resumed, its folder still has the summary of its earlier end. A held lock
  // therefore counts more than the summary. But a part (one training of a run of several) that is
  // done stays done while the run trains other parts.
  const auto json = summary();
  const std::string written = json ? json->value("status", "") : "";
  if (holder() && !(is_part_ && written == "done")) return RunStatus::kRunning;
  return written_status();
}

RunStatus RunReader::written_status() const {
  const auto json = summary();
  if (!json) return RunStatus::kDead;
  const std::string written = json->value("status", "");
  for (const auto& [status, name] : kStatuses) {
    if (name == written && status != RunStatus::kRunning) return status;
  }
  throw DataError("{}: the status is \"{}\", not one of done, stopped and failed",
                  folder_.summary().string(), written);
}

std::vector<fs::path> newest_runs(const fs::path& root, std::size_t at_most) {
  std::vector<std::pair<fs::file_time_type, fs::path>> runs;
  for (const fs::path& name : folders_in(root)) {
    for (const fs::path& dir : folders_in(name)) {
      const RunFolder folder(dir);
      // If `name` is the folder of a run of several trainings, its folders are not runs themselves.
      if (has_files_of_a_run(folder) && !is_part_of_a_run(folder)) {
        runs.emplace_back(last_written(folder), dir);
      }
    }
    if (has_files_of_a_run(RunFolder(name))) runs.emplace_back(last_written(RunFolder(name)), name);
  }
  std::ranges::sort(runs, std::greater<>());
  if (runs.size() > at_most) runs.resize(at_most);
  std::vector<fs::path> dirs;
  for (auto& [time, dir] : runs) dirs.push_back(std::move(dir));
  return dirs;
}

}  // namespace traffic::report
