// The command data_prep convert, which makes data sets from recorded traffic. This file handles
// options and output; the conversion itself is in convert/.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "convert/conversion.h"
#include "traffic/core/clock.h"
#include "traffic/core/process.h"
#include "traffic/core/signals.h"
#include "traffic/core/text.h"
#include "traffic/report/table.h"

namespace traffic::data_prep {
namespace {

void check(const ConvertOptions& options) {
  const auto pipes = std::count(options.inputs.begin(), options.inputs.end(), "-");
  if (pipes > 1) throw ConfigError("INPUT: - means the standard input and may be given only once");
  if (options.record_every < 1) {
    throw ConfigError("--record-every: found {}, expected at least 1", options.record_every);
  }
}

/// Logs what the printed table of results does not show: gaps, jumps, missing features and skipped
/// problems of one input.
void tell(const ConvertedInput& input) {
  if (!input.remark.empty()) spdlog::info("{}: {}", input.input, input.remark);
  if (input.gaps > 0) {
    spdlog::info("{}: {} in the times; a new episode begins after each gap", input.input,
                 counted(input.gaps, "gap"));
  }
  if (input.jumps > 0) {
    spdlog::info(
        "{}: {} of a vehicle to a place that it cannot have driven to; from there on it counts as "
        "a "
        "new vehicle",
        input.input, counted(input.jumps, "jump"));
  }
  if (!input.missing.empty()) {
    spdlog::info("{}: the input lacks {}, marked as missing: {}", input.input,
                 counted(static_cast<std::int64_t>(input.missing.size()), "feature"),
                 fmt::join(input.missing, ", "));
  }
  if (input.skipped > 0) {
    spdlog::warn("{}: skipped {} (rows or parts with problems); the first problems:", input.input,
                 counted(input.skipped, "piece"));
    for (const auto& example : input.skipped_examples) spdlog::warn("  {}", example);
  }
}

/// Warns if a split has no episode, because training of a world model needs episodes in all three
/// splits.
void warn_of_empty_splits(const std::vector<ConvertedInput>& inputs) {
  for (std::size_t s = 0; s < data::kNumSplits; ++s) {
    std::int64_t episodes = 0;
    for (const auto& input : inputs) episodes += input.splits[s];
    if (episodes > 0) continue;
    spdlog::warn(
        "the {} split, which training needs, has no episode; cut the recordings into shorter "
        "episodes with --episode-s, or convert more recordings",
        to_string(static_cast<data::Split>(s)));
  }
}

void print(const std::vector<ConvertedInput>& inputs, double seconds, bool json) {
  report::Table table({"input", "file", "episodes", "frames", "vehicles", "rows", "skipped"});
  std::int64_t rows = 0;
  for (const auto& input : inputs) {
    table.add_row({input.input, input.file, input.episodes, input.frames, input.vehicles,
                   input.vehicle_rows, input.skipped});
    rows += input.vehicle_rows;
  }
  if (!json) {
    for (const auto& input : inputs) tell(input);
    std::printf("%s%lld rows in %s\n", table.to_text().c_str(), static_cast<long long>(rows),
                human_duration(seconds).c_str());
    return;
  }
  nlohmann::json all = nlohmann::json::parse(table.to_json());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    all[i]["gaps"] = inputs[i].gaps;
    all[i]["jumps"] = inputs[i].jumps;
    all[i]["missing_features"] = inputs[i].missing;
    all[i]["skipped_examples"] = inputs[i].skipped_examples;
    all[i]["remark"] = inputs[i].remark;
  }
  const nlohmann::json out{
      {"inputs", all}, {"seconds", seconds}, {"peak_rss_bytes", peak_rss_bytes()}};
  std::printf("%s\n", out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

ExitCode convert(const ConvertOptions& options, const std::string& command_line) {
  check(options);
  install_stop_handlers();
  const Stopwatch watch;
  const auto inputs = convert_recordings(options, command_line);
  print(inputs, watch.seconds(), options.json);
  warn_of_empty_splits(inputs);
  return ExitCode::kDone;
}

}  // namespace

void add_convert(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = app.add_subcommand(
      "convert",
      "Make data sets from recorded traffic: SUMO's floating car data, JSON, NGSIM, highD");
  command
      ->add_option("inputs", options->inputs,
                   "Files, folders of JSON chunks, or - for the standard input")
      ->required();
  command
      ->add_option("--out", options->out,
                   "File NAME.h5 for all inputs, or a folder in which each input gets a file")
      ->required();
  command
      ->add_option("--from", options->from,
                   "Format of the inputs; auto guesses it from their first bytes")
      ->check(CLI::IsMember({"auto", "fcd", "json", "ngsim", "highd"}))
      ->capture_default_str();
  command->add_option("--network", options->network,
                      "SUMO network (.net.xml) of the recording, for lanes, routes and conflicts");
  command->add_flag("--scenes", options->scenes,
                    "Make scenes for driving policies (2 frames a second, on a --network) instead "
                    "of graphs for world models");
  command->add_option("--cv-types", options->cv_types, "Types of connected vehicles")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--vehicle-length", options->vehicle_length_m,
                   "Length in m of vehicles for which the recording does not state it")
      ->check(CLI::Range(0.1, 100.0))
      ->capture_default_str();
  command
      ->add_option("--vehicle-width", options->vehicle_width_m,
                   "Width in m of all vehicles, for --scenes")
      ->check(CLI::Range(0.1, 10.0))
      ->capture_default_str();
  command
      ->add_option("--record-every", options->record_every,
                   "Use only every N-th time step of the recording as a frame")
      ->capture_default_str();
  command
      ->add_option("--episode-s", options->episode_s,
                   "Cut recordings into episodes of this many seconds; 0 means that each recording "
                   "is one episode (default: 300 for fewer than three inputs, otherwise 0)")
      ->check(CLI::Range(0.0, 1e9));
  command->add_option("--split", options->split, "Shares of train, validation and test episodes")
      ->capture_default_str();
  command
      ->add_option("--seed", options->seed, "Seed of the assignment of whole recordings to splits")
      ->capture_default_str();
  command
      ->add_option("--on-error", options->on_error,
                   "fail: stop at the first problem; skip: leave out and count rows with problems")
      ->check(CLI::IsMember({"fail", "skip"}))
      ->capture_default_str();
  command->add_flag("--float16", options->float16, "Features as float16: smaller, less exact");
  command
      ->add_option("--compress", options->compression_level,
                   "Deflate level 1 to 9; 0 means no compression")
      ->check(CLI::Range(0, 9))
      ->capture_default_str();
  command->add_flag("--force", options->force, "Replace output files that exist already");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) { return convert(*options, command_line); };
  });
}

}  // namespace traffic::data_prep
