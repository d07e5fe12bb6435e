#include "rollouts/experience.h"

#include "policy/gather.h"
#include "traffic/core/error.h"
#include "traffic/rl/gae.h"

namespace traffic::train {
namespace {

/// Concatenates the rows of the parts. Without parts, a tensor of shape `empty` results.
torch::Tensor join(const std::vector<torch::Tensor>& parts, torch::IntArrayRef empty) {
  return parts.empty() ? torch::empty(empty) : torch::cat(parts);
}

rl::Segments segments(const std::vector<std::int64_t>& ptr) {
  return rl::Segments(torch::tensor(ptr, torch::kLong));
}

/// The columns of an Experience while pack() appends the steps of all trajectories.
struct Columns {
  std::size_t top_k = 0;
  std::vector<torch::Tensor> own, shared, conflict, final_conflict;
  std::vector<std::int64_t> candidate_ptr{0}, decision_ptr{0}, row, state, decision_state,
      decision_conflict, picks, lane;
  std::vector<float> action, own_cost, rewards, costs;
  std::vector<std::uint8_t> decides;
  std::vector<std::int64_t> conflicts;

  void add(const Step& step, std::int64_t global_state) {
    const auto local = static_cast<std::int64_t>(state.size());
    for (const std::int64_t place : step.made.place) {
      row.push_back(candidate_ptr.back() + place);
      decision_state.push_back(local);
    }
    state.push_back(global_state);
    own.push_back(step.seen.own);
    shared.push_back(step.seen.shared);
    conflict.push_back(step.seen.conflict.unsqueeze(0));
    picks.insert(picks.end(), step.made.place.begin(), step.made.place.end());
    picks.resize(state.size() * top_k, -1);
    action.insert(action.end(), step.made.action.begin(), step.made.action.end());
    lane.insert(lane.end(), step.made.lane.begin(), step.made.lane.end());
    candidate_ptr.push_back(candidate_ptr.back() + step.seen.own.size(0));
    decision_ptr.push_back(static_cast<std::int64_t>(row.size()));
    decision_conflict.insert(decision_conflict.end(), step.decision_conflict.begin(),
                             step.decision_conflict.end());
    own_cost.insert(own_cost.end(), step.own_cost.begin(), step.own_cost.end());
    rewards.insert(rewards.end(), step.reward.begin(), step.reward.end());
    costs.insert(costs.end(), step.cost.begin(), step.cost.end());
    decides.push_back(step.selection_decides ? 1 : 0);
    conflicts.push_back(step.conflicts);
  }
};

/// Rows of the chosen decisions in the minibatch. A decision keeps its index among the candidates
/// of its state, but the first candidate of the state has another row in the minibatch.
torch::Tensor rows_within(const Experience& experience, const torch::Tensor& states,
                          const rl::Segments& candidates, const rl::SegmentSubset& decided) {
  torch::Tensor rows = gather(experience.decisions.row, decided.rows);
  auto* row = rows.mutable_data_ptr<std::int64_t>();
  const auto* state = states.const_data_ptr<std::int64_t>();
  const auto* of_decision = decided.segments.index().const_data_ptr<std::int64_t>();
  const auto* before = experience.candidates.ptr().const_data_ptr<std::int64_t>();
  const auto* now = candidates.ptr().const_data_ptr<std::int64_t>();
  for (std::int64_t d = 0; d < rows.numel(); ++d) {
    row[d] += now[of_decision[d]] - before[state[of_decision[d]]];
  }
  return rows;
}

}  // namespace

void note_decisions(Step& step, const DecisionColumns& made) {
  step.made = made;
  step.own_cost.assign(made.size(), 0.0F);
  step.selection_decides =
      made.size() > 0 && step.seen.own.size(0) > static_cast<std::int64_t>(made.size());
}

Experience pack(const std::vector<Trajectory>& trajectories,
                const std::vector<std::int64_t>& first_state, const model::ControllerInputs& widths,
                std::int64_t conflicts, std::int64_t top_k) {
  Columns all;
  all.top_k = static_cast<std::size_t>(top_k);
  std::vector<std::int64_t> trajectory_ptr{0};
  std::vector<bool> terminated;
  std::vector<bool> truncated;
  std::vector<std::int64_t> scenario;
  for (std::size_t t = 0; t < trajectories.size(); ++t) {
    const Trajectory& trajectory = trajectories[t];
    TRAFFIC_CHECK(!trajectory.steps.empty(), "trajectory {} of the batch has no steps",
                  trajectory.order);
    for (std::size_t s = 0; s < trajectory.steps.size(); ++s) {
      all.add(trajectory.steps[s], first_state[t] + static_cast<std::int64_t>(s));
    }
    all.final_conflict.push_back(trajectory.final_conflict.unsqueeze(0));
    trajectory_ptr.push_back(static_cast<std::int64_t>(all.state.size()));
    terminated.push_back(trajectory.terminated);
    truncated.push_back(trajectory.truncated);
    scenario.push_back(trajectory.scenario);
  }
  const auto s = static_cast<std::int64_t>(all.state.size());
  Experience out{.global_state = torch::tensor(all.state, torch::kLong),
                 .own = join(all.own, {0, widths.own}),
                 .shared = join(all.shared, {0, widths.shared}),
                 .candidates = segments(all.candidate_ptr),
                 .decided = segments(all.decision_ptr),
                 .conflict = join(all.conflict, {0, conflicts, widths.conflict}),
                 .final_conflict = join(all.final_conflict, {0, conflicts, widths.conflict}),
                 .decisions = {.picks = torch::tensor(all.picks, torch::kLong).view({s, top_k}),
                               .row = torch::tensor(all.row, torch::kLong),
                               .action = torch::tensor(all.action),
                               .lane = torch::tensor(all.lane, torch::kLong)},
                 .decision_state = torch::tensor(all.decision_state, torch::kLong),
                 .decision_conflict = torch::tensor(all.decision_conflict, torch::kLong),
                 .own_cost = torch::tensor(all.own_cost),
                 .selection_decides = torch::tensor(all.decides).to(torch::kBool),
                 .rewards = torch::tensor(all.rewards).view({s, conflicts}),
                 .exists = torch::arange(conflicts).unsqueeze(0) <
                           torch::tensor(all.conflicts, torch::kLong).unsqueeze(1),
                 .costs = torch::tensor(all.costs).view({s, conflicts}),
                 .trajectory_ptr = std::move(trajectory_ptr),
                 .terminated = std::move(terminated),
                 .truncated = std::move(truncated),
                 .scenario = std::move(scenario)};
  return out;
}

torch::Tensor advantages_of(const Experience& experience, const torch::Tensor& signal,
                            const Expected& values, double gamma, double gae_lambda) {
  std::vector<torch::Tensor> parts;
  for (std::size_t t = 0; t < experience.terminated.size(); ++t) {
    const std::int64_t first = experience.trajectory_ptr[t];
    const std::int64_t n = experience.trajectory_ptr[t + 1] - first;
    const torch::Tensor of_t = values.states.narrow(0, first, n);
    const torch::Tensor last = values.final.narrow(0, static_cast<std::int64_t>(t), 1);
    const torch::Tensor next = torch::cat({of_t.narrow(0, 1, n - 1), last});
    torch::Tensor ends = torch::zeros({n, 1}, torch::kBool);
    ends[n - 1] = true;
    const torch::Tensor never = torch::zeros({n, 1}, torch::kBool);
    const bool terminated = experience.terminated[t];
    parts.push_back(rl::gae({.rewards = signal.narrow(0, first, n).unsqueeze(1),
                             .values = of_t.unsqueeze(1),
                             .next_values = next.unsqueeze(1),
                             .terminated = terminated ? ends : never,
                             .truncated = terminated ? never : ends},
                            gamma, gae_lambda)
                        .squeeze(1));
  }
  return parts.empty() ? torch::zeros_like(values.states) : torch::cat(parts);
}

Minibatch take(const Experience& experience, const torch::Tensor& states, torch::Device device) {
  const auto candidates = rl::select_segments(experience.candidates, states);
  const auto decided = rl::select_segments(experience.decided, states);
  const torch::Tensor chosen = decided.rows;
  const Decisions& all = experience.decisions;
  return {
      .input = {.own = gather(experience.own, candidates.rows).to(device),
                .shared = gather(experience.shared, states).to(device),
                .segments = candidates.segments.on(device)},
      .decisions = {.picks = gather(all.picks, states).to(device),
                    .row = rows_within(experience, states, candidates.segments, decided).to(device),
                    .action = gather(all.action, chosen).to(device),
                    .lane = gather(all.lane, chosen).to(device)},
      .decision_of = chosen,
      .states = states};
}

}  // namespace traffic::train
