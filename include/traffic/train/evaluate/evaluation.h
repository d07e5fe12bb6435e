/// Runs several controllers on the same seeds and compares their metrics seed by seed. This is the
/// library of the program traffic_eval. The controller `none` stands for traffic without control.
///
///     std::string compare(const EvaluationPlan& plan) {
///       return comparison_table(plan, run_evaluation(plan)).to_text();
///     }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/report/table.h"
#include "traffic/scene/score.h"

namespace traffic::train {

struct EvaluationPlan {
  config::Config config;  ///< configuration whose section [env] applies to all controllers
  std::vector<std::string> controllers;  ///< such as none, yield(lead_s=12), checkpoint:PATH
  std::vector<std::uint64_t> seeds;
  int jobs = 1;               ///< maximum number of processes at a time
  double demand_scale = 1.0;  ///< factor on the scenario's demand
  /// Whether to measure emissions; they are also measured if the objective contains them.
  bool emissions = false;
  /// Folder for recordings of the first seed's episodes under all controllers: replay.html,
  /// traffic.json and files for SUMO's own tools. If it is empty, nothing is recorded.
  std::filesystem::path replay_dir{};
};

struct EvaluatedEpisode {
  std::size_t controller = 0;  ///< index in EvaluationPlan::controllers
  std::uint64_t seed = 0;
  scene::EpisodeScore score{};
  std::int64_t max_controlled = 0;  ///< maximum number of vehicles under control at the same time
  bool jammed = false;  ///< for five minutes no vehicle arrived, although at least ten were driving
};

struct EvaluationProgress {
  std::size_t done = 0;   ///< finished episodes
  std::size_t total = 0;  ///< all episodes
  /// Share of all episodes that is done, from 0 to 1; running episodes count in part.
  double share = 0;
};

/// Checks that there is at least one controller, that no name occurs twice, and that every script
/// or checkpoint exists.
/// @throws ConfigError, CheckpointError
void check_controllers(const std::vector<std::string>& names);

/// Runs every controller on every seed, each episode in a process of its own. If the process dies
/// or reports nothing for rollout.env_timeout_s, its episode is run once more. Call it before this
/// process starts threads.
/// @param plan check_controllers() must have accepted its controllers
/// @param progress called about once a second, if it is not empty
/// @return the episodes of the first controller in the order of the seeds, then those of the second
///     and so on
/// @throws ConfigError if the plan has no seeds, or if its objective compares emissions that the
///     traffic does not have
/// @throws DataError if its scenario does not exist
/// @throws ResourceError if a process cannot be started
/// @throws Error that names the episode. Its exit code is that of the error that the episode
///     reported, or ExitCode::kWorkers if the episode's process died or hung twice
std::vector<EvaluatedEpisode> run_evaluation(
    const EvaluationPlan& plan,
    const std::function<void(const EvaluationProgress&)>& progress = {});

/// A table with a row for each controller. It contains the gain in env.objective over `none`,
/// paired by seed, with its 95 % interval and its worst seed. It also contains the gains in
/// throughput and in delay, and the means of all metrics. If emissions are measured, it contains
/// those and their gains, too. If the plan lacks the controller `none`, the gains are empty.
report::Table comparison_table(const EvaluationPlan& plan,
                               const std::vector<EvaluatedEpisode>& episodes);
/// The main columns of comparison_table(), in a width that fits a terminal.
report::Table overview_table(const EvaluationPlan& plan,
                             const std::vector<EvaluatedEpisode>& episodes);
/// A controller's name for overview_table(). A long name is shortened to its end.
std::string short_name(const std::string& controller);

/// A safety metric that is clearly worse than with `none`: the whole 95 % interval of its excess
/// per run lies above evaluation.safety_limit. For hard brakes, the limit is always 0.
struct SafetyExcess {
  std::string figure;     ///< emergency_stops, emergency_brakes, collisions or hard_brakes
  double mean = 0;        ///< excess over `none` per run
  double half_width = 0;  ///< half the width of the excess's 95 % interval
};
struct ControllerVerdict {
  double gain = 0;        ///< mean gain in the objective over `none`, %; 0 for `none` itself
  double half_width = 0;  ///< half the width of the gain's 95 % interval
  std::vector<SafetyExcess> excesses{};
  bool acted = false;  ///< it commanded a vehicle or a light in some run
  /// It has the highest gain of all controllers for which may_be_recommended() is true.
  bool best = false;
  std::int64_t jammed_runs = 0;  ///< number of runs with EvaluatedEpisode::jammed
  bool jams = false;             ///< more runs jammed than with `none`
  /// Gain of this controller minus gain of the best controller, in percentage points. It is set if
  /// the controller may be recommended and the 95 % interval does not lie below 0, so that it may
  /// be as good as the best.
  std::optional<report::MeanInterval> level{};
  /// Whether `level` is set, but its interval is too wide to call the controller as good as the
  /// best.
  bool undecided = false;
  /// Whether `excesses` contains nothing but hard brakes. Emergency stops, emergency brakings and
  /// collisions make a controller unsafe; more hard brakes alone do not.
  [[nodiscard]] bool safe() const;
  [[nodiscard]] bool may_be_recommended() const { return safe() && !jams; }
};
/// A verdict for each controller of the plan. Safety and gains are measured against `none`. If the
/// plan lacks `none`, no controller is marked as unsafe or as best.
std::vector<ControllerVerdict> judge_controllers(const EvaluationPlan& plan,
                                                 const std::vector<EvaluatedEpisode>& episodes);
/// The verdicts as lines of text. They name the best controller, controllers that may be as good,
/// controllers that are unsafe or cause jams, and controllers that commanded nothing.
std::string verdict_text(const EvaluationPlan& plan, const std::vector<EvaluatedEpisode>& episodes);

/// A row for each pair of controllers other than `none`: the difference of their gains in
/// percentage points.
report::Table difference_table(const EvaluationPlan& plan,
                               const std::vector<EvaluatedEpisode>& episodes);
/// A row for each episode.
std::string episodes_csv(const EvaluationPlan& plan, const std::vector<EvaluatedEpisode>& episodes,
                         bool with_header = true);
/// Settings, comparison, verdicts, differences and episodes as one JSON object.
std::string evaluation_json(const EvaluationPlan& plan,
                            const std::vector<EvaluatedEpisode>& episodes);

/// Joins the results of evaluation_json() for several scenarios into one JSON object. Its member
/// "scenarios" lists the results. Its member "controllers" lists the controller rows of all
/// results, each with its scenario. A single result is returned unchanged.
std::string join_evaluations(const std::vector<std::string>& jsons);

/// Parses seeds such as "100..119" (both ends included), "7" or "1,5,9..12".
/// @throws ConfigError
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace traffic::train
