#include "signals/settings.h"

#include "offpolicy/settings.h"
#include "rollouts/baseline_runs.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train::signals {

SignalKind kind_of(const config::Lights& lights) {
  return {.hidden_dim = lights.hidden_dim, .encoder_layers = lights.encoder_layers};
}

std::vector<config::PresetRow> presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "2", "8", "2", "2"}}},
      {"rollout.envs_per_worker", {{"1", "1", "2", "1", "1"}}},
      {"training.iterations", {{"2", "", "", "", ""}}},
      {"training.eval_interval", {{"2", "", "", "", ""}}},
      {"training.eval_episodes", {{"2", "", "", "", ""}}},
      {"lights.episodes", {{"2", "", "16", "", ""}}},
      {"offpolicy.buffer_size", {{"20000", "", "1000000", "100000", ""}}},
      {"offpolicy.learning_starts", {{"100", "", "", "", ""}}},
      {"offpolicy.batch_size", {{"64", "", "512", "128", ""}}},
      {"evaluation.seeds", {{"100..101", "", "", "", ""}}},
  };
}

void check_settings(const config::Config& config) {
  const config::Lights& settings = config.lights;
  if (settings.demand.size() != 2 || settings.demand[0] > settings.demand[1]) {
    throw ConfigError("lights.demand: expected two numbers, the minimum first");
  }
  if (settings.learns_values()) {
    if (settings.encoder_layers > 0) {
      throw ConfigError(
          "lights.encoder_layers is {}: what other lights do is not in the replay of "
          "lights.learner = \"dqn\"; expected 0",
          settings.encoder_layers);
    }
    if (const auto& learning = config.extension<offpolicy::OffPolicy>();
        learning.learner != "dqn") {
      throw ConfigError("offpolicy.learner is {}, with lights.learner = \"dqn\" expected dqn",
                        learning.learner);
    }
  }
  if (config.env.agents != std::vector<std::string>{"lights"}) {
    throw ConfigError(
        "env.agents: training signals controls traffic lights; expected env.agents = "
        "[\"lights\"] (connected vehicles are what ppo trains, both together joint)");
  }
}

rollout::EpisodeSpec training_episode(const config::Config& config, std::int64_t iteration,
                                      std::int64_t place) {
  const auto seed = static_cast<std::uint64_t>(config.run.seed);
  const auto major = static_cast<std::uint64_t>(iteration);
  const auto minor = static_cast<std::uint64_t>(place);
  const auto& demand = config.lights.demand;
  rollout::EpisodeSpec spec;
  spec.traffic.seed =
      kFirstTrainingSeed + derive_seed(seed, {kTrafficStream, major, minor}) % kNumTrainingSeeds;
  const auto mix = config::scenario_mix(config.env);
  double left = Rng(derive_seed(seed, {kScenarioStream, major, minor})).uniform();
  for (std::size_t i = 0; i + 1 < mix.size(); ++i) {
    left -= mix[i].share;
    if (left < 0.0) break;
    ++spec.traffic.scenario;
  }
  Rng rng(derive_seed(seed, {kDemandScaleStream, major, minor}));
  spec.demand_scale = rng.uniform(demand[0], demand[1]);
  return spec;
}

rollout::EpisodeSpec selection_episode(const config::Config& config, std::int64_t place) {
  const auto scenarios = static_cast<std::int64_t>(config::scenario_mix(config.env).size());
  const std::int64_t round = place / scenarios;
  const std::int64_t rounds = (config.training.eval_episodes + scenarios - 1) / scenarios;
  const auto& demand = config.lights.demand;
  const double share = (static_cast<double>(round) + 0.5) / static_cast<double>(rounds);
  rollout::EpisodeSpec spec;
  spec.traffic = {.seed = kFirstSelectionSeed + static_cast<std::uint64_t>(round),
                  .scenario = place % scenarios};
  spec.demand_scale = demand[0] + share * (demand[1] - demand[0]);
  return spec;
}

}  // namespace traffic::train::signals
