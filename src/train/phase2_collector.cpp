#include "phase2_collector.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/rl/uniforms.h"

namespace traffic::train {
namespace {

constexpr std::uint64_t kRetryStream = 21;

}  // namespace

Reward::Reward(const rl::BaselineCurve& baseline, double expected_demand, double scale)
    : baseline_(baseline), scale_(scale / std::max(1.0, expected_demand)) {}

std::vector<float> Reward::operator()(const rollout::Period& period, double from_s) const {
  const auto conflicts = static_cast<std::size_t>(baseline_.conflicts());
  const double end = baseline_.duration_s();
  std::vector<float> rewards;
  for (std::size_t c = 0; c < conflicts; ++c) {
    double growth = 0.0;
    for (std::size_t s = 0; s < period.growth.size(); ++s) {
      growth += conflicts == 1 ? period.growth[s] : period.conflict_growth[s * conflicts + c];
    }
    const double expected = baseline_.growth(std::min(from_s, end), std::min(period.time_s, end),
                                             static_cast<std::int64_t>(c));
    rewards.push_back(static_cast<float>(scale_ * (growth - expected)));
  }
  return rewards;
}

struct Collector::Job {
  const std::vector<EpisodeRequest>& requests;
  std::function<void(std::size_t, const rollout::Period&)> on_period;
  Driver driver;  ///< without a policy: uncontrolled
  std::size_t next = 0;
  std::map<int, Slot> slots{};
  Collected collected{};

  [[nodiscard]] bool keeps() const { return driver.sampling_seed.has_value(); }
};

std::vector<EpisodeOutcome> Collector::run_uncontrolled(
    const std::vector<EpisodeRequest>& requests,
    const std::function<void(std::size_t, const rollout::Period&)>& on_period) {
  Job job{.requests = requests, .on_period = on_period, .driver = {}};
  drive(job);
  return std::move(job.collected.outcomes);
}

Collector::Collected Collector::run(const std::vector<EpisodeRequest>& requests,
                                    const Driver& driver) {
  Job job{.requests = requests, .on_period = {}, .driver = driver};
  drive(job);
  return std::move(job.collected);
}

void Collector::drive(Job& job) {
  job.collected.outcomes.resize(job.requests.size());
  if (job.keeps()) job.collected.trajectories.resize(job.requests.size());
  for (const int env : pool_.my_envs()) begin(job, env);
  bool any = true;
  while (any) {
    any = false;
    for (const auto& group : pool_.groups()) {
      const bool busy =
          std::any_of(group.begin(), group.end(), [this](int env) { return pool_.busy(env); });
      if (!busy) continue;
      any = true;
      std::vector<rollout::Event> events;
      {
        const auto waiting = time_split_.measure(report::Share::kSimulate);
        events = pool_.wait_all(group);
      }
      const auto inferring = time_split_.measure(report::Share::kInfer);
      std::vector<int> deciding;
      for (const rollout::Event& event : events) handle(job, event, deciding);
      if (!deciding.empty()) decide(job, deciding);
    }
  }
}

void Collector::begin(Job& job, int env) {
  Slot& slot = job.slots[env];
  if (!slot.request) {
    if (job.next == job.requests.size()) return;
    slot = Slot{.request = job.next++};
  }
  const EpisodeRequest& request = job.requests[*slot.request];
  std::uint64_t seed = request.seed;
  if (slot.losses > 0) {
    seed = derive_seed(seed, {kRetryStream, static_cast<std::uint64_t>(slot.losses)});
  }
  slot = Slot{.request = slot.request, .losses = slot.losses};
  slot.outcome.order = request.order;
  slot.outcome.seed = seed;
  slot.trajectory.order = request.order;
  const bool controlled = job.driver.policy != nullptr;
  pool_.start_episode(env,
                      {.seed = seed, .controller = controlled ? "" : "none", .frames = controlled});
}

void Collector::handle(Job& job, const rollout::Event& event, std::vector<int>& deciding) {
  Slot& slot = job.slots.at(event.env);
  if (event.lost) {
    ++lost_episodes_;
    ++slot.losses;
    spdlog::warn("episode lost (seed {}): {}", slot.outcome.seed, event.why);
    begin(job, event.env);
    return;
  }
  const rollout::Period& period = pool_.period(event.env);
  take_in(job, slot, period);
  if (period.done()) {
    end(job, event.env, period);
  } else if (job.driver.policy != nullptr) {
    deciding.push_back(event.env);
  } else {
    pool_.act(event.env, {});
  }
}

void Collector::take_in(Job& job, Slot& slot, const rollout::Period& period) {
  if (job.on_period) job.on_period(*slot.request, period);
  env_steps_ += static_cast<std::int64_t>(period.growth.size());
  const double from_s = std::exchange(slot.time_s, period.time_s);
  if (job.driver.reward == nullptr || period.growth.empty()) return;
  ++slot.outcome.steps;
  const std::vector<float> reward = (*job.driver.reward)(period, from_s);
  for (const float r : reward) slot.outcome.reward += static_cast<double>(r);
  if (!job.keeps()) return;
  slot.trajectory.steps.back().reward = reward;
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
    slot.trajectory.terminated = period.terminated;
    const auto& widths = job.driver.perception->widths();
    slot.trajectory.final_conflict =
        torch::zeros({job.driver.perception->conflicts(), widths.conflict});
    if (!period.terminated) {
      const Sighting last{.period = &period, .memory = &slot.memory};
      slot.trajectory.final_conflict =
          job.driver.perception->observe(std::span(&last, 1)).conflict[0];
    }
    job.collected.trajectories[*slot.request] = std::move(slot.trajectory);
  }
  job.collected.outcomes[*slot.request] = slot.outcome;
  slot = Slot{};
  begin(job, env);
}

