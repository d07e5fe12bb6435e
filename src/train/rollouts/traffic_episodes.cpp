/// The functions of TrafficEpisodes that begin, reward and end episodes.
#include "rollouts/traffic_episodes.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {

TrafficEpisodes::TrafficEpisodes(const config::Config& config, rollout::TrafficPool& pool,
                                 EpisodesWanted wanted)
    : config_(config), pool_(pool), wanted_(std::move(wanted)) {
  if (of_fragments()) return;
  collected_.outcomes.resize(wanted_.requests->size());
  if (keeps_steps()) collected_.trajectories.resize(wanted_.requests->size());
}

void TrafficEpisodes::begin(int env) {
  EpisodeState& state = wanted_.states[env];
  state = {.progress = state.progress};
  const rollout::EpisodeProgress& progress = state.progress;
  rollout::EpisodeSeed traffic;
  if (of_fragments()) {
    state.outcome.order = env * wanted_.steps + (wanted_.steps - progress.steps_left);
    state.sampling_seed = derive_seed(
        *behaviour().sampling_seed,
        {static_cast<std::uint64_t>(env), static_cast<std::uint64_t>(progress.episode)});
    traffic = wanted_.traffic_of(env, progress.episode);
  } else {
    const EpisodeRequest& request = request_of(state);
    state.outcome.order = request.order;
    if (keeps()) {
      state.sampling_seed =
          derive_seed(*behaviour().sampling_seed, {static_cast<std::uint64_t>(request.order)});
    }
    traffic = request.traffic;
  }
  state.trajectory.order = state.outcome.order;
  if (progress.losses > 0) {
    traffic.seed =
        derive_seed(traffic.seed, {kRetryStream, static_cast<std::uint64_t>(progress.losses)});
  }
  state.outcome.traffic = traffic;
  if (!keeps()) state.sampling_seed = decision_seed(traffic.seed);
  const bool controlled = behaviour().actors.any();
  std::string scripted = controlled || of_fragments() ? "" : request_of(state).controller;
  if (!behaviour().experts.empty()) {
    scripted = behaviour().experts.at(static_cast<std::size_t>(traffic.scenario));
    Rng rng(derive_seed(state.sampling_seed, {kDriverStream}));
    state.advised = keeps() && rng.uniform() < behaviour().advised_share;
  }
  for (AgentInEpisodes* agent : others()) {
    agent->begin(env, state.outcome.order,
                 keeps() ? std::optional(state.sampling_seed) : std::nullopt);
  }
  const auto scenario = static_cast<std::size_t>(traffic.scenario);
  pool_.start_episode(
      env, {.traffic = traffic,
            .controller = scripted,
            .advises = state.advised,
            .observed = controlled,
            .store = behaviour().stores.empty() ? wanted_.store : behaviour().stores.at(scenario),
            .light_cost = behaviour().reward != nullptr ? behaviour().reward->light_cost(scenario)
                                                        : rollout::LightCost{}});
}

bool TrafficEpisodes::resume(int env) {
  EpisodeState& state = wanted_.states.at(env);
  state.trajectory = {};
  state.trajectory.order = env * wanted_.steps;
  state.outcome.order = state.trajectory.order;
  if (!wanted_.replays) return true;
  state.replayed = 0;
  pool_.start_episode(env, {.traffic = state.outcome.traffic, .controller = "", .observed = true});
  return false;
}

void TrafficEpisodes::lose(const rollout::Event& event) {
  spdlog::warn("an episode was lost and is run again (seed {}): {}",
               wanted_.states.at(event.env).outcome.traffic.seed, event.why);
}

bool TrafficEpisodes::take_in(int env) {
  EpisodeState& state = wanted_.states.at(env);
  if (replay(state, env)) return false;
  if (state.pending) return true;  // the replay has reached the state of this observation
  const rollout::Period& period = pool_.period(env);
  for (AgentInEpisodes* agent : others()) agent->take_in(env, period);
  if (wanted_.on_period) {
    wanted_.on_period(static_cast<std::size_t>(state.progress.episode), period);
  }
  wanted_.env_steps += period.num_steps();
  const double from_s = std::exchange(state.time_s, period.time_s);
  if (behaviour().reward != nullptr && !period.growth.empty()) value(state, period, from_s);
  return true;
}

