/// Code shared by the subcommands that make new data sets from existing ones.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "file_jobs.h"
#include "traffic/data/reader.h"
#include "traffic/data/writer.h"

namespace CLI {
class App;
}

namespace traffic::data_prep {

/// The options that these subcommands share.
struct OutputOptions {
  std::vector<std::string> files;
  std::string out;  ///< a folder
  std::int64_t jobs = 0;
  bool force = false;
  bool json = false;
};
/// Adds these options to a subcommand.
void add_output_options(CLI::App& command, OutputOptions& options);

struct Rewrite {
  std::string from;
  std::string to;
};
/// Pairs the files that match the patterns with their outputs in the folder, and makes the folder.
/// @throws ConfigError if two outputs would have one name, if one would replace its input, or if
/// one exists and --force was not given
[[nodiscard]] std::vector<Rewrite> plan_rewrites(const OutputOptions& options);

/// Checks that a file may be written.
/// @throws ConfigError if it exists and may not be replaced
void check_free(const std::string& path, bool force);

/// The attribute `command_line` of a file that is made from another: the new command line, then
/// that of the source.
[[nodiscard]] std::string provenance(const std::string& command_line, const std::string& before);

/// The changes that turn a file into another.
struct Changes {
  data::FileInfo info;
  data::WriterOptions options;
  /// The new label of an episode; nothing: the episode is left out.
  std::function<std::optional<data::EpisodeLabel>(std::size_t episode)> label;
  std::function<void(scene::GraphFrame&)> change = [](scene::GraphFrame&) {};
};
/// Returns changes that copy `file` without changing its data, and add this command to its history.
[[nodiscard]] Changes unchanged(const data::DatasetReader& file, const std::string& command_line);
/// Appends the changed episodes of a file to a writer.
void append_episodes(const data::DatasetReader& file, const Changes& changes,
                     data::DatasetWriter& writer, const Progress& progress);
/// Writes a changed copy of a file; no file if no episode is left.
/// @return {"file", "episodes", "frames", "bytes", "bytes_before"}
nlohmann::json rewrite(const data::DatasetReader& file, const std::string& to,
                       const Changes& changes, const Progress& progress);

/// Prints answers of rewrite() as a table, or as JSON in "files" of `more`.
void print_rewritten(const std::vector<nlohmann::json>& files, bool json, nlohmann::json more = {});

}  // namespace traffic::data_prep
