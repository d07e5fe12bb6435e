#include "run/folder_choice.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/trainings.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/report/json_file.h"
#include "traffic/report/run_folder.h"
#include "traffic/train/run/training.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Whether a run has checkpoints, in its own folder or in the folders of its trainings.
bool has_checkpoints(const fs::path& dir) {
  std::error_code error;
  const auto has_some = [&](const fs::path& checkpoints) {
    for (const auto& entry : fs::directory_iterator(checkpoints, error)) {
      if (entry.path().extension() == ".h5") return true;
    }
    return false;
  };
  return has_some(dir / "checkpoints") ||
         std::ranges::any_of(config::trainings(), [&](const config::TrainingFacts& training) {
           return has_some(dir / training.folder / "checkpoints");
         });
}

bool is_done(const fs::path& dir) {
  try {
    const auto summary = report::read_json_file(report::RunFolder(dir).summary());
    return summary && summary->value("status", "") == "done";
  } catch (const DataError&) {
    return false;  // the run that resumes in this folder reports the error
  }
}

fs::path newest_unfinished(const fs::path& runs, const std::string& identity) {
  std::vector<fs::path> dirs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(runs, error)) {
    if (entry.is_directory(error)) dirs.push_back(entry.path());
  }
  std::sort(dirs.rbegin(), dirs.rend());  // newest first: the names of the folders are times
  for (const fs::path& dir : dirs) {
    if (has_checkpoints(dir) && !is_done(dir) && read_text(dir / "config.toml") == identity)
      return dir;
  }
  return {};
}

/// Creates a folder that no other run has. If another run of the same name began in the same
/// second, a number is appended to the name of the folder.
fs::path make_new_folder(const fs::path& wanted) {
  create_folder(wanted.parent_path());
  fs::path dir = wanted;
  std::error_code error;
  for (int number = 2; !fs::create_directory(dir, error); ++number) {
    if (error && error != std::errc::file_exists) throw io_error("create", dir, error.value());
    dir = wanted.string() + "-" + std::to_string(number);
  }
  return dir;
}

bool is_one_of(const std::string& text, std::initializer_list<std::string_view> these) {
  return std::ranges::find(these, text) != these.end();
}

/// Checks whether a run without a checkpoint to resume from may begin. Called before any folder is
/// created for it.
void check_beginning(const config::Plan& plan, const fs::path& looked_in) {
  if (plan.whole.run.resume == "must") {
    throw CheckpointError(
        "run.resume is \"must\", and there is no checkpoint to resume from in {}; check --run-dir "
        "and run.name, or begin with --resume auto",
        looked_in.string());
  }
  if (!plan.phases.empty()) check_new(plan.phases.front());
}

}  // namespace

std::string run_identity(const config::Plan& plan) {
  config::Plan identity = plan;
  const auto strip = [](config::Config& config) {
    config.run.dir.clear();
    config.run.resume = config::Run{}.resume;
  };
  strip(identity.whole);
  for (config::Config& phase : identity.phases) strip(phase);
  return config::to_toml(identity);
}

void create_folder(const fs::path& dir) {
  std::error_code error;
  fs::create_directories(dir, error);
  if (error) throw io_error("create", dir, error.value());
}

fs::path choose_run_dir(const config::Plan& plan) {
  const config::Run& run = plan.whole.run;
  const bool starts_elsewhere = !is_one_of(run.resume, {"auto", "must", "never"});
  if (!run.dir.empty()) {
    const bool is_begun = has_checkpoints(run.dir);
    if (run.resume == "never" && is_begun) {
      throw ConfigError(
          "run.dir: {} has checkpoints of an earlier run, and run.resume = \"never\" would "
          "overwrite them; choose another --run-dir, or resume with --resume auto",
          run.dir);
    }
    if (!is_begun && !starts_elsewhere) check_beginning(plan, run.dir);
    return run.dir;
  }
  const fs::path fresh = fs::path("runs") / run.name / utc_file_stamp();
  if (is_one_of(run.resume, {"auto", "must"})) {
    const fs::path unfinished = newest_unfinished(fresh.parent_path(), run_identity(plan));
    if (!unfinished.empty()) return unfinished;
  }
  if (!starts_elsewhere) check_beginning(plan, fresh.parent_path());
  return make_new_folder(fresh);
}

}  // namespace traffic::train
