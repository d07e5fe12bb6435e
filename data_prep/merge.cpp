// The command data_prep merge.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>

#include "command.h"
#include "outputs.h"
#include "traffic/core/atomic_file.h"
#include "traffic/data/episode_frames.h"
#include "traffic/data/plausible.h"

namespace traffic::data_prep {
namespace {

struct MergeOptions {
  std::vector<std::string> files;
  std::string out;
  bool force = false;
  bool json = false;
};

using Readers = std::vector<std::unique_ptr<const data::DatasetReader>>;

void check_alike(const data::DatasetReader& file, const data::DatasetReader& first) {
  const auto check = [&](bool same, const char* what, const auto& found, const auto& expected) {
    if (same) return;
    throw DataError(
        "{}: its {} is {}, but that of {} is {}; merge only files that agree in it (training "
        "accepts several files in data.files without merging)",
        file.path(), what, found, first.path(), expected);
  };
  const data::FileInfo& a = file.info();
  const data::FileInfo& b = first.info();
  check(a.scenario == b.scenario, "scenario", a.scenario, b.scenario);
  check(data::same_interval(a.step_length_s, b.step_length_s), "step length", a.step_length_s,
        b.step_length_s);
  check(data::same_interval(a.frame_interval_s, b.frame_interval_s), "frame interval",
        a.frame_interval_s, b.frame_interval_s);
  if (a.node_features != b.node_features || a.edge_features != b.edge_features ||
      a.global_features != b.global_features) {
    throw DataError(
        "{}: its features are not those of {} (data_prep inspect shows them); merge "
        "only files with the same features",
        file.path(), first.path());
  }
}

/// Adds the controllers of a file to `names` if they are not there yet.
/// @return [controllers of the file] index of each controller in `names`
std::vector<std::uint8_t> add_controllers(const data::FileInfo& info,
                                          std::vector<std::string>& names) {
  std::vector<std::uint8_t> index;
  for (const std::string& name : info.controller_names) {
    const auto found = std::find(names.begin(), names.end(), name);
    index.push_back(static_cast<std::uint8_t>(found - names.begin()));
    if (found == names.end()) names.push_back(name);
  }
  return index;
}

void warn_of_leaks(const Readers& files) {
  std::map<std::pair<std::uint64_t, double>, data::Split> split_of;
  std::size_t leaks = 0;
  for (const auto& file : files) {
    for (const auto& episode : file->episodes()) {
      const auto [entry, is_new] =
          split_of.try_emplace({episode.seed, episode.demand_scale}, episode.split);
      if (!is_new && entry->second != episode.split) ++leaks;
    }
  }
  if (leaks > 0) {
    spdlog::warn(
        "{} episodes have the seed and demand of an episode in another split: data_prep verify "
        "lists them, data_prep split assigns splits without such leaks",
        leaks);
  }
}

ExitCode merge(const MergeOptions& options, const std::string& command_line) {
  namespace fs = std::filesystem;
  const auto paths = data::find_data_files(options.files);
  check_free(options.out, options.force);
  const fs::path folder = fs::path(options.out).parent_path();
  remove_stale_temporaries(folder.empty() ? fs::path(".") : folder);
  Readers files;
  std::vector<std::string> controllers;
  std::vector<std::vector<std::uint8_t>> controller_of;
  std::int64_t bytes = 0;
  bool float16 = true;
  for (const auto& path : paths) {
    if (fs::exists(options.out) && fs::equivalent(options.out, path)) {
      throw ConfigError("--out {} is one of the files to merge; choose another", options.out);
    }
    files.push_back(std::make_unique<const data::DatasetReader>(path));
    check_alike(*files.back(), *files.front());
    controller_of.push_back(add_controllers(files.back()->info(), controllers));
    bytes += files.back()->file_bytes();
    float16 = float16 && files.back()->info().float16;
  }
  warn_of_leaks(files);
  // A single job in a process of its own writes the file. The file is float32 if an input is
  // float32.
  const FileJob job{options.out, [&](const Progress& progress) {
                      Changes whole = unchanged(*files.front(), command_line);
                      whole.info.controller_names = controllers;
                      whole.options.float16 = float16;
                      data::DatasetWriter writer(options.out, whole.info, whole.options);
                      for (std::size_t f = 0; f < paths.size(); ++f) {
                        const data::DatasetReader file(paths[f]);
                        Changes changes = unchanged(file, command_line);
                        changes.label = [&](std::size_t e) {
                          auto label = data::label_of(file.episodes()[e]);
                          label.controller = controller_of[f][label.controller];
                          return std::optional(label);
                        };
                        append_episodes(file, changes, writer, progress);
                      }
                      writer.finish();
                      return nlohmann::json{
                          {"file", options.out},
                          {"episodes", writer.num_episodes()},
                          {"frames", writer.num_frames()},
                          {"bytes", static_cast<std::int64_t>(fs::file_size(options.out))},
                          {"bytes_before", bytes}};
                    }};
  const auto answers =
      run_all_apart({job}, {.label = "merge", .folder = folder.empty() ? "." : folder.string()});
  print_rewritten(answers, options.json);
  return ExitCode::kDone;
}

}  // namespace

void add_merge(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<MergeOptions>();
  CLI::App* command = app.add_subcommand("merge", "Merge several files of one scenario into one");
  command->add_option("files", options->files, "Files or globs")->required();
  command->add_option("--out", options->out, "The new file")->required();
  command->add_flag("--force", options->force, "Replace the file if it exists already");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) { return merge(*options, command_line); };
  });
}

}  // namespace traffic::data_prep
