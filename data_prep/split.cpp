// The command data_prep split.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>

#include "command.h"
#include "digests.h"
#include "outputs.h"
#include "record_plan.h"
#include "split_plan.h"
#include "traffic/data/episode_frames.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

using Json = nlohmann::json;

struct SplitOptions {
  OutputOptions output;
  std::string shares = "0.8,0.1,0.1";
  std::uint64_t seed = 1;
};

Json split_file(const Rewrite& files, const std::vector<data::Split>& splits,
                const SplitOptions& options, const std::string& command_line,
                const Progress& progress) {
  const data::DatasetReader file(files.from);
  Changes changes = unchanged(file, command_line);
  changes.info.splitting = fmt::format(
      "by episode, {} of the frames for train, validation, test, seed {}; episodes with the same "
      "simulation or a common frame are in the same split",
      options.shares, options.seed);
  changes.label = [&](std::size_t e) {
    auto label = data::label_of(file.episodes()[e]);
    label.split = splits[e];
    return std::optional(label);
  };
  return rewrite(file, files.to, changes, progress);
}

report::Table table_of(const std::vector<data::FileDigest>& digests,
                       const std::vector<std::vector<data::Split>>& splits,
                       const std::vector<double>& shares) {
  std::array<std::int64_t, data::kNumSplits> episodes{};
  std::array<std::int64_t, data::kNumSplits> frames{};
  std::int64_t all = 0;
  for (std::size_t f = 0; f < digests.size(); ++f) {
    for (std::size_t e = 0; e < digests[f].episodes.size(); ++e) {
      const auto s = static_cast<std::size_t>(splits[f][e]);
      const auto count = static_cast<std::int64_t>(digests[f].episodes[e].frames.size());
      ++episodes[s];
      frames[s] += count;
      all += count;
    }
  }
  report::Table table({"split", "episodes", "frames", "share of frames", "asked for"});
  for (std::size_t s = 0; s < data::kNumSplits; ++s) {
    if (shares[s] > 0 && episodes[s] == 0) {
      spdlog::warn("the {} split got no episode: there are too few independent episodes",
                   to_string(static_cast<data::Split>(s)));
    }
    table.add_row({std::string(to_string(static_cast<data::Split>(s))), episodes[s], frames[s],
                   static_cast<double>(frames[s]) / static_cast<double>(all), shares[s]});
  }
  return table;
}

ExitCode split(const SplitOptions& options, const std::string& command_line) {
  const auto shares = parse_split(options.shares);
  const auto plan = plan_rewrites(options.output);
  std::vector<std::string> paths;
  for (const Rewrite& files : plan) paths.push_back(files.from);
  const auto digests = digest_files(paths, options.output.jobs);
  const auto splits = plan_splits(digests, shares, options.seed);
  const auto table = table_of(digests, splits, shares);
  std::vector<FileJob> jobs;
  for (std::size_t f = 0; f < plan.size(); ++f) {
    jobs.push_back({plan[f].from, [&, f](const Progress& progress) {
                      return split_file(plan[f], splits[f], options, command_line, progress);
                    }});
  }
  const auto answers = run_all_apart(
      jobs, {.label = "split", .folder = options.output.out, .jobs = options.output.jobs});
  print_rewritten(answers, options.output.json, {{"splits", Json::parse(table.to_json())}});
  if (!options.output.json) std::printf("\n%s", table.to_text().c_str());
  return ExitCode::kDone;
}

}  // namespace

void add_split(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<SplitOptions>();
  CLI::App* command = app.add_subcommand(
      "split", "Assign episodes to train, validation and test without leaks between them");
  add_output_options(*command, options->output);
  command->add_option("--split", options->shares, "Shares of train, validation and test, by frames")
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the random order of the episodes")
      ->capture_default_str();
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) { return split(*options, command_line); };
  });
}

}  // namespace traffic::data_prep
