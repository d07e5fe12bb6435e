#include "rollouts/collector_job.h"

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
  Job job;
  job.requests = &requests;
  job.on_period = on_period;
  drive(job);
  return std::move(job.collected.outcomes);
}

Collected Collector::run(const std::vector<EpisodeRequest>& requests, const Driver& driver) {
  Job job;
  job.requests = &requests;
  job.driver = driver;
  drive(job);
  return std::move(job.collected);
}

Collected Collector::run_fragments(std::int64_t steps, const Driver& driver,
                                   const std::function<Traffic(int, std::int64_t)>& traffic_of) {
  TRAFFIC_CHECK(driver.sampling_seed.has_value(), "fragments are there to be kept");
  Job job;
  job.driver = driver;
  job.steps = steps;
  job.traffic_of = traffic_of;
  job.slots = std::move(fragments_);
  drive(job);
  fragments_ = std::move(job.slots);
  return std::move(job.collected);
}

void Collector::restore_fragment(int env, Slot slot) {
  fragments_.at(env) = std::move(slot);
  simulations_are_theirs_ = false;
}

void Collector::drive(Job& job) {
  const bool fragments = job.requests == nullptr;
  if (!fragments) {
    job.collected.outcomes.resize(job.requests->size());
    if (job.keeps()) job.collected.trajectories.resize(job.requests->size());
  }
  std::vector<int> ready;
  for (const int env : pool_.my_envs()) {
    if (!fragments) {
      begin(job, env);
    } else if (resume_fragment(job, env)) {
      ready.push_back(env);
    }
  }
  simulations_are_theirs_ = fragments;
  if (!ready.empty()) decide(job, std::move(ready));
  bool any = true;
  while (any) {
    if (job.driver.may_give_up && stop_requested()) {
      job.collected.given_up = true;
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
      for (const rollout::Event& event : events) handle(job, event, deciding);
      if (!deciding.empty()) decide(job, std::move(deciding));
    }
  }
}

/// The next of the requests, or the same again when its simulation was lost.
void Collector::begin(Job& job, int env) {
  Slot& slot = job.slots[env];
  if (!slot.running) {
    if (job.next == job.requests->size()) return;
    slot = {};
    slot.request = job.next++;
  }
  const EpisodeRequest& request = (*job.requests)[slot.request];
  const Slot old = std::exchange(slot, {});
  slot.request = old.request;
  slot.losses = old.losses;
  slot.outcome.order = request.order;
  slot.trajectory.order = request.order;
  if (job.keeps()) {
    slot.sampling_seed =
        derive_seed(*job.driver.sampling_seed, {static_cast<std::uint64_t>(request.order)});
  }
  start(job, env, {.seed = request.seed, .scenario = request.scenario});
}

void Collector::begin_fragment(Job& job, int env) {
  Slot& slot = job.slots.at(env);
  if (slot.steps_left == 0) return;
  const Slot old = std::exchange(slot, {});
  slot.episode = old.running ? old.episode : old.episode + 1;
  slot.losses = old.losses;
  slot.steps_left = old.steps_left;
  slot.trajectory.order = env * job.steps + (job.steps - slot.steps_left);
  slot.outcome.order = slot.trajectory.order;
  slot.sampling_seed =
      derive_seed(*job.driver.sampling_seed,
                  {static_cast<std::uint64_t>(env), static_cast<std::uint64_t>(slot.episode)});
  start(job, env, job.traffic_of(env, slot.episode));
}

void Collector::start(Job& job, int env, const Traffic& traffic) {
  Slot& slot = job.slots.at(env);
  slot.running = true;
  std::uint64_t seed = traffic.seed;
  if (slot.losses > 0) {
    seed = derive_seed(seed, {kRetryStream, static_cast<std::uint64_t>(slot.losses)});
  }
  slot.outcome.seed = seed;
  slot.outcome.scenario = traffic.scenario;
  const bool controlled = job.driver.policy != nullptr;
  std::string scripted = controlled ? "" : "none";
  if (!job.driver.experts.empty()) {
    scripted = job.driver.experts.at(static_cast<std::size_t>(traffic.scenario));
  }
  pool_.start_episode(env, {.seed = seed,
                            .scenario = static_cast<std::uint32_t>(traffic.scenario),
                            .controller = scripted,
                            .frames = controlled});
}

