// The command data_prep record.
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.h"
#include "record_pool.h"
#include "traffic/config/load.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/signals.h"
#include "traffic/core/text.h"
#include "traffic/data/reader.h"
#include "traffic/data/scene_file.h"
#include "traffic/os/affinity.h"
#include "traffic/report/progress_bar.h"
#include "traffic/report/table.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/network_study.h"
#include "traffic/sim/scenario.h"

namespace traffic::data_prep {
namespace {

namespace fs = std::filesystem;

/// Checks that data_prep record made a file, so that --force may replace it.
void check_replaceable(const fs::path& path) {
  std::string why = "it was not made by data_prep record";
  try {
    // The command before the first arrow made this file. Commands after it made the files from
    // which this file was made.
    const std::string history = data::format_of(path) == data::kSceneFormatName
                                    ? data::SceneReader(path).info().command_line
                                    : data::DatasetReader(path).info().command_line;
    if (history.substr(0, history.find(" <- ")).find(" record ") != std::string::npos) return;
  } catch (const DataError& error) {
    why = error.what();
  }
  throw ConfigError(
      "--force: {} may not be replaced: {}; no file was removed; move it, or choose "
      "another --out",
      path.string(), why);
}

/// Creates the folder for the files. With `force`, removes the data sets in it that data_prep
/// record has made.
void prepare_folder(const fs::path& folder, bool force) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw io_error("make the folder", folder, error.value());
  remove_stale_temporaries(folder);
  std::vector<fs::path> old;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".h5") old.push_back(entry.path());
  }
  if (!old.empty() && !force) {
    throw ConfigError(
        "--out {}: the folder contains {} data sets already (such as {}); choose another "
        "folder, or replace them with --force",
        folder.string(), old.size(), old.front().filename().string());
  }
  for (const auto& path : old) check_replaceable(path);
  for (const auto& path : old) {
    if (!fs::remove(path, error)) throw io_error("remove", path, error.value());
  }
}

/// The configuration of the simulation, from --scenario and --set.
config::Config make_config(const RecordOptions& options) {
  config::Overrides overrides;
  for (const std::string& text : options.settings) {
    overrides.assignments.push_back(config::parse_assignment(text));
    if (const std::string& key = overrides.assignments.back().key; !key.starts_with("env.")) {
      throw ConfigError("--set {}: expected a key of [env]; recording ignores all others", key);
    }
  }
  config::Config config = config::load_config({}, overrides);
  config.env.scenario = sim::find_scenario(options.scenario).string();
  config.env.scenarios.clear();
  return config;
}

/// Logs a summary of the scenario and the settings found for it.
/// @throws ConfigError if the controllers could not command any vehicle in the scenario
void look_at_network(config::Config& config, const RecordPlan& plan) {
  const sim::NetworkReport report =
      sim::look_at_networks(config, {.controllers = plan.controllers});
  for (const std::string& summary : report.summaries) spdlog::info("network {}", summary);
  for (const sim::StudyFinding& finding : report.findings) {
    if (finding.severity == sim::Severity::kError) continue;
    const bool weak = finding.severity == sim::Severity::kWarning;
    spdlog::log(weak ? spdlog::level::warn : spdlog::level::info, "{}", finding.text());
  }
  sim::require_usable(report.findings);
}

std::vector<RecordJob> make_jobs(const RecordPlan& plan, const sim::EnvOptions& env,
                                 const fs::path& folder) {
  const std::string scenario = fs::path(env.scenario).stem().string();
  std::vector<RecordJob> jobs;
  for (std::size_t f = 0; f < plan.num_files(); ++f) {
    jobs.push_back({.env = env,
                    .file = folder / fmt::format("{}-{:04}.h5", scenario, f),
                    .first_episode = plan.file_begin[f],
                    .end_episode = plan.file_begin[f + 1]});
  }
  return jobs;
}

/// The table of the recorded files, and their frames and bytes in all.
struct Recorded {
  report::Table table;
  std::int64_t frames = 0;
  std::int64_t bytes = 0;
};

Recorded recorded_graphs(const std::vector<std::string>& files) {
  Recorded recorded{report::Table({"file", "episodes", "frames", "vehicles", "edges", "bytes"})};
  for (const auto& path : files) {
    const data::DatasetReader file(path);
    recorded.frames += file.num_frames();
    recorded.bytes += file.file_bytes();
    recorded.table.add_row({path, static_cast<std::int64_t>(file.episodes().size()),
                            file.num_frames(), file.num_nodes(), file.num_edges(),
                            file.file_bytes()});
  }
  return recorded;
}

Recorded recorded_scenes(const std::vector<std::string>& files) {
  Recorded recorded{report::Table({"file", "episodes", "frames", "vehicles", "bytes"})};
  for (const auto& path : files) {
    const data::SceneReader file(path);
    recorded.frames += file.num_frames();
    recorded.bytes += file.file_bytes();
    recorded.table.add_row({path, static_cast<std::int64_t>(file.episodes().size()),
                            file.num_frames(), file.num_nodes(), file.file_bytes()});
  }
  return recorded;
}

void print_result(const PoolResult& result, bool scenes, double seconds, bool json) {
  const auto [table, frames, bytes] =
      scenes ? recorded_scenes(result.files) : recorded_graphs(result.files);
  if (json) {
    nlohmann::json out{{"files", nlohmann::json::parse(table.to_json())},
                       {"seconds", seconds},
                       {"steps", result.steps},
                       {"retries", result.retries},
                       {"failed", nlohmann::json::array()}};
    for (const auto& failed : result.failed) {
      out["failed"].push_back({{"file", failed.file}, {"reason", failed.reason}});
    }
    std::printf("%s\n", out.dump(2).c_str());
    return;
  }
  std::fputs(table.to_text().c_str(), stdout);
  std::printf("%lld frames, %s, %lld simulation steps in %s (%.0f steps/s)\n",
              static_cast<long long>(frames), human_bytes(bytes).c_str(),
              static_cast<long long>(result.steps), human_duration(seconds).c_str(),
              static_cast<double>(result.steps) / seconds);
}

