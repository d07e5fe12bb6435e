#include "rollouts/baseline_runs.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "rollouts/episode_bar.h"
#include "run/folder_choice.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

/// Growth of the objective in each step of this rank's uncontrolled episodes.
struct Measured {
  std::vector<std::vector<double>> growth;  ///< [episodes][steps * columns]
  std::int64_t columns = 1;                 ///< C * T, as in Baseline::growth
  double bin_s = 0;

  void add(std::size_t episode, const rollout::Period& period, double from_s, bool global) {
    if (period.growth.empty()) return;
    // If the road has at most one conflict, all growth of the score counts for one conflict.
    global = global || period.num_conflicts <= 1;
    columns = period.num_terms * (global ? 1 : period.num_conflicts);
    bin_s = (period.time_s - from_s) / static_cast<double>(period.num_steps());
    const auto& part = global ? period.growth : period.conflict_growth;
    growth[episode].insert(growth[episode].end(), part.begin(), part.end());
  }
};

/// Inputs of measure().
struct MeasureInput {
  const config::Config& config;
  std::int64_t scenario = 0;
  rollout::PieceStore store;
};

Baseline measure(const MeasureInput& in, TrafficCollector& collector,
                 comm::Communicator& communicator) {
  const auto& [config, scenario, store] = in;
  const Stopwatch clock;
  const std::int64_t total = config.episodes.baseline_episodes;
  const auto requests = requests_of_rank(total, communicator, [&](std::int64_t i) {
    const std::uint64_t seed = kFirstBaselineSeed + static_cast<std::uint64_t>(i);
    return rollout::EpisodeSeed{.seed = seed, .scenario = scenario, .saved_seed = seed};
  });
  Measured measured;
  measured.growth.resize(requests.size());
  std::vector<double> times(requests.size(), 0.0);
  const bool global = config.episodes.credit == "global";
  std::vector<EpisodeOutcome> outcomes;
  EpisodeBar progress("uncontrolled runs of " + config.env.scenario, requests.size(), config,
                      communicator.rank() == 0);
  const auto keep = [&](std::size_t i, const rollout::Period& period) {
    progress.add(period);
    if (period.growth.empty()) measured.growth[i].clear();  // the episode has begun (again)
    measured.add(i, period, period.growth.empty() ? 0.0 : times[i], global);
    times[i] = period.time_s;
  };
  together(communicator, [&] { outcomes = collector.run_uncontrolled(requests, keep, store); });
  // Episodes end early once all vehicles have arrived. The score does not grow after that.
  std::size_t longest = 0;
  for (const auto& episode : measured.growth) longest = std::max(longest, episode.size());
  const auto maximum = [&](double value) {
    return communicator.all_reduce_scalar(value, comm::ReduceOp::kMax);
  };
  Baseline baseline;
  baseline.growth.conflicts =
      static_cast<std::int64_t>(maximum(static_cast<double>(measured.columns)));
  baseline.growth.bin_s = maximum(measured.bin_s);
  const auto bins = static_cast<std::int64_t>(maximum(static_cast<double>(longest)));
  torch::Tensor sums = torch::zeros({bins + 8}, torch::kDouble);
  auto* sum = sums.data_ptr<double>();
  for (const auto& episode : measured.growth) {
    for (std::size_t i = 0; i < episode.size(); ++i) sum[i] += episode[i];
  }
  for (const EpisodeOutcome& outcome : outcomes) {
    sum[bins] += static_cast<double>(outcome.score.demand());
    sum[bins + 1] += outcome.score.ocr_all();
    sum[bins + 2] += outcome.score.lost_s();
    sum[bins + 3] += outcome.score.delay_s();
    sum[bins + 4] += 1.0;
    sum[bins + 5] += outcome.score.driven_m;
    sum[bins + 6] += outcome.score.emissions().co2_g;
    sum[bins + 7] += outcome.score.emissions().electricity_wh;
  }
  communicator.all_reduce(sums);
  const double episodes = sum[bins + 4];
  baseline.growth.episodes = std::llround(episodes);
  baseline.growth.growth.assign(sum, sum + bins);
  baseline.expected_demand = sum[bins] / episodes;
  baseline.mean_ocr_all = sum[bins + 1] / episodes;
  baseline.expected_loss_s = sum[bins + 2] / episodes;
  baseline.mean_delay_s = sum[bins + 3] / episodes;
  baseline.expected_driven_m = sum[bins + 5] / episodes;
  baseline.expected_emissions = {.co2_g = sum[bins + 6] / episodes,
                                 .electricity_wh = sum[bins + 7] / episodes};
  spdlog::info(
      "measured {} uncontrolled episodes of {:.0f} s of {} in {:.1f} s: ocr_all {:.3f}, "
      "delay {:.1f} s, demand {:.0f} vehicles",
      baseline.growth.episodes, rl::BaselineCurve(baseline.growth).duration_s(),
      config.env.scenario, clock.seconds(), baseline.mean_ocr_all, baseline.mean_delay_s,
      baseline.expected_demand);
  return baseline;
}