/// Starts the next control period with the commands of the vehicles and of the other agents.
void TrafficEpisodes::order(int env, std::span<const scene::Command> commands) {
  for (const scene::Command& command : commands) {
    TRAFFIC_CHECK(std::isfinite(command.value) && std::isfinite(command.hold_s),
                  "a command for vehicle {} is not finite", command.vehicle_id);
  }
  rollout::Orders orders;
  if (decider() != nullptr) orders.add(rollout::kVehicles, commands);
  for (AgentInEpisodes* agent : others()) agent->decide(env, pool_.period(env), orders);
  pool_.act(env, orders);
}

/// Repeats commands of an episode in a new simulation: starts the next control step of
/// EpisodeState::given that this simulation has not run yet.
/// @return false if the simulation has run all steps of `given`
bool TrafficEpisodes::replay(EpisodeState& state, int env) {
  if (state.replayed >= state.given.size()) return false;
  rollout::Orders orders;
  orders.add(rollout::kVehicles, std::span<const scene::Command>(state.given[state.replayed++]));
  pool_.act(env, orders);
  return true;
}

/// Computes the rewards and costs of a control period and stores them in the last step.
void TrafficEpisodes::value(EpisodeState& state, const rollout::Period& period, double from_s) {
  ++state.outcome.steps;
  const std::vector<float> reward =
      (*behaviour().reward)(state.outcome.traffic.scenario, period, from_s);
  for (const float r : reward) state.outcome.reward += static_cast<double>(r);
  const std::vector<float> costs = (*behaviour().cost)(period, state.outcome.score);
  for (const float c : costs) state.outcome.cost += static_cast<double>(c);
  state.outcome.score = period.score;
  if (!keeps_steps()) return;
  if (!behaviour().experts.empty()) take_over(state, period);
  state.trajectory.steps.back().reward = reward;
  state.trajectory.steps.back().cost = costs;
  charge(state, period, (period.time_s - from_s) / static_cast<double>(period.num_steps()));
}

/// Adds the cost of vehicles under control (their time and their hard brakings) to the decisions
/// that commanded these vehicles.
void TrafficEpisodes::charge(EpisodeState& state, const rollout::Period& period,
                             double step_s) const {
  for (const rollout::ControlledVehicle& vehicle :
       period.of<rollout::VehicleSection>().controlled) {
    const auto found = state.charges.find(vehicle.vehicle_id);
    if (found == state.charges.end()) continue;
    const double cost = step_s * (vehicle.steps * config_.episodes.intervention_cost +
                                  vehicle.hard_brakes * config_.episodes.hard_brake_cost);
    Step& decided_in = state.trajectory.steps[found->second.step];
    decided_in.own_cost[found->second.decision] += static_cast<float>(cost);
  }
}

void TrafficEpisodes::end(int env) {
  EpisodeState& state = wanted_.states.at(env);
  const rollout::Period& period = pool_.period(env);
  state.outcome.score = period.score;
  for (AgentInEpisodes* agent : others()) agent->end(env);
  if (keeps_steps()) {
    const Perception& perception = decider()->perception();
    state.trajectory.scenario = state.outcome.traffic.scenario;
    state.trajectory.terminated = period.terminated;
    state.trajectory.truncated = period.truncated;
    state.trajectory.final_conflict =
        torch::zeros({perception.conflicts(), perception.widths().conflict});
    if (!period.terminated) {
      observe(std::span(&env, 1));
      state.trajectory.final_conflict = state.pending->conflict;
    }
  }
  if (of_fragments()) {
    collected_.outcomes.push_back(state.outcome);
    collected_.trajectories.push_back(std::move(state.trajectory));
    return;
  }
  const auto place = static_cast<std::size_t>(state.progress.episode);
  collected_.outcomes[place] = state.outcome;
  if (keeps_steps()) collected_.trajectories[place] = std::move(state.trajectory);
}

void TrafficEpisodes::cut(int env) {
  EpisodeState& state = wanted_.states.at(env);
  state.trajectory.final_conflict = state.pending->conflict;
  state.trajectory.scenario = state.outcome.traffic.scenario;
  collected_.trajectories.push_back(std::exchange(state.trajectory, {}));
  state.charges.clear();
}

}  // namespace traffic::train
