/// From answers of simulations to commands for them.
#include <algorithm>
#include <utility>

#include "rollouts/collector_job.h"
#include "traffic/core/random.h"
#include "traffic/rl/uniforms.h"

namespace traffic::train {

void Collector::observe(Job& job, const std::vector<int>& envs) {
  std::vector<Sighting> sightings;
  std::vector<Slot*> of;
  for (const int env : envs) {
    Slot& slot = job.slots.at(env);
    if (slot.pending) continue;
    sightings.push_back({.period = &pool_.period(env), .memory = &slot.memory});
    of.push_back(&slot);
  }
  if (of.empty()) return;
  const ObservationBatch seen = job.driver.perception->observe(sightings);
  for (std::size_t b = 0; b < of.size(); ++b) {
    of[b]->pending = part_of(seen, static_cast<std::int64_t>(b));
  }
}

void Collector::decide(Job& job, std::vector<int> envs) {
  observe(job, envs);
  if (job.requests == nullptr) {
    std::erase_if(envs, [&](int env) {
      Slot& slot = job.slots.at(env);
      if (slot.steps_left > 0) return false;
      cut(job, slot);
      return true;
    });
    if (envs.empty()) return;
  }
  if (!job.driver.experts.empty()) {
    for (const int env : envs) follow(job, env);
    return;
  }
  Policy& policy = *job.driver.policy;
  std::vector<torch::Tensor> own;
  std::vector<torch::Tensor> shared;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int64_t> may_pick;
  for (const int env : envs) {
    const Seen& seen = *job.slots.at(env).pending;
    own.push_back(seen.own);
    shared.push_back(seen.shared);
    ptr.push_back(ptr.back() + seen.own.size(0));
    may_pick.push_back(job.may_pick(pool_.period(env)));
  }
  const torch::Device device = policy.device();
  const Decisions made = policy.decide({.own = torch::cat(own).to(device),
                                        .shared = torch::cat(shared).to(device),
                                        .segments = rl::Segments(torch::tensor(ptr), device)},
                                       torch::tensor(may_pick), draw(job, envs, ptr));
  const auto* picks = made.picks.const_data_ptr<std::int64_t>();
  const auto* action = made.action.const_data_ptr<float>();
  const auto* lane = made.lane.const_data_ptr<std::int64_t>();
  for (const int env : envs) {
    const auto count =
        static_cast<std::size_t>(std::find(picks, picks + policy.top_k(), -1) - picks);
    act(job, env, {.place = {picks, count}, .action = {action, count}, .lane = {lane, count}});
    picks += policy.top_k();
    action += count;
    lane += count;
  }
}

/// Random numbers of the candidates; none where decisions are greedy.
MaybeUniforms Collector::draw(const Job& job, const std::vector<int>& envs,
                              const std::vector<std::int64_t>& candidate_ptr) const {
  if (!job.keeps()) return std::nullopt;
  const std::int64_t columns = job.driver.policy->uniform_columns();
  torch::Tensor uniforms = torch::empty({candidate_ptr.back(), columns});
  auto* to = uniforms.mutable_data_ptr<float>();
  for (std::size_t b = 0; b < envs.size(); ++b) {
    // A stream for each step of each episode: nothing depends on which simulations share a batch.
    const Slot& slot = job.slots.at(envs[b]);
    Rng rng(derive_seed(slot.sampling_seed, {static_cast<std::uint64_t>(slot.outcome.steps)}));
    const auto count =
        static_cast<std::size_t>((candidate_ptr[b + 1] - candidate_ptr[b]) * columns);
    rl::fill_uniforms(rng, {to, count});
    to += count;
  }
  return uniforms;
}

void Collector::act(Job& job, int env, const DecisionsOfState& made) {
  Slot& slot = job.slots.at(env);
  const rollout::Period& period = pool_.period(env);
  const rollout::FrameView& frame = period.frames.back();
  std::vector<std::int64_t> decision_conflict;
  std::vector<scene::Command> commands;
  for (std::size_t d = 0; d < made.place.size(); ++d) {
    const auto& candidate = period.candidates[static_cast<std::size_t>(made.place[d])];
    decision_conflict.push_back(job.credited(candidate));
    const std::uint32_t vehicle = frame.vehicle_id[static_cast<std::size_t>(candidate.node)];
    slot.charges.erase(vehicle);
    const auto command = job.driver.policy->command(frame, candidate, made.action[d], made.lane[d]);
    if (!command) continue;
    commands.push_back(*command);
    slot.charges[vehicle] = {.step = slot.trajectory.steps.size(), .decision = d};
  }
  if (job.keeps()) {
    Step step = job.begin_step(std::move(*slot.pending), period);
    step.decision_conflict = std::move(decision_conflict);
    note_decisions(step, made);
    slot.trajectory.steps.push_back(std::move(step));
  }
  slot.pending.reset();
  if (job.requests == nullptr) {
    --slot.steps_left;
    slot.given.push_back(commands);
    slot.replayed = slot.given.size();
  }
  pool_.act(env, commands);
}

}  // namespace traffic::train
