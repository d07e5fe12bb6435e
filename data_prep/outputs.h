/// Where the subcommands that make data sets of data sets write, and how.
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

/// Options that they all have.
struct OutputOptions {
  std::vector<std::string> files;
  std::string out;  ///< a folder
  std::int64_t jobs = 0;
  bool force = false;
  bool json = false;
};
/// Adds them to a subcommand.
void add_output_options(CLI::App& command, OutputOptions& options);

struct Rewrite {
  std::string from;
  std::string to;
};
/// The files that the patterns name, each with its place in the folder, which is made.
/// @throws ConfigError if two would have one name, one would replace what it is made from, or one
/// is there already and --force was not given
[[nodiscard]] std::vector<Rewrite> plan_rewrites(const OutputOptions& options);

/// @throws ConfigError if the file is there and may not be replaced
void check_free(const std::string& path, bool force);

/// The history of a file that is made of others: the new command, and the one before it.
[[nodiscard]] std::string provenance(const std::string& command_line, const std::string& before);

/// What becomes of a file.
struct Changes {
  data::FileInfo info;
  data::WriterOptions options;
  /// The new label of an episode; nothing leaves it out.
  std::function<std::optional<data::EpisodeLabel>(std::size_t episode)> label;
  std::function<void(scene::GraphFrame&)> change = [](scene::GraphFrame&) {};
};
/// No changes: the description, the options and the labels of `file`, made by this command.
[[nodiscard]] Changes unchanged(const data::DatasetReader& file, const std::string& command_line);
/// Appends the episodes of a file to another.
void append_episodes(const data::DatasetReader& file, const Changes& changes,
                     data::DatasetWriter& writer, const Progress& progress);
/// Writes a file with what `changes` leaves of another.
/// @return {"file", "episodes", "frames", "bytes", "bytes_before"}; no file is written when no
/// episode is left
nlohmann::json rewrite(const data::DatasetReader& file, const std::string& to,
                       const Changes& changes, const Progress& progress);

/// Prints such answers as a table, or as JSON in "files" of `more`.
void print_rewritten(const std::vector<nlohmann::json>& files, bool json, nlohmann::json more = {});

}  // namespace traffic::data_prep
