#include "rollouts/collection.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"

namespace traffic::train {

Collector::Collector(const config::Config& config, rollout::TrafficPool& pool,
                     report::TimeSplit& time_split)
    : config_(config), pool_(pool), time_split_(time_split) {
  for (const int env : pool.my_envs()) fragments_[env] = {};
}

std::vector<EpisodeOutcome> Collector::run_uncontrolled(
    const std::vector<EpisodeRequest>& requests,
    const std::function<void(std::size_t, const rollout::Period&)>& on_period) {
  Collection collection;
  collection.requests = &requests;
  collection.on_period = on_period;
  drive(collection);
  return std::move(collection.collected.outcomes);
}

Collected Collector::run(const std::vector<EpisodeRequest>& requests, const Behaviour& driver) {
  Collection collection;
  collection.requests = &requests;
  collection.driver = driver;
  drive(collection);
  return std::move(collection.collected);
}

Collected Collector::run_fragments(
    std::int64_t steps, const Behaviour& driver,
    const std::function<EpisodeSeed(int, std::int64_t)>& traffic_of) {
  TRAFFIC_CHECK(driver.sampling_seed.has_value(), "fragments are there to be kept");
  Collection collection;
  collection.driver = driver;
  collection.steps = steps;
  collection.traffic_of = traffic_of;
  collection.states = std::move(fragments_);
  drive(collection);
  fragments_ = std::move(collection.states);
  return std::move(collection.collected);
}

void Collector::restore_fragment(int env, EpisodeState state) {
  fragments_.at(env) = std::move(state);
  simulations_are_theirs_ = false;
}

void Collector::drive(Collection& collection) {
  const bool fragments = collection.requests == nullptr;
  if (!fragments) {
    collection.collected.outcomes.resize(collection.requests->size());
    if (collection.keeps()) collection.collected.trajectories.resize(collection.requests->size());
  }
  std::vector<int> ready;
  for (const int env : pool_.my_envs()) {
    if (!fragments) {
      begin(collection, env);
    } else if (resume_fragment(collection, env)) {
      ready.push_back(env);
    }
  }
  simulations_are_theirs_ = fragments;
  if (!ready.empty()) decide(collection, std::move(ready));
  bool any = true;
  while (any) {
    if (collection.driver.may_give_up && stop_requested()) {
      collection.collected.given_up = true;
      return;
    }
    any = false;
    for (const auto& group : pool_.groups()) {
      if (std::none_of(group.begin(), group.end(), [this](int env) { return pool_.busy(env); })) {
        continue;
      }
      any = true;
      std::vector<rollout::Event> events;
      {
        const auto waiting = time_split_.measure(report::Share::kSimulate);
        events = pool_.wait_all(group);
      }
      const auto inferring = time_split_.measure(report::Share::kInfer);
      std::vector<int> deciding;
      for (const rollout::Event& event : events) handle(collection, event, deciding);
      if (!deciding.empty()) decide(collection, std::move(deciding));
    }
  }
}

/// The next of the requests, or the same again when its simulation was lost.
void Collector::begin(Collection& collection, int env) {
  EpisodeState& state = collection.states[env];
  if (!state.running) {
    if (collection.next == collection.requests->size()) return;
    state = {};
    state.request = collection.next++;
  }
  const EpisodeRequest& request = (*collection.requests)[state.request];
  const EpisodeState old = std::exchange(state, {});
  state.request = old.request;
  state.losses = old.losses;
  state.outcome.order = request.order;
  state.trajectory.order = request.order;
  if (collection.keeps()) {
    state.sampling_seed =
        derive_seed(*collection.driver.sampling_seed, {static_cast<std::uint64_t>(request.order)});
  }
  start(collection, env, {.seed = request.seed, .scenario = request.scenario});
}

void Collector::begin_fragment(Collection& collection, int env) {
  EpisodeState& state = collection.states.at(env);
  if (state.steps_left == 0) return;
  const EpisodeState old = std::exchange(state, {});
  state.episode = old.running ? old.episode : old.episode + 1;
  state.losses = old.losses;
  state.steps_left = old.steps_left;
  state.trajectory.order = env * collection.steps + (collection.steps - state.steps_left);
  state.outcome.order = state.trajectory.order;
  state.sampling_seed =
      derive_seed(*collection.driver.sampling_seed,
                  {static_cast<std::uint64_t>(env), static_cast<std::uint64_t>(state.episode)});
  start(collection, env, collection.traffic_of(env, state.episode));
}

void Collector::start(Collection& collection, int env, const EpisodeSeed& traffic) {
  EpisodeState& state = collection.states.at(env);
  state.running = true;
  std::uint64_t seed = traffic.seed;
  if (state.losses > 0) {
    seed = derive_seed(seed, {kRetryStream, static_cast<std::uint64_t>(state.losses)});
  }
  state.outcome.seed = seed;
  state.outcome.scenario = traffic.scenario;
  const bool controlled = collection.driver.policy != nullptr;
  std::string scripted = controlled ? "" : "none";
  if (!collection.driver.experts.empty()) {
    scripted = collection.driver.experts.at(static_cast<std::size_t>(traffic.scenario));
  }
  pool_.start_episode(env, {.seed = seed,
                            .scenario = static_cast<std::uint32_t>(traffic.scenario),
                            .controller = scripted,
                            .frames = controlled});
}

/// @return whether the environment waits for a decision
bool Collector::resume_fragment(Collection& collection, int env) {
  EpisodeState& state = collection.states.at(env);
  state.steps_left = collection.steps;
  if (!state.running) {
    begin_fragment(collection, env);
    return false;
  }
  state.trajectory = {};
  state.trajectory.order = env * collection.steps;
  state.outcome.order = state.trajectory.order;
  if (simulations_are_theirs_) return true;
  state.replayed = 0;
  pool_.start_episode(env, {.seed = state.outcome.seed,
                            .scenario = static_cast<std::uint32_t>(state.outcome.scenario),
                            .controller = "",
                            .frames = true});
  return false;
}

void Collector::handle(Collection& collection, const rollout::Event& event,
                       std::vector<int>& deciding) {
  EpisodeState& state = collection.states.at(event.env);
  const bool fragments = collection.requests == nullptr;
  if (event.lost) {
    spdlog::warn("episode lost (seed {}): {}", state.outcome.seed, event.why);
    ++state.losses;
    state.steps_left += static_cast<std::int64_t>(state.trajectory.steps.size());
    fragments ? begin_fragment(collection, event.env) : begin(collection, event.env);
    return;
  }
  if (replay(state, event.env)) return;
  const rollout::Period& period = pool_.period(event.env);
  if (!state.pending) take_in(collection, state, period);
  if (period.done()) {
    end(collection, event.env, period);
    fragments ? begin_fragment(collection, event.env) : begin(collection, event.env);
  } else if (collection.driver.policy != nullptr) {
    deciding.push_back(event.env);
  } else {
    pool_.act(event.env, {});
  }
}

/// Repeats what was commanded before, if this simulation has not seen it yet.
bool Collector::replay(EpisodeState& state, int env) {
  if (state.replayed >= state.given.size()) return false;
  pool_.act(env, state.given[state.replayed++]);
  return true;
}

void Collector::take_in(Collection& collection, EpisodeState& state,
                        const rollout::Period& period) {
  if (collection.on_period) collection.on_period(state.request, period);
  env_steps_ += static_cast<std::int64_t>(period.growth.size());
  const double from_s = std::exchange(state.time_s, period.time_s);
  if (collection.driver.reward == nullptr || period.growth.empty()) return;
  ++state.outcome.steps;
  const std::vector<float> reward =
      (*collection.driver.reward)(state.outcome.scenario, period, from_s);
  for (const float r : reward) state.outcome.reward += static_cast<double>(r);
  const std::vector<float> costs = (*collection.driver.cost)(period, state.outcome.score);
  for (const float c : costs) state.outcome.cost += static_cast<double>(c);
  state.outcome.score = period.score;
  if (!collection.keeps()) return;
  if (!collection.driver.experts.empty()) take_over(collection, state, period);
  state.trajectory.steps.back().reward = reward;
  state.trajectory.steps.back().cost = costs;
  const double step_s = (period.time_s - from_s) / static_cast<double>(period.growth.size());
  for (const rollout::ControlledVehicle& vehicle : period.controlled) {
    const auto found = state.charges.find(vehicle.vehicle_id);
    if (found == state.charges.end()) continue;
    const double cost = step_s * (vehicle.steps * config_.ppo.intervention_cost +
                                  vehicle.hard_brakes * config_.ppo.hard_brake_cost);
    Step& decided_in = state.trajectory.steps[found->second.step];
    decided_in.own_cost[found->second.decision] += static_cast<float>(cost);
  }
}

void Collector::end(Collection& collection, int env, const rollout::Period& period) {
  EpisodeState& state = collection.states.at(env);
  state.outcome.score = period.score;
  if (collection.keeps()) {
    const Perception& perception = *collection.driver.perception;
    state.trajectory.terminated = period.terminated;
    state.trajectory.final_conflict =
        torch::zeros({perception.conflicts(), perception.widths().conflict});
    if (!period.terminated) {
      observe(collection, {env});
      state.trajectory.final_conflict = state.pending->conflict;
    }
  }
  if (collection.requests == nullptr) {
    collection.collected.outcomes.push_back(state.outcome);
    collection.collected.trajectories.push_back(std::move(state.trajectory));
  } else {
    collection.collected.outcomes[state.request] = state.outcome;
    if (collection.keeps())
      collection.collected.trajectories[state.request] = std::move(state.trajectory);
  }
  state.running = false;
  state.losses = 0;
}

/// The fragment has its steps: the episode waits for the next iteration.
void Collector::cut(Collection& collection, EpisodeState& state) {
  state.trajectory.final_conflict = state.pending->conflict;
  collection.collected.trajectories.push_back(std::exchange(state.trajectory, {}));
  state.charges.clear();
}

}  // namespace traffic::train