/// Reads a baseline from its file.
/// @return nothing if the file is missing or unusable; the caller then measures again
std::optional<Baseline> read_kept(const std::filesystem::path& path, const std::string& key) {
  std::error_code error;
  if (path.empty() || !std::filesystem::exists(path, error)) return std::nullopt;
  try {
    return baseline_from(checkpoint::load(path), key);
  } catch (const Error& unusable) {
    spdlog::warn("the uncontrolled runs on disk cannot be used and are measured again: {}",
                 unusable.what());
    return std::nullopt;
  }
}

/// Writes the file. Errors are only logged, because the next run can measure again.
void keep(const Baseline& baseline, const std::filesystem::path& path, const std::string& key) {
  try {
    create_folder(path.parent_path());
    remove_stale_temporaries(path.parent_path());
    checkpoint::save(to_snapshot(baseline, key), path);
  } catch (const Error& error) {
    spdlog::warn(
        "the uncontrolled runs are not kept (episodes.baseline_cache), so the next run measures "
        "them again: {}",
        error.what());
  }
}

Baseline get_baseline(const config::Config& config, std::int64_t scenario,
                      TrafficCollector& collector, comm::Communicator& communicator) {
  const std::string key = baseline_key(config);
  const std::filesystem::path path = baseline_path(config);
  rollout::PieceStore store = piece_store(config, key);
  std::optional<Baseline> kept = read_kept(path, key);
  if (kept && store.piece_s > 0.0 &&
      !fs::exists(rollout::piece_folder(config.episodes.baseline_cache, store.key))) {
    kept.reset();
  }
  // Measuring is collective: if one rank lacks the baseline, all ranks measure.
  if (communicator.all_reduce_scalar(kept ? 1.0 : 0.0, comm::ReduceOp::kMin) > 0.0) {
    spdlog::info("the uncontrolled runs of {} were read from {}", config.env.scenario,
                 path.string());
    kept->store = store;
    return *kept;
  }
  store.saves = store.piece_s > 0.0;
  Baseline baseline = measure({config, scenario, store}, collector, communicator);
  store.saves = false;
  baseline.store = store;
  if (communicator.rank() == 0 && !path.empty()) keep(baseline, path, key);
  return baseline;
}

}  // namespace

std::vector<EpisodeRequest> requests_of_rank(
    std::int64_t total, const comm::Communicator& communicator,
    const std::function<rollout::EpisodeSeed(std::int64_t)>& traffic_of) {
  std::vector<EpisodeRequest> requests;
  for (std::int64_t i = communicator.rank(); i < total; i += communicator.size()) {
    requests.push_back({.order = i, .traffic = traffic_of(i)});
  }
  return requests;
}

std::vector<Baseline> get_baselines(const config::Config& config, TrafficCollector& collector,
                                    comm::Communicator& communicator) {
  std::vector<Baseline> baselines;
  config::Config of_scenario = config;
  for (const config::ScenarioShare& part : config::scenario_mix(config.env)) {
    of_scenario.env.scenario = part.scenario;
    baselines.push_back(get_baseline(of_scenario, static_cast<std::int64_t>(baselines.size()),
                                     collector, communicator));
    require_emissions(scene::objective_of(config.env.objective), part.scenario,
                      baselines.back().expected_emissions);
  }
  return baselines;
}

}  // namespace traffic::train
