// The command data_prep quantize.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "command.h"
#include "outputs.h"
#include "traffic/core/float16.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using Json = nlohmann::json;

/// Measures the rounding errors of float16 in each column.
class RoundingErrors {
 public:
  explicit RoundingErrors(std::size_t columns) : worst_(columns, 0.0), largest_(columns, 0.0) {}

  void add(std::span<const float> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float value = values[i];
      const double rounded = half_to_float(float_to_half(value));
      const std::size_t c = i % worst_.size();
      worst_[c] = std::max(worst_[c], std::abs(rounded - static_cast<double>(value)));
      largest_[c] = std::max(largest_[c], static_cast<double>(std::abs(value)));
    }
  }
  [[nodiscard]] Json to_json(const data::FeatureTable& table, int exact_column) const {
    Json out = Json::array();
    for (std::size_t c = 0; c < worst_.size(); ++c) {
      const bool exact = static_cast<int>(c) == exact_column;
      out.push_back({{"feature", table[c].name},
                     {"unit", table[c].unit},
                     {"largest", largest_[c]},
                     {"error", exact ? 0.0 : worst_[c]},
                     {"bound", exact ? 0.0 : bound(largest_[c])}});
    }
    return out;
  }

 private:
  /// Upper bound of the rounding error of numbers up to `largest`: half a unit in the last place of
  /// float16. float16 has 11 significant bits. The bound is 2^-25 for subnormal numbers.
  static double bound(double largest) { return std::max(largest * 0x1p-11, 0x1p-25); }

  std::vector<double> worst_;
  std::vector<double> largest_;
};

Json quantize_file(const Rewrite& files, const std::string& command_line,
                   const Progress& progress) {
  const data::DatasetReader file(files.from);
  Changes changes = unchanged(file, command_line);
  changes.options.float16 = true;
  RoundingErrors nodes(file.info().node_features.size());
  RoundingErrors edges(file.info().edge_features.size());
  changes.change = [&](scene::GraphFrame& frame) {
    nodes.add(frame.node_features);
    edges.add(frame.edge_features);
  };
  Json answer = rewrite(file, files.to, changes, progress);
  const int position = data::feature_index(file.info().node_features, data::kPositionFeature);
  answer["node_features"] = nodes.to_json(file.info().node_features, position);
  answer["edge_features"] = edges.to_json(file.info().edge_features, -1);
  return answer;
}

/// The largest errors over all files, feature by feature.
Json worst_of(const std::vector<Json>& answers, const char* kind) {
  Json worst = answers.front()[kind];
  for (const Json& answer : answers) {
    for (std::size_t i = 0; i < worst.size() && i < answer[kind].size(); ++i) {
      for (const char* figure : {"largest", "error", "bound"}) {
        worst[i][figure] =
            std::max(worst[i][figure].get<double>(), answer[kind][i][figure].get<double>());
      }
    }
  }
  return worst;
}

ExitCode quantize(const OutputOptions& options, const std::string& command_line) {
  std::vector<FileJob> jobs;
  for (const Rewrite& files : plan_rewrites(options)) {
    jobs.push_back({files.from, [files, command_line](const Progress& progress) {
                      return quantize_file(files, command_line, progress);
                    }});
  }
  const auto answers =
      run_all_apart(jobs, {.label = "quantize", .folder = options.out, .jobs = options.jobs});
  const Json nodes = worst_of(answers, "node_features");
  const Json edges = worst_of(answers, "edge_features");
  print_rewritten(answers, options.json, {{"node_features", nodes}, {"edge_features", edges}});
  if (options.json) return ExitCode::kDone;
  report::Table table({"feature", "unit", "largest", "largest error", "bound"});
  for (const Json* kind : {&nodes, &edges}) {
    for (const Json& row : *kind) {
      table.add_row({row["feature"].get<std::string>(), row["unit"].get<std::string>(),
                     row["largest"].get<double>(), row["error"].get<double>(),
                     row["bound"].get<double>()});
    }
  }
  std::printf("\n%s", table.to_text().c_str());
  std::printf(
      "float16 keeps 11 bits: the error of a value is at most 1/2048 of it, or 3e-8 if the value "
      "is below 6e-5. Positions stay exact in nodes/position_m.\n");
  return ExitCode::kDone;
}

}  // namespace

void add_quantize(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<OutputOptions>();
  CLI::App* command =
      app.add_subcommand("quantize", "Rewrite features as float16 and print the rounding errors");
  add_output_options(*command, *options);
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) {
      return quantize(*options, command_line);
    };
  });
}

}  // namespace traffic::data_prep
