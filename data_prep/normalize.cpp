// The command data_prep normalize.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "command.h"
#include "file_threads.h"
#include "normalisation.h"
#include "outputs.h"
#include "traffic/core/atomic_file.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using Json = nlohmann::json;

struct NormalizeOptions {
  OutputOptions output;
  std::vector<std::string> features{"position_m=minmax", "speed_mps=zscore",
                                    "acceleration_mps2=clamp:-5:5", "time=sincos:3600"};
};

/// Computes the constants from the train splits of all files together.
std::vector<FittedRule> fit_to(const std::vector<Rewrite>& plan, const NormalizeOptions& options) {
  std::vector<NormaliseRule> rules;
  for (const auto& text : options.features) rules.push_back(parse_rule(text));
  std::vector<FittedMoments> parts(plan.size());
  std::vector<data::FileInfo> infos(plan.size());
  for_each_on_threads(plan.size(), options.output.jobs, "read", [&](std::size_t i) {
    const data::DatasetReader file(plan[i].from);
    infos[i] = file.info();
    parts[i].add(file);
  });
  FittedMoments all;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (infos[i].node_features != infos[0].node_features ||
        infos[i].edge_features != infos[0].edge_features) {
      throw DataError(
          "{}: its features are not those of {}; files in one command must have the same features",
          plan[i].from, plan[0].from);
    }
    all.merge(parts[i]);
  }
  return fit(rules, infos.front(), all);
}

ExitCode normalize(const NormalizeOptions& options, const std::string& command_line) {
  const auto plan = plan_rewrites(options.output);
  const auto rules = fit_to(plan, options);
  std::vector<FileJob> jobs;
  for (const Rewrite& files : plan) {
    jobs.push_back({files.from, [&](const Progress& progress) {
                      const data::DatasetReader file(files.from);
                      Changes changes = unchanged(file, command_line);
                      set_constants(rules, changes.info);
                      std::int64_t cut = 0;
                      changes.change = [&](scene::GraphFrame& frame) {
                        for (const FittedRule& rule : rules) {
                          cut += rule.apply(frame, file.info().node_features.size());
                        }
                      };
                      Json answer = rewrite(file, files.to, changes, progress);
                      answer["values_cut"] = cut;
                      return answer;
                    }});
  }
  const auto answers = run_all_apart(
      jobs, {.label = "normalize", .folder = options.output.out, .jobs = options.output.jobs});
  const Json constants = constants_json(rules);
  const auto statistics = std::filesystem::path(options.output.out) / "statistics.json";
  write_file_atomically(statistics, constants.dump(2) + "\n");
  std::int64_t cut = 0;
  for (const Json& answer : answers) cut += answer["values_cut"].get<std::int64_t>();
  print_rewritten(answers, options.output.json, {{"constants", constants}, {"values_cut", cut}});
  if (options.output.json) return ExitCode::kDone;
  report::Table table({"feature", "method", "offset", "scale", "min", "mean", "std", "max"});
  for (const auto& [name, one] : constants.items()) {
    const auto number = [&one = one](const char* key) { return one[key].get<double>(); };
    table.add_row({name, one["method"].get<std::string>(), number("offset"), number("scale"),
                   number("min"), number("mean"), number("std"), number("max")});
  }
  std::printf("\n%s%lld values were clamped; the constants are in %s\n", table.to_text().c_str(),
              static_cast<long long>(cut), statistics.c_str());
  return ExitCode::kDone;
}

}  // namespace

void add_normalize(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<NormalizeOptions>();
  CLI::App* command = app.add_subcommand(
      "normalize",
      "Compute normalisation constants from the train split and write files that contain "
      "them");
  add_output_options(*command, options->output);
  command
      ->add_option("--feature", options->features,
                   "Rule for one feature: NAME=minmax, NAME=zscore, NAME=clamp:LOW:HIGH or "
                   "time=sincos:PERIOD; may be given several times")
      ->capture_default_str();
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) {
      return normalize(*options, command_line);
    };
  });
}

}  // namespace traffic::data_prep
