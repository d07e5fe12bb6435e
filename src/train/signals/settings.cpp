#include "signals/settings.h"

#include "offpolicy/settings.h"
#include "rollouts/baseline_runs.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train::signals {

#define SIGNALS_KEY(member) TRAFFIC_EXTENSION_KEY("signals", Signals, member)

SignalKind kind_of(const Signals& settings) {
  return {.hidden_dim = settings.hidden_dim, .encoder_layers = settings.encoder_layers};
}

std::vector<OwnSection> own_sections() {
  using config::between;
  return {{{"signals", "Traffic lights as agents."},
           {{SIGNALS_KEY(learner),
             .help = "ppo ([ppo] says how it learns) or dqn, double Q-learning from a replay "
                     "([offpolicy]; a step of an environment is a decision of a light there, and "
                     "[ppo] says how many iterations there are and when it is evaluated).",
             .choices = {"ppo", "dqn"}},
            {SIGNALS_KEY(hidden_dim), .help = "Width of the network.", .range = between(4, 1024)},
            {SIGNALS_KEY(encoder_layers),
             .help = "Layers of attention between the lights of a network, each of which brings "
                     "the states of lights one farther on the road; 0: none.",
             .range = between(0, 8)},
            {SIGNALS_KEY(episodes), .help = "Episodes of all ranks in an iteration.",
             .unit = "episodes", .range = between(1, 1e6)},
            {SIGNALS_KEY(demand),
             .help = "Least and greatest factor on the scenario's demand, between which every "
                     "training episode draws its own.",
             .range = {.low = 0.0, .high = 100.0, .low_open = true}},
            {SIGNALS_KEY(reward_scale),
             .help = "Of a second that vehicles lose before a light, in its reward.",
             .range = {.low = 0.0, .high = 1e6, .low_open = true}},
            {SIGNALS_KEY(max_greens),
             .help = "With learner dqn: greens of a light that a decision in the replay has room "
                     "for.",
             .range = between(2, 64)}}}};
}

std::vector<config::PresetRow> presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "2", "8", "2", "2"}}},
      {"rollout.envs_per_worker", {{"1", "1", "2", "1", "1"}}},
      {"ppo.iterations", {{"2", "", "", "", ""}}},
      {"ppo.eval_interval", {{"2", "", "", "", ""}}},
      {"ppo.eval_episodes", {{"2", "", "", "", ""}}},
      {"signals.episodes", {{"2", "", "16", "", ""}}},
      {"offpolicy.buffer_size", {{"20000", "", "1000000", "100000", ""}}},
      {"offpolicy.learning_starts", {{"100", "", "", "", ""}}},
      {"offpolicy.batch_size", {{"64", "", "512", "128", ""}}},
      {"evaluation.seeds", {{"100..101", "", "", "", ""}}},
  };
}

void check_settings(const config::Config& config) {
  const auto settings = config.extension<Signals>();
  if (settings.demand.size() != 2 || settings.demand[0] > settings.demand[1]) {
    throw ConfigError("signals.demand: expected two numbers, the least first");
  }
  if (settings.learns_values()) {
    if (settings.encoder_layers > 0) {
      throw ConfigError(
          "signals.encoder_layers is {}: what other lights do is not in the replay of "
          "signals.learner = \"dqn\"; expected 0",
          settings.encoder_layers);
    }
    if (const auto& learning = config.extension<offpolicy::OffPolicy>();
        learning.learner != "dqn") {
      throw ConfigError("offpolicy.learner is {}, with signals.learner = \"dqn\" expected dqn",
                        learning.learner);
    }
  }
  if (config.env.actors != std::vector<std::string>{"signals"}) {
    throw ConfigError(
        "env.actors: training signals controls traffic lights; expected env.actors = "
        "[\"signals\"] (connected vehicles are what ppo trains, both together joint)");
  }
}

rollout::EpisodeSpec training_episode(const config::Config& config, std::int64_t iteration,
                                      std::int64_t place) {
  const auto seed = static_cast<std::uint64_t>(config.run.seed);
  const auto major = static_cast<std::uint64_t>(iteration);
  const auto minor = static_cast<std::uint64_t>(place);
  const auto demand = config.extension<Signals>().demand;
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
  const std::int64_t rounds = (config.ppo.eval_episodes + scenarios - 1) / scenarios;
  const auto demand = config.extension<Signals>().demand;
  const double share = (static_cast<double>(round) + 0.5) / static_cast<double>(rounds);
  rollout::EpisodeSpec spec;
  spec.traffic = {.seed = kFirstSelectionSeed + static_cast<std::uint64_t>(round),
                  .scenario = place % scenarios};
  spec.demand_scale = demand[0] + share * (demand[1] - demand[0]);
  return spec;
}

}  // namespace traffic::train::signals