void Collector::decide(Job& job, const std::vector<int>& envs) {
  std::vector<Sighting> sightings;
  std::vector<std::int64_t> may_pick;
  std::vector<torch::Tensor> uniforms;
  const Policy& policy = *job.driver.policy;
  for (const int env : envs) {
    Slot& slot = job.slots.at(env);
    const rollout::Period& period = pool_.period(env);
    sightings.push_back({.period = &period, .memory = &slot.memory});
    may_pick.push_back(std::max<std::int64_t>(0, policy.top_k() - count_committed(period)));
    if (job.keeps()) {
      // A stream for each step of each episode: nothing depends on which simulations share a batch.
      Rng rng(derive_seed(*job.driver.sampling_seed,
                          {static_cast<std::uint64_t>(slot.outcome.order),
                           static_cast<std::uint64_t>(slot.trajectory.steps.size())}));
      uniforms.push_back(rl::draw_uniforms(
          rng, {static_cast<std::int64_t>(period.candidates.size()), policy.uniform_columns()}));
    }
  }
  const ObservationBatch seen = job.driver.perception->observe(sightings);
  const torch::Device device = policy.device();
  const PolicyInput input{.own = seen.own.to(device),
                          .shared = seen.shared.to(device),
                          .segments = rl::Segments(torch::tensor(seen.candidate_ptr), device)};
  MaybeUniforms random;
  if (job.keeps()) random = torch::cat(uniforms).to(device);
  Decisions made = job.driver.policy->decide(input, torch::tensor(may_pick).to(device), random);
  made.picks = made.picks.to(torch::kCPU);
  made.action = made.action.to(torch::kCPU);
  made.lane = made.lane.to(torch::kCPU);
  std::int64_t first = 0;
  for (std::size_t b = 0; b < envs.size(); ++b) {
    const auto row = static_cast<std::int64_t>(b);
    const std::int64_t n = (made.picks[row] >= 0).sum().item<std::int64_t>();
    act(job, envs[b], seen, row,
        {.picks = made.picks.narrow(0, row, 1),
         .row = {},
         .action = made.action.narrow(0, first, n),
         .lane = made.lane.narrow(0, first, n)});
    first += n;
  }
}

void Collector::act(Job& job, int env, const ObservationBatch& seen, std::int64_t b,
                    const Decisions& decisions) {
  Slot& slot = job.slots.at(env);
  const rollout::Period& period = pool_.period(env);
  const rollout::FrameView& frame = period.frames.back();
  const Policy& policy = *job.driver.policy;
  const bool per_conflict = job.driver.perception->conflicts() > 1;
  Step step;
  std::vector<scene::Command> commands;
  const auto* picks = decisions.picks.const_data_ptr<std::int64_t>();
  for (std::int64_t d = 0; d < decisions.action.numel(); ++d) {
    const rollout::Candidate& candidate = period.candidates[static_cast<std::size_t>(picks[d])];
    step.place.push_back(picks[d]);
    step.decision_conflict.push_back(per_conflict ? candidate.conflict : 0);
    step.own_cost.push_back(0.0F);
    const auto command = policy.command(frame, candidate, decisions.action[d].item<float>(),
                                        decisions.lane[d].item<std::int64_t>());
    const std::uint32_t vehicle = frame.vehicle_id[static_cast<std::size_t>(candidate.node)];
    slot.charges.erase(vehicle);
    if (!command) continue;
    commands.push_back(*command);
    slot.charges[vehicle] = {.step = slot.trajectory.steps.size(),
                             .decision = step.place.size() - 1};
  }
  if (job.keeps()) {
    const auto at = static_cast<std::size_t>(b);
    const std::int64_t m = seen.candidate_ptr[at + 1] - seen.candidate_ptr[at];
    step.own = seen.own.narrow(0, seen.candidate_ptr[at], m);
    step.shared = seen.shared.narrow(0, b, 1);
    step.conflict = seen.conflict[b];
    step.picks = decisions.picks;
    step.action = decisions.action;
    step.lane = decisions.lane;
    step.selection_decides = decisions.action.numel() > 0 && m > decisions.action.numel();
    slot.trajectory.steps.push_back(std::move(step));
  }
  pool_.act(env, commands);
}

}  // namespace traffic::train
