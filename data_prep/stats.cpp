#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "traffic/data/reader.h"
#include "traffic/data/statistics.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using report::Table;

struct StatsOptions {
  std::vector<std::string> files;
  data::StatisticsOptions statistics;
  bool json = false;
};

Table feature_table(const data::FeatureTable& features, std::span<const data::Moments> moments) {
  Table table({"feature", "unit", "min", "mean", "std", "max", "offset", "scale"});
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto& m = moments[i];
    table.add_row({features[i].name, features[i].unit, m.min(), m.mean(), m.standard_deviation(),
                   m.max(), static_cast<double>(features[i].offset),
                   static_cast<double>(features[i].scale)});
  }
  return table;
}

Table vehicle_table(const data::Moments& vehicles) {
  Table table({"frames", "vehicles min", "mean", "std", "max"});
  table.add_row({vehicles.count(), vehicles.min(), vehicles.mean(), vehicles.standard_deviation(),
                 vehicles.max()});
  return table;
}

Table conflict_table(const data::Statistics& statistics) {
  Table table({"conflict label: ttc under s", "vehicles", "positive", "base rate"});
  const std::int64_t all = statistics.labelled();
  for (const auto& rate : statistics.base_rates()) {
    Table::Cell share;
    if (all > 0) share = static_cast<double>(rate.positive) / static_cast<double>(all);
    table.add_row({rate.ttc_s, all, rate.positive, share});
  }
  return table;
}

Table error_table(const data::Statistics& statistics) {
  Table table({"constant speed: after s", "vehicles", "rmse m"});
  for (const auto& error : statistics.constant_speed()) {
    table.add_row({error.seconds, error.count, error.rmse_m()});
  }
  return table;
}

ExitCode stats(const StatsOptions& options) {
  data::Statistics statistics(options.statistics);
  for (const auto& path : data::find_data_files(options.files)) {
    statistics.add(data::DatasetReader(path));
  }
  const Table nodes = feature_table(statistics.node_features(), statistics.node_moments());
  const Table edges = feature_table(statistics.edge_features(), statistics.edge_moments());
  const Table vehicles = vehicle_table(statistics.vehicles_per_frame());
  const Table conflicts = conflict_table(statistics);
  const Table errors = error_table(statistics);
  if (options.json) {
    const auto parse = [](const Table& table) { return nlohmann::json::parse(table.to_json()); };
    const nlohmann::json out{{"node_features", parse(nodes)},
                             {"edge_features", parse(edges)},
                             {"vehicles_per_frame", parse(vehicles)[0]},
                             {"conflict", parse(conflicts)},
                             {"constant_speed", parse(errors)}};
    std::printf("%s\n", out.dump(2).c_str());
    return ExitCode::kDone;
  }
  for (const Table* table : {&nodes, &edges, &vehicles, &conflicts, &errors}) {
    std::printf("%s\n", table->to_text().c_str());
  }
  return ExitCode::kDone;
}

}  // namespace

void add_stats(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* command = app.add_subcommand(
      "stats", "Ranges of the features, base rates of the conflict label, constant-speed errors");
  command->add_option("files", options->files, "Files or globs")->required();
  command
      ->add_option("--horizon-frames", options->statistics.horizon_frames,
                   "Frames within which the conflict label looks")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--ttc", options->statistics.ttc_limits_s, "Limits of the conflict label, s")
      ->delimiter(',')
      ->expected(1, 32)
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return stats(*options); }; });
}

}  // namespace traffic::data_prep
