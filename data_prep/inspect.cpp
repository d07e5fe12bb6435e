#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "command.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/data/reader.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using data::DatasetReader;
using report::Table;

struct InspectOptions {
  std::vector<std::string> files;
  bool json = false;
};

nlohmann::json to_json(const Table& table) { return nlohmann::json::parse(table.to_json()); }

Table attribute_table(const DatasetReader& file) {
  const data::FileInfo& info = file.info();
  Table table({"attribute", "value"});
  const auto add = [&](const char* name, const std::string& value) {
    table.add_row({name, value});
  };
  add("format", fmt::format("{} {}", data::kFormatName, data::kFormatVersion));
  add("scenario", info.scenario);
  add("step_length_s", fmt::format("{}", info.step_length_s));
  add("frame_interval_s", fmt::format("{}", info.frame_interval_s));
  add("features", fmt::format("{} node, {} edge, {} global, {}", info.node_features.size(),
                              info.edge_features.size(), info.global_features.size(),
                              info.float16 ? "float16" : "float32"));
  const auto missing = data::missing_features(info);
  if (!missing.empty()) add("missing_features", fmt::format("{}", fmt::join(missing, ", ")));
  add("program_version", info.program_version);
  add("sumo_version", info.sumo_version);
  add("created_utc", info.created_utc);
  add("splitting", info.splitting);
  add("command_line", info.command_line);
  add("content_xxh3", hex64(info.content_hash));
  return table;
}

/// Wraps text into lines of at most `width` characters, unless a word is longer.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : " ") + word;
  }
  return lines;
}

/// The attributes as text with wrapped lines: command lines and lists of features are long.
std::string attribute_text(const DatasetReader& file) {
  constexpr std::size_t kNameWidth = 18;
  constexpr std::size_t kValueWidth = 80;
  std::string text;
  for (const auto& row : to_json(attribute_table(file))) {
    std::string name = row["attribute"];
    for (const std::string& line : wrapped(row["value"], kValueWidth)) {
      text += fmt::format("{:<{}}{}\n", std::exchange(name, ""), kNameWidth, line);
    }
  }
  return text;
}

Table split_table(const DatasetReader& file) {
  Table table({"split", "episodes", "frames"});
  for (int s = 0; s < data::kNumSplits; ++s) {
    std::int64_t episodes = 0;
    std::int64_t frames = 0;
    for (const auto& episode : file.episodes()) {
      if (static_cast<int>(episode.split) != s) continue;
      ++episodes;
      frames += episode.num_frames;
    }
    table.add_row({std::string(to_string(static_cast<data::Split>(s))), episodes, frames});
  }
  return table;
}

Table episode_table(const DatasetReader& file) {
  Table table({"episode", "seed", "demand", "controller", "split", "frames"});
  std::int64_t number = 0;
  for (const auto& episode : file.episodes()) {
    table.add_row({number++, fmt::format("{}", episode.seed), episode.demand_scale,
                   file.info().controller_names[episode.controller],
                   std::string(to_string(episode.split)), episode.num_frames});
  }
  return table;
}

Table column_table(const DatasetReader& file) {
  Table table({"data set", "rows", "chunks", "bytes", "stored", "ratio", "filters"});
  for (const auto& spec : data::column_specs()) {
    const data::ColumnStorage storage = file.storage(spec.column);
    std::string filters;
    if (storage.shuffle) filters += "shuffle ";
    if (storage.deflate) filters += "deflate ";
    if (storage.fletcher32) filters += "fletcher32 ";
    if (!filters.empty()) filters.pop_back();
    const std::int64_t bytes = storage.rows * storage.row_bytes;
    Table::Cell ratio;
    if (storage.stored_bytes > 0) {
      ratio = static_cast<double>(bytes) / static_cast<double>(storage.stored_bytes);
    }
    table.add_row({spec.path(), storage.rows, storage.num_chunks, bytes, storage.stored_bytes,
                   ratio, filters});
  }
  return table;
}

nlohmann::json describe(const DatasetReader& file) {
  nlohmann::json attributes;
  for (const auto& row : to_json(attribute_table(file))) {
    attributes[row["attribute"].get<std::string>()] = row["value"];
  }
  return {{"file", file.path()},
          {"file_bytes", file.file_bytes()},
          {"frames", file.num_frames()},
          {"vehicles", file.num_nodes()},
          {"edges", file.num_edges()},
          {"attributes", attributes},
          {"splits", to_json(split_table(file))},
          {"episodes", to_json(episode_table(file))},
          {"data_sets", to_json(column_table(file))}};
}

void print(const DatasetReader& file) {
  std::printf("%s: %s, %lld frames, %lld vehicles, %lld edges\n\n", file.path().c_str(),
              human_bytes(file.file_bytes()).c_str(), static_cast<long long>(file.num_frames()),
              static_cast<long long>(file.num_nodes()), static_cast<long long>(file.num_edges()));
  std::printf("%s\n", attribute_text(file).c_str());
  for (const Table& table : {split_table(file), episode_table(file), column_table(file)}) {
    std::printf("%s\n", table.to_text().c_str());
  }
}

ExitCode inspect(const InspectOptions& options) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& path : data::find_data_files(options.files)) {
    const DatasetReader file(path);
    if (options.json) {
      all.push_back(describe(file));
    } else {
      print(file);
    }
  }
  if (options.json) std::printf("%s\n", all.dump(2).c_str());
  return ExitCode::kDone;
}

}  // namespace

void add_inspect(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "Show what is in data sets");
  command->add_option("files", options->files, "Files or globs")->required();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return inspect(*options); }; });
}

}  // namespace traffic::data_prep
