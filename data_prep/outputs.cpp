#include "outputs.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/version.h"
#include "traffic/data/episode_frames.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {

namespace fs = std::filesystem;

void add_output_options(CLI::App& command, OutputOptions& options) {
  command.add_option("files", options.files, "Files or globs")->required();
  command.add_option("--out", options.out, "Folder for the new files")->required();
  command
      .add_option("--jobs", options.jobs,
                  "Number of files processed at the same time; 0 means one for each CPU")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command.add_flag("--force", options.force, "Replace files that exist already");
  command.add_flag("--json", options.json, "Print the result as JSON");
}

void check_free(const std::string& path, bool force) {
  if (!force && fs::exists(path)) {
    throw ConfigError("{} exists already; choose another --out, or replace it with --force", path);
  }
}

std::vector<Rewrite> plan_rewrites(const OutputOptions& options) {
  const auto paths = data::find_data_files(options.files);
  std::error_code error;
  fs::create_directories(options.out, error);
  if (error) throw io_error("make the folder", options.out, error.value());
  remove_stale_temporaries(options.out);
  std::vector<Rewrite> plan;
  std::set<std::string> names;
  for (const auto& path : paths) {
    const fs::path to = fs::path(options.out) / fs::path(path).filename();
    if (!names.insert(to.filename()).second) {
      throw ConfigError(
          "two of the files are called {}, but the folder --out can contain only one file of this "
          "name; rename one of them, or use another folder for it",
          to.filename().string());
    }
    if (fs::exists(to) && fs::equivalent(to, path)) {
      throw ConfigError("--out {} is the folder that contains {}; choose another folder",
                        options.out, path);
    }
    check_free(to, options.force);
    plan.push_back({path, to});
  }
  return plan;
}

std::string provenance(const std::string& command_line, const std::string& before) {
  return before.empty() ? command_line : command_line + " <- " + before;
}

Changes unchanged(const data::DatasetReader& file, const std::string& command_line) {
  Changes changes{
      .info = file.info(),
      .options = data::writer_options_of(file),
      .label = [&file](std::size_t episode) { return data::label_of(file.episodes()[episode]); }};
  changes.info.command_line = provenance(command_line, file.info().command_line);
  changes.info.program_version = std::string(version());
  changes.info.created_utc = utc_timestamp();
  return changes;
}

void append_episodes(const data::DatasetReader& file, const Changes& changes,
                     data::DatasetWriter& writer, const Progress& progress) {
  for (std::size_t e = 0; e < file.episodes().size(); ++e) {
    const auto label = changes.label(e);
    if (!label) continue;
    writer.begin_episode(*label);
    data::for_each_frame(file, file.episodes()[e], [&](scene::GraphFrame& frame) {
      changes.change(frame);
      writer.append(frame);
      progress(1);
    });
    writer.end_episode();
  }
}

nlohmann::json rewrite(const data::DatasetReader& file, const std::string& to,
                       const Changes& changes, const Progress& progress) {
  data::DatasetWriter writer(to, changes.info, changes.options);
  append_episodes(file, changes, writer, progress);
  nlohmann::json answer{{"file", to},
                        {"episodes", writer.num_episodes()},
                        {"frames", writer.num_frames()},
                        {"bytes", 0},
                        {"bytes_before", file.file_bytes()}};
  if (writer.num_episodes() == 0) {
    fs::remove(to);  // --force replaces an older file
    return answer;
  }
  writer.finish();
  answer["bytes"] = static_cast<std::int64_t>(fs::file_size(to));
  return answer;
}

void print_rewritten(const std::vector<nlohmann::json>& files, bool json, nlohmann::json more) {
  if (json) {
    if (more.is_null()) more = nlohmann::json::object();
    more["files"] = files;
    std::printf("%s\n", more.dump(2).c_str());
    return;
  }
  report::Table table({"file", "episodes", "frames", "bytes", "bytes before"});
  for (const auto& file : files) {
    table.add_row({file["file"].get<std::string>(), file["episodes"].get<std::int64_t>(),
                   file["frames"].get<std::int64_t>(), file["bytes"].get<std::int64_t>(),
                   file["bytes_before"].get<std::int64_t>()});
  }
  std::fputs(table.to_text().c_str(), stdout);
}

}  // namespace traffic::data_prep
