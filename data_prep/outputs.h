/// Code that the subcommands which make new data sets from existing ones share: merge, split,
/// dedupe, quantize and normalize.
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

/// The common options of these subcommands; add_output_options() explains them.
struct OutputOptions {
  std::vector<std::string> files;
  std::string out;  ///< folder for the new files
  std::int64_t jobs = 0;
  bool force = false;
  bool json = false;
};
/// Adds the common options to a subcommand.
void add_output_options(CLI::App& command, OutputOptions& options);

/// An input file and the output file that is made from it.
struct Rewrite {
  std::string from;
  std::string to;
};
/// Finds the input files and chooses an output file in the folder options.out for each. Creates the
/// folder.
/// @throws ConfigError if two outputs would have the same name, if an output would replace its
///   input, or if an output exists and options.force is false
[[nodiscard]] std::vector<Rewrite> plan_rewrites(const OutputOptions& options);

/// Checks that an output file may be written.
/// @throws ConfigError if the file exists and `force` is false
void check_free(const std::string& path, bool force);

/// The attribute `command_line` of a file that is made from another file: "NEW COMMAND <- BEFORE",
/// where `before` is the attribute of the other file.
[[nodiscard]] std::string provenance(const std::string& command_line, const std::string& before);

/// How rewrite() changes a file.
struct Changes {
  data::FileInfo info;
  data::WriterOptions options;
  /// The new label of an episode. If it returns nothing, the episode is left out.
  std::function<std::optional<data::EpisodeLabel>(std::size_t episode)> label;
  /// Changes a frame before it is written.
  std::function<void(scene::GraphFrame&)> change = [](scene::GraphFrame&) {};
};
/// Changes that copy `file` without changing its data. They only add the command line to the
/// attribute `command_line`.
[[nodiscard]] Changes unchanged(const data::DatasetReader& file, const std::string& command_line);
/// Appends the changed episodes of a file to a writer.
void append_episodes(const data::DatasetReader& file, const Changes& changes,
                     data::DatasetWriter& writer, const Progress& progress);
/// Writes a changed copy of a file. If all episodes are left out, writes no file and removes an
/// existing one.
/// @return {"file", "episodes", "frames", "bytes", "bytes_before"}
nlohmann::json rewrite(const data::DatasetReader& file, const std::string& to,
                       const Changes& changes, const Progress& progress);

/// Prints the answers of rewrite(), as a table or as JSON.
/// @param more further fields of the JSON
void print_rewritten(const std::vector<nlohmann::json>& files, bool json, nlohmann::json more = {});

}  // namespace traffic::data_prep