/// Checks the options for a recording of scenes, in which SUMO drives all vehicles.
void take_scenes(RecordOptions& options) {
  const RecordOptions defaults;
  if (options.record_every != defaults.record_every || options.float16 ||
      options.control != defaults.control) {
    throw ConfigError(
        "--scenes: in scenes SUMO drives all vehicles, frames are {} s apart, and numbers are "
        "float32; remove --control, --record-every and --float16",
        driving::kFrame_s);
  }
  options.control = "none";
}

ExitCode record(RecordOptions options, const std::string& command_line) {
  if (options.record_every < 1 || options.max_steps < 0 || options.timeout_s <= 0) {
    throw ConfigError(
        "--record-every is {}, --steps {}, --timeout {}; expected at least 1, at "
        "least 0 and a positive time",
        options.record_every, options.max_steps, options.timeout_s);
  }
  if (options.scenes) take_scenes(options);
  const std::int64_t jobs = options.jobs > 0 ? options.jobs : os::num_cpus_available();
  const RecordPlan plan = plan_recording(options, jobs);
  config::Config config = make_config(options);
  look_at_network(config, plan);
  prepare_folder(options.out, options.force);
  const auto tasks = make_jobs(plan, sim::env_options(config.env), options.out);
  spdlog::info("recording {} into {}, {} at the same time",
               counted(static_cast<std::int64_t>(plan.episodes.size()), "episode"),
               counted(static_cast<std::int64_t>(tasks.size()), "file"), jobs);
  install_stop_handlers();
  const Stopwatch watch;
  PoolResult result;
  {
    report::ProgressBar bar({.label = "record",
                             .total_steps = static_cast<std::int64_t>(plan.episodes.size()),
                             .unit = "steps"});
    result = run_pool(tasks, static_cast<std::size_t>(jobs), plan, options, command_line,
                      [&](std::size_t episodes, std::int64_t steps) {
                        bar.update(static_cast<std::int64_t>(episodes), steps, {});
                      });
  }
  print_result(result, options.scenes, watch.seconds(), options.json);
  if (result.stopped) {
    throw Error(fmt::format("stopped by request; {} of {} files are complete; to record all files "
                            "anew, repeat the command with --force",
                            result.files.size(), plan.num_files()),
                ExitCode::kStopped);
  }
  if (!result.failed.empty()) {
    const auto& first = result.failed.front();
    throw Error(fmt::format("{} of {} files could not be recorded; {}: {}", result.failed.size(),
                            plan.num_files(), first.file, first.reason),
                first.code);
  }
  return ExitCode::kDone;
}

}  // namespace

void add_record(CLI::App& app, Chosen& chosen) {
  auto options = std::make_shared<RecordOptions>();
  CLI::App* command = app.add_subcommand("record", "Simulate traffic with SUMO and record it");
  command
      ->add_option("--scenario", options->scenario, "A .sumocfg or the name of a shipped scenario")
      ->type_name("FILE")
      ->capture_default_str();
  command->add_option("--out", options->out, "Folder for the files")->type_name("DIR")->required();
  command->add_flag("--scenes", options->scenes,
                    "Record scenes for driving policies (maps, routes, positions, lights; 2 frames "
                    "a second) instead of graphs for world models");
  command->add_option("--episodes", options->episodes,
                      "Number of episodes (default 40, or as many as --seeds names)");
  command
      ->add_option("--seeds", options->seeds,
                   "First seed A, or a range A..B; trainings and evaluations never use the default "
                   "seeds")
      ->capture_default_str();
  command
      ->add_option("--jobs", options->jobs,
                   "Number of simulations at the same time; 0 means one for each CPU")
      ->capture_default_str();
  command
      ->add_option("--demand-scale", options->demand_scales,
                   "Factors of the demand, separated by commas; each applies to an equal share of "
                   "the episodes")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--control", options->control,
                   "Controllers with weights, as NAME:WEIGHT,...; each controls a share of the "
                   "episodes in proportion to its weight")
      ->capture_default_str();
  command->add_option("--split", options->split, "Shares of train, validation and test episodes")
      ->capture_default_str();
  command
      ->add_option("--set", options->settings,
                   "A key of [env] in a configuration (traffic_train --help-config env), e.g. "
                   "'env.cv_types=[\"auto\"]' or env.max_time_s=900")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--record-every", options->record_every, "Simulation steps between two frames")
      ->capture_default_str();
  command
      ->add_option("--steps", options->max_steps,
                   "Maximum number of steps of an episode; 0 means no maximum")
      ->capture_default_str();
  command->add_flag("--float16", options->float16,
                    "Store features as float16: smaller and less exact");
  command
      ->add_option("--compress", options->compression_level,
                   "Level of compression from 1 to 9; 0 means no compression")
      ->check(CLI::Range(0, 9))
      ->capture_default_str();
  command
      ->add_option("--timeout", options->timeout_s,
                   "Seconds without a message after which a simulation is killed and its file is "
                   "recorded once more")
      ->capture_default_str();
  command->add_flag("--force", options->force, "Replace the recordings in the folder");
  command->add_flag("--json", options->json, "Print the result as JSON");
  command->callback([&chosen, options] {
    chosen = [options](const std::string& command_line) { return record(*options, command_line); };
  });
}

}  // namespace traffic::data_prep
