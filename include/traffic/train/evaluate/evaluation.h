/// Runs controllers on the same seeds and compares what came out, pair by pair.
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
  config::Config config;                 ///< [env] holds for all controllers
  std::vector<std::string> controllers;  ///< none, meter, yield(lead_s=12), checkpoint:PATH
  std::vector<std::uint64_t> seeds;
  int jobs = 1;               ///< processes
  double demand_scale = 1.0;  ///< factor on the scenario's demand
  /// Where the first seed's episodes of all controllers are kept to be looked at: replay.html,
  /// traffic.json and what SUMO's own tools read. Empty: nowhere.
  std::filesystem::path replay_dir{};
};

struct EvaluatedEpisode {
  std::size_t controller = 0;  ///< index into the plan
  std::uint64_t seed = 0;
  scene::EpisodeScore score{};
  std::int64_t max_controlled = 0;  ///< most CVs under control at any moment
  bool jammed = false;  ///< at some time nobody arrived for five minutes though many were driving
};

struct EvaluationProgress {
  std::size_t done = 0;   ///< episodes
  std::size_t total = 0;  ///< episodes
  double share = 0;       ///< of the simulated time, those that are running included
};

/// @throws ConfigError, CheckpointError if there is none, one of them twice, or one that is not
/// known
void check_controllers(const std::vector<std::string>& names);

/// Episodes by controller, then in the order of the seeds, each in a process of its own;
/// it must be called before this process has started threads.
/// @param plan its controllers have passed check_controllers()
/// @param progress called about once a second; may be empty
/// @throws ConfigError, DataError, CheckpointError for a plan that cannot be run, before processes
///     are started where possible
/// An episode whose process dies, or hangs for rollout.env_timeout_s, is run once more.
/// @throws WorkerError naming the episode whose process died again
std::vector<EvaluatedEpisode> run_evaluation(
    const EvaluationPlan& plan,
    const std::function<void(const EvaluationProgress&)>& progress = {});

/// A row for each controller: gain of env.objective over the first controller named `none` paired
/// by seed with its 95 % interval, those of throughput and of delay, means of all figures.
report::Table comparison_table(const EvaluationPlan& plan,
                               const std::vector<EvaluatedEpisode>& episodes);
/// The first columns of it, in a width that fits a terminal.
report::Table overview_table(const EvaluationPlan& plan,
                             const std::vector<EvaluatedEpisode>& episodes);
/// A controller's name in that width: of a long path its end.
std::string short_name(const std::string& controller);

/// What a controller has more of than uncontrolled traffic, beyond its 95 % interval.
struct SafetyExcess {
  std::string figure;  ///< emergency_stops, collisions, hard_brakes
  double mean = 0;     ///< more than `none`, a run
  double half_width = 0;
};
struct ControllerVerdict {
  double gain = 0;        ///< of the objective over `none`, %; 0 of `none`
  double half_width = 0;  ///< of its interval
  std::vector<SafetyExcess> excesses{};
  bool acted = false;  ///< it commanded a vehicle or a light
  bool best = false;   ///< the highest gain of those that are safe
  /// How many points the gains of a safe one lie above the best's, where the interval of these
  /// differences holds 0: for all that is known it is as good.
  std::optional<report::MeanInterval> level{};
  /// No more emergency stops and collisions than evaluation.safety_limit allows; more hard brakes
  /// alone are only said.
  [[nodiscard]] bool safe() const;
};
/// By controller. Without `none` nothing can be said of safety, and none is best.
std::vector<ControllerVerdict> judge_controllers(const EvaluationPlan& plan,
                                                 const std::vector<EvaluatedEpisode>& episodes);
/// The same as lines: the best, those that are not safe, those that did nothing.
std::string verdict_text(const EvaluationPlan& plan, const std::vector<EvaluatedEpisode>& episodes);

/// A row for each pair of controllers beside `none`: the difference of their gains in points.
report::Table difference_table(const EvaluationPlan& plan,
                               const std::vector<EvaluatedEpisode>& episodes);
/// A row for each episode.
std::string episodes_csv(const EvaluationPlan& plan, const std::vector<EvaluatedEpisode>& episodes,
                         bool with_header = true);
/// Everything of the above as one JSON object.
std::string evaluation_json(const EvaluationPlan& plan,
                            const std::vector<EvaluatedEpisode>& episodes);

/// The JSON objects of several scenarios as one: {"scenarios": [those], "controllers": [their rows,
/// each with its scenario]}. One stays as it is.
std::string join_evaluations(const std::vector<std::string>& jsons);

/// "100..119" (both ends), "7" or "1,5,9..12".
/// @throws ConfigError
std::vector<std::uint64_t> parse_seeds(const std::string& text);

}  // namespace traffic::train
