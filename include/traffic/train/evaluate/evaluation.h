/// Runs controllers on the same seeds and compares what came out, pair by pair.
///
///     const auto episodes = run_evaluation(plan);
///     print(comparison_table(plan, episodes).to_text());
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/report/table.h"
#include "traffic/scene/score.h"

namespace traffic::train {

struct EvaluationPlan {
  config::Config config;                 ///< [env] holds for all controllers
  std::vector<std::string> controllers;  ///< none, random, meter, checkpoint:PATH
  std::vector<std::uint64_t> seeds;
  int jobs = 1;               ///< processes
  double demand_scale = 1.0;  ///< factor on the scenario's demand
};

struct EvaluatedEpisode {
  std::size_t controller = 0;  ///< index into the plan
  std::uint64_t seed = 0;
  scene::EpisodeScore score{};
  std::int64_t max_controlled = 0;  ///< most CVs under control at any moment
};

/// Episodes by controller, then in the order of the seeds. Every process runs one simulation;
/// it must be called before this process has started threads.
/// @param progress called with the number of finished episodes; may be empty
/// @throws ConfigError, DataError, CheckpointError for a plan that cannot be run, before processes
///     are started where possible
/// An episode whose process dies, or hangs for rollout.env_timeout_s, is run once more.
/// @throws WorkerError naming the episode whose process died again
std::vector<EvaluatedEpisode> run_evaluation(const EvaluationPlan& plan,
                                             const std::function<void(std::size_t)>& progress = {});

/// A row for each controller: means, gain over the first controller named `none` paired by seed
/// with its 95 % interval, safety.
report::Table comparison_table(const EvaluationPlan& plan,
                               const std::vector<EvaluatedEpisode>& episodes);
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