/// @return whether the environment waits for a decision
bool Collector::resume_fragment(Job& job, int env) {
  Slot& slot = job.slots.at(env);
  slot.steps_left = job.steps;
  if (!slot.running) {
    begin_fragment(job, env);
    return false;
  }
  slot.trajectory = {};
  slot.trajectory.order = env * job.steps;
  slot.outcome.order = slot.trajectory.order;
  if (simulations_are_theirs_) return true;
  slot.replayed = 0;
  pool_.start_episode(env, {.seed = slot.outcome.seed,
                            .scenario = static_cast<std::uint32_t>(slot.outcome.scenario),
                            .controller = "",
                            .frames = true});
  return false;
}

void Collector::handle(Job& job, const rollout::Event& event, std::vector<int>& deciding) {
  Slot& slot = job.slots.at(event.env);
  const bool fragments = job.requests == nullptr;
  if (event.lost) {
    spdlog::warn("episode lost (seed {}): {}", slot.outcome.seed, event.why);
    ++slot.losses;
    slot.steps_left += static_cast<std::int64_t>(slot.trajectory.steps.size());
    fragments ? begin_fragment(job, event.env) : begin(job, event.env);
    return;
  }
  if (replay(slot, event.env)) return;
  const rollout::Period& period = pool_.period(event.env);
  if (!slot.pending) take_in(job, slot, period);
  if (period.done()) {
    end(job, event.env, period);
    fragments ? begin_fragment(job, event.env) : begin(job, event.env);
  } else if (job.driver.policy != nullptr) {
    deciding.push_back(event.env);
  } else {
    pool_.act(event.env, {});
  }
}

/// Repeats what was commanded before, if this simulation has not seen it yet.
bool Collector::replay(Slot& slot, int env) {
  if (slot.replayed >= slot.given.size()) return false;
  pool_.act(env, slot.given[slot.replayed++]);
  return true;
}

void Collector::take_in(Job& job, Slot& slot, const rollout::Period& period) {
  if (job.on_period) job.on_period(slot.request, period);
  env_steps_ += static_cast<std::int64_t>(period.growth.size());
  const double from_s = std::exchange(slot.time_s, period.time_s);
  if (job.driver.reward == nullptr || period.growth.empty()) return;
  ++slot.outcome.steps;
  const std::vector<float> reward = (*job.driver.reward)(slot.outcome.scenario, period, from_s);
  for (const float r : reward) slot.outcome.reward += static_cast<double>(r);
  const std::vector<float> costs = (*job.driver.cost)(period, slot.outcome.score);
  for (const float c : costs) slot.outcome.cost += static_cast<double>(c);
  slot.outcome.score = period.score;
  if (!job.keeps()) return;
  if (!job.driver.experts.empty()) take_over(job, slot, period);
  slot.trajectory.steps.back().reward = reward;
  slot.trajectory.steps.back().cost = costs;
  const double step_s = (period.time_s - from_s) / static_cast<double>(period.growth.size());
  for (const rollout::ControlledVehicle& vehicle : period.controlled) {
    const auto found = slot.charges.find(vehicle.vehicle_id);
    if (found == slot.charges.end()) continue;
    const double cost = step_s * (vehicle.steps * config_.ppo.intervention_cost +
                                  vehicle.hard_brakes * config_.ppo.hard_brake_cost);
    Step& decided_in = slot.trajectory.steps[found->second.step];
    decided_in.own_cost[found->second.decision] += static_cast<float>(cost);
  }
}

void Collector::end(Job& job, int env, const rollout::Period& period) {
  Slot& slot = job.slots.at(env);
  slot.outcome.score = period.score;
  if (job.keeps()) {
    const Perception& perception = *job.driver.perception;
    slot.trajectory.terminated = period.terminated;
    slot.trajectory.final_conflict =
        torch::zeros({perception.conflicts(), perception.widths().conflict});
    if (!period.terminated) {
      observe(job, {env});
      slot.trajectory.final_conflict = slot.pending->conflict;
    }
  }
  if (job.requests == nullptr) {
    job.collected.outcomes.push_back(slot.outcome);
    job.collected.trajectories.push_back(std::move(slot.trajectory));
  } else {
    job.collected.outcomes[slot.request] = slot.outcome;
    if (job.keeps()) job.collected.trajectories[slot.request] = std::move(slot.trajectory);
  }
  slot.running = false;
  slot.losses = 0;
}

/// The fragment has its steps: the episode waits for the next iteration.
void Collector::cut(Job& job, Slot& slot) {
  slot.trajectory.final_conflict = slot.pending->conflict;
  job.collected.trajectories.push_back(std::exchange(slot.trajectory, {}));
  slot.charges.clear();
}

}  // namespace traffic::train
