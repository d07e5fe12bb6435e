// The command data_prep stats.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "file_threads.h"
#include "stats_page.h"
#include "traffic/data/reader.h"
#include "traffic/data/statistics.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using report::Table;

struct StatsOptions {
  std::vector<std::string> files;
  data::StatisticsOptions statistics;
  std::size_t bins = 20;
  std::int64_t jobs = 0;
  std::string html;
  bool json = false;
};

/// @param histograms one for each feature; empty if the table should not have histograms
Table feature_table(const data::FeatureTable& features, std::span<const data::Moments> moments,
                    std::span<const data::Histogram> histograms) {
  std::vector<std::string> columns{"feature", "unit", "min",    "mean",
                                   "std",     "max",  "offset", "scale"};
  if (!histograms.empty()) columns.emplace_back("min to max");
  Table table(columns);
  for (std::size_t i = 0; i < features.size(); ++i) {
    const auto& m = moments[i];
    std::vector<Table::Cell> row{features[i].name,
                                 features[i].unit,
                                 m.min(),
                                 m.mean(),
                                 m.standard_deviation(),
                                 m.max(),
                                 static_cast<double>(features[i].offset),
                                 static_cast<double>(features[i].scale)};
    if (!histograms.empty()) row.emplace_back(sparkline(histograms[i]));
    table.add_row(std::move(row));
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

/// Computes statistics of type T over all files in threads. Merges the results in the order of the
/// files, so that rounding errors are reproducible.
template <typename T>
T add_up(const std::vector<std::string>& paths, std::int64_t jobs, const char* label,
         const T& empty) {
  std::vector<T> parts(paths.size(), empty);
  for_each_on_threads(paths.size(), jobs, label,
                      [&](std::size_t i) { parts[i].add(data::DatasetReader(paths[i])); });
  T all = empty;
  for (const T& part : parts) all.merge(part);
  return all;
}

nlohmann::json histogram_json(const data::Histogram& histogram) {
  return {{"low", histogram.low}, {"high", histogram.high}, {"counts", histogram.counts}};
}

nlohmann::json histograms_json(const data::FeatureTable& features,
                               const data::Histograms& histograms) {
  nlohmann::json out{{"vehicles_per_frame", histogram_json(histograms.vehicles_per_frame())}};
  for (std::size_t i = 0; i < features.size(); ++i) {
    out[features[i].name] = histogram_json(histograms.node_features()[i]);
  }
  return out;
}

void write_page(const std::string& path, const std::vector<std::string>& tables,
                const data::FeatureTable& features, const data::Histograms& histograms) {
  std::vector<NamedHistogram> figures{{"vehicles per frame", &histograms.vehicles_per_frame()}};
  for (std::size_t i = 0; i < features.size(); ++i) {
    figures.push_back({fmt::format("{} [{}]", features[i].name, features[i].unit),
                       &histograms.node_features()[i]});
  }
  write_stats_page(path, tables, figures);
}

ExitCode stats(const StatsOptions& options) {
  const auto paths = data::find_data_files(options.files);
  const auto statistics =
      add_up(paths, options.jobs, "stats", data::Statistics(options.statistics));
  const auto histograms = add_up(
      paths, options.jobs, "histograms",
      data::Histograms(statistics.node_moments(), statistics.vehicles_per_frame(), options.bins));
  const Table nodes = feature_table(statistics.node_features(), statistics.node_moments(),
                                    histograms.node_features());
  const Table edges = feature_table(statistics.edge_features(), statistics.edge_moments(), {});
  const Table vehicles = vehicle_table(statistics.vehicles_per_frame());
  const Table conflicts = conflict_table(statistics);
  const Table errors = error_table(statistics);
  std::vector<std::string> texts;
  for (const Table* table : {&nodes, &edges, &vehicles, &conflicts, &errors}) {
    texts.push_back(table->to_text());
  }
  if (!options.html.empty()) {
    write_page(options.html, texts, statistics.node_features(), histograms);
  }
  if (options.json) {
    const auto parse = [](const Table& table) { return nlohmann::json::parse(table.to_json()); };
    const nlohmann::json out{
        {"node_features",
         parse(feature_table(statistics.node_features(), statistics.node_moments(), {}))},
        {"edge_features", parse(edges)},
        {"vehicles_per_frame", parse(vehicles)[0]},
        {"conflict", parse(conflicts)},
        {"constant_speed", parse(errors)},
        {"histograms", histograms_json(statistics.node_features(), histograms)}};
    std::printf("%s\n", out.dump(2).c_str());
    return ExitCode::kDone;
  }
  for (const auto& text : texts) std::printf("%s\n", text.c_str());
  return ExitCode::kDone;
}

}  // namespace

void add_stats(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<StatsOptions>();
  CLI::App* command = app.add_subcommand("stats",
                                         "Ranges and histograms of the features, base rates of the "
                                         "conflict label, constant-speed errors");
  command->add_option("files", options->files, "Files or globs")->required();
  command
      ->add_option("--horizon-frames", options->statistics.horizon_frames,
                   "Horizon of the conflict label in frames")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--ttc", options->statistics.ttc_limits_s,
                   "Limits of the time-to-collision for conflict labels, in s")
      ->delimiter(',')
      ->expected(1, 32)
      ->capture_default_str();
  command->add_option("--bins", options->bins, "Number of bins of the histograms")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--html", options->html,
                      "Also write tables and histograms to this file as an HTML page");
  command
      ->add_option("--jobs", options->jobs,
                   "Number of files processed at the same time; 0 means one for each CPU")
      ->check(CLI::Range(0, 4096))
      ->capture_default_str();
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback(
      [&chosen, options] { chosen = [options](const std::string&) { return stats(*options); }; });
}

}  // namespace traffic::data_prep
