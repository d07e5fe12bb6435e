/// From answers of simulations to commands for them.
#include <algorithm>
#include <utility>

#include "rollouts/collection.h"
#include "traffic/core/random.h"
#include "traffic/rl/uniforms.h"

namespace traffic::train {

void Collector::observe(Collection& collection, const std::vector<int>& envs) {
  std::vector<ObservationInput> sightings;
  std::vector<EpisodeState*> of;
  for (const int env : envs) {
    EpisodeState& state = collection.states.at(env);
    if (state.pending) continue;
    sightings.push_back({.period = &pool_.period(env), .memory = &state.memory});
    of.push_back(&state);
  }
  if (of.empty()) return;
  const ObservationBatch seen = collection.driver.perception->observe(sightings);
  for (std::size_t b = 0; b < of.size(); ++b) {
    of[b]->pending = part_of(seen, static_cast<std::int64_t>(b));
  }
}

void Collector::decide(Collection& collection, std::vector<int> envs) {
  observe(collection, envs);
  if (collection.requests == nullptr) {
    std::erase_if(envs, [&](int env) {
      EpisodeState& state = collection.states.at(env);
      if (state.steps_left > 0) return false;
      cut(collection, state);
      return true;
    });
    if (envs.empty()) return;
  }
  if (!collection.driver.experts.empty()) {
    for (const int env : envs) follow(collection, env);
    return;
  }
  Policy& policy = *collection.driver.policy;
  std::vector<torch::Tensor> own;
  std::vector<torch::Tensor> shared;
  std::vector<std::int64_t> ptr{0};
  std::vector<std::int64_t> may_pick;
  for (const int env : envs) {
    const Observation& seen = *collection.states.at(env).pending;
    own.push_back(seen.own);
    shared.push_back(seen.shared);
    ptr.push_back(ptr.back() + seen.own.size(0));
    may_pick.push_back(collection.may_pick(pool_.period(env)));
  }
  const torch::Device device = policy.device();
  const Decisions made = policy.decide({.own = torch::cat(own).to(device),
                                        .shared = torch::cat(shared).to(device),
                                        .segments = rl::Segments(torch::tensor(ptr), device)},
                                       torch::tensor(may_pick), draw(collection, envs, ptr));
  const auto* picks = made.picks.const_data_ptr<std::int64_t>();
  const auto* action = made.action.const_data_ptr<float>();
  const auto* lane = made.lane.const_data_ptr<std::int64_t>();
  for (const int env : envs) {
    const auto count =
        static_cast<std::size_t>(std::find(picks, picks + policy.top_k(), -1) - picks);
    act(collection, env,
        {.place = {picks, count}, .action = {action, count}, .lane = {lane, count}});
    picks += policy.top_k();
    action += count;
    lane += count;
  }
}

/// Random numbers of the candidates; none where decisions are greedy.
MaybeUniforms Collector::draw(const Collection& collection, const std::vector<int>& envs,
                              const std::vector<std::int64_t>& candidate_ptr) const {
  if (!collection.keeps()) return std::nullopt;
  const std::int64_t columns = collection.driver.policy->uniform_columns();
  torch::Tensor uniforms = torch::empty({candidate_ptr.back(), columns});
  auto* to = uniforms.mutable_data_ptr<float>();
  for (std::size_t b = 0; b < envs.size(); ++b) {
    // A stream for each step of each episode: nothing depends on which simulations share a batch.
    const EpisodeState& state = collection.states.at(envs[b]);
    Rng rng(derive_seed(state.sampling_seed, {static_cast<std::uint64_t>(state.outcome.steps)}));
    const auto count =
        static_cast<std::size_t>((candidate_ptr[b + 1] - candidate_ptr[b]) * columns);
    rl::fill_uniforms(rng, {to, count});
    to += count;
  }
  return uniforms;
}

void Collector::act(Collection& collection, int env, const DecisionsOfState& made) {
  EpisodeState& state = collection.states.at(env);
  const rollout::Period& period = pool_.period(env);
  const rollout::FrameView& frame = period.frames.back();
  std::vector<std::int64_t> decision_conflict;
  std::vector<scene::Command> commands;
  for (std::size_t d = 0; d < made.place.size(); ++d) {
    const auto& candidate = period.candidates[static_cast<std::size_t>(made.place[d])];
    decision_conflict.push_back(collection.credited(candidate));
    const std::uint32_t vehicle = frame.vehicle_id[static_cast<std::size_t>(candidate.node)];
    state.charges.erase(vehicle);
    const auto command =
        collection.driver.policy->command(frame, candidate, made.action[d], made.lane[d]);
    if (!command) continue;
    commands.push_back(*command);
    state.charges[vehicle] = {.step = state.trajectory.steps.size(), .decision = d};
  }
  if (collection.keeps()) {
    Step step = collection.begin_step(std::move(*state.pending), period);
    step.decision_conflict = std::move(decision_conflict);
    note_decisions(step, made);
    state.trajectory.steps.push_back(std::move(step));
  }
  state.pending.reset();
  if (collection.requests == nullptr) {
    --state.steps_left;
    state.given.push_back(commands);
    state.replayed = state.given.size();
  }
  pool_.act(env, commands);
}

}  // namespace traffic::train
