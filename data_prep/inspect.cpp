// The command data_prep inspect.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <initializer_list>
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
#include "traffic/data/scene_file.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using data::DatasetReader;
using data::SceneReader;
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

Table attribute_table(const SceneReader& file) {
  const data::SceneFileInfo& info = file.info();
  Table table({"attribute", "value"});
  const auto add = [&](const char* name, const std::string& value) {
    table.add_row({name, value});
  };
  add("format", fmt::format("{} {}", data::kSceneFormatName, data::kSceneFormatVersion));
  add("scenario", info.scenario);
  add("source", info.source);
  add("frame_interval_s", fmt::format("{}", driving::kFrame_s));
  add("program_version", info.program_version);
  add("created_utc", info.created_utc);
  add("splitting", info.splitting);
  add("command_line", info.command_line);
  add("content_xxh3", hex64(info.content_hash));
  return table;
}

/// Wraps text into lines of at most `width` characters. A longer word gets a line of its own.
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

/// The attributes as text. Lines are wrapped, because command lines and lists of features are long.
std::string attribute_text(const Table& attributes) {
  constexpr std::size_t kNameWidth = 18;
  constexpr std::size_t kValueWidth = 80;
  std::string text;
  for (const auto& row : to_json(attributes)) {
    std::string name = row["attribute"];
    for (const std::string& line : wrapped(row["value"], kValueWidth)) {
      text += fmt::format("{:<{}}{}\n", std::exchange(name, ""), kNameWidth, line);
    }
  }
  return text;
}

template <typename Reader>
Table split_table(const Reader& file) {
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

Table map_table(const SceneReader& file) {
  Table table({"map", "lanes", "lane km", "edges", "links", "signals"});
  for (const auto& map : file.maps()) {
    double length_m = 0;
    for (std::size_t lane = 0; lane < map->num_lanes(); ++lane) {
      const auto line = map->line(lane);
      for (std::size_t i = 1; i < line.size(); ++i) {
        length_m += std::hypot(line[i].x_m - line[i - 1].x_m, line[i].y_m - line[i - 1].y_m);
      }
    }
    table.add_row({map->name, static_cast<std::int64_t>(map->num_lanes()), length_m / 1000,
                   static_cast<std::int64_t>(map->edges.size()),
                   static_cast<std::int64_t>(map->links.size()),
                   static_cast<std::int64_t>(map->signals.size())});
  }
  return table;
}

Table episode_table(const SceneReader& file) {
  Table table({"episode", "seed", "demand", "map", "split", "frames", "vehicles", "positions"});
  std::int64_t number = 0;
  for (const auto& episode : file.episodes()) {
    table.add_row({number++, fmt::format("{}", episode.seed), episode.demand_scale,
                   file.maps()[static_cast<std::size_t>(episode.map)]->name,
                   std::string(to_string(episode.split)), episode.num_frames, episode.num_vehicles,
                   episode.num_nodes});
  }
  return table;
}

Table column_table(const SceneReader& file) {
  Table table({"data set", "rows", "chunks", "bytes", "stored"});
  for (const data::SceneColumn& column : file.columns()) {
    table.add_row({column.path, column.rows, column.num_chunks, column.rows * column.row_bytes,
                   column.stored_bytes});
  }
  return table;
}

nlohmann::json attributes_json(const Table& table) {
  nlohmann::json attributes;
  for (const auto& row : to_json(table)) {
    attributes[row["attribute"].get<std::string>()] = row["value"];
  }
  return attributes;
}

nlohmann::json describe(const DatasetReader& file) {
  return {{"file", file.path()},
          {"file_bytes", file.file_bytes()},
          {"frames", file.num_frames()},
          {"vehicles", file.num_nodes()},
          {"edges", file.num_edges()},
          {"attributes", attributes_json(attribute_table(file))},
          {"splits", to_json(split_table(file))},
          {"episodes", to_json(episode_table(file))},
          {"data_sets", to_json(column_table(file))}};
}

nlohmann::json describe(const SceneReader& file) {
  return {{"file", file.path()},
          {"file_bytes", file.file_bytes()},
          {"frames", file.num_frames()},
          {"vehicles", file.num_nodes()},
          {"attributes", attributes_json(attribute_table(file))},
          {"maps", to_json(map_table(file))},
          {"splits", to_json(split_table(file))},
          {"episodes", to_json(episode_table(file))},
          {"data_sets", to_json(column_table(file))}};
}

void print(const Table& attributes, std::initializer_list<Table> tables) {
  std::printf("%s\n", attribute_text(attributes).c_str());
  for (const Table& table : tables) std::printf("%s\n", table.to_text().c_str());
}

void print(const DatasetReader& file) {
  std::printf("%s: %s, %lld frames, %lld vehicles, %lld edges\n\n", file.path().c_str(),
              human_bytes(file.file_bytes()).c_str(), static_cast<long long>(file.num_frames()),
              static_cast<long long>(file.num_nodes()), static_cast<long long>(file.num_edges()));
  print(attribute_table(file), {split_table(file), episode_table(file), column_table(file)});
}

void print(const SceneReader& file) {
  std::printf("%s: %s, %lld frames, %lld vehicles\n\n", file.path().c_str(),
              human_bytes(file.file_bytes()).c_str(), static_cast<long long>(file.num_frames()),
              static_cast<long long>(file.num_nodes()));
  print(attribute_table(file),
        {map_table(file), split_table(file), episode_table(file), column_table(file)});
}

ExitCode inspect(const InspectOptions& options) {
  nlohmann::json all = nlohmann::json::array();
  const auto show = [&](const auto& file) {
    if (options.json) {
      all.push_back(describe(file));
    } else {
      print(file);
    }
  };
  for (const auto& path : data::find_data_files(options.files)) {
    if (data::format_of(path) == data::kSceneFormatName) {
      show(SceneReader(path));
    } else {
      show(DatasetReader(path));
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
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return inspect(*options); }; });
}

}  // namespace traffic::data_prep
