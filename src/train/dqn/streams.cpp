#include "dqn/streams.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train::dqn {
namespace {

std::span<const float> row_at(const torch::Tensor& x, std::int64_t row, std::int64_t width) {
  return {x.const_data_ptr<float>() + row * width, static_cast<std::size_t>(width)};
}

}  // namespace

FragmentStreams::FragmentStreams(const RowLayout& layout, std::span<const int> envs,
                                 std::int64_t conflicts)
    : layout_(layout),
      envs_(envs.begin(), envs.end()),
      conflicts_(conflicts),
      actions_(static_cast<std::size_t>(std::ssize(envs) * conflicts)) {}

std::vector<std::int64_t> FragmentStreams::ids() const {
  std::vector<std::int64_t> all;
  for (const int env : envs_) {
    for (std::int64_t c = 0; c < conflicts_; ++c) all.push_back(env * conflicts_ + c);
  }
  return all;
}

void FragmentStreams::for_each(const Experience& experience, std::int64_t steps,
                               const std::function<void(const replay::Step&)>& push) {
  TRAFFIC_CHECK(experience.num_states() == steps * std::ssize(envs_),
                "found {} states of {} simulations, expected {} states of each",
                experience.num_states(), envs_.size(), steps);
  steps_ = steps;
  const auto streams = static_cast<std::size_t>(num_streams());
  const std::size_t all = static_cast<std::size_t>(steps) * streams;
  const auto width = static_cast<std::size_t>(layout_.width());
  const auto places = static_cast<std::size_t>(layout_.places);
  rows_.resize(all * width);
  chosen_.assign(all * places, 0.0F);
  rewards_.resize(all);
  ends_.assign(all, 0);
  write_states(experience);
  note_ends(experience);
  for (std::size_t first = 0; first < all; first += streams) {
    push({.obs = std::span(rows_).subspan(first * width, streams * width),
          .actions = actions_,
          .action_vectors = std::span(chosen_).subspan(first * places, streams * places),
          .rewards = std::span(rewards_).subspan(first, streams),
          .ends = std::span(ends_).subspan(first, streams)});
  }
}

/// Writes the rows (states with decisions) and rewards of all streams. Each decision gets the
/// rewards of one conflict. The decision and its own cost go to the stream of this conflict.
void FragmentStreams::write_states(const Experience& in) {
  const auto* number = in.global_state.const_data_ptr<std::int64_t>();
  const auto* decided = in.decided.ptr().const_data_ptr<std::int64_t>();
  const auto* of_conflict = in.decision_conflict.const_data_ptr<std::int64_t>();
  const auto* candidate = in.decisions.row.const_data_ptr<std::int64_t>();
  const auto* action = in.decisions.action.const_data_ptr<float>();
  const auto* own_cost = in.own_cost.const_data_ptr<float>();
  const auto* reward = in.rewards.const_data_ptr<float>();
  const auto width = static_cast<std::size_t>(layout_.width());
  place_of_.clear();
  for (std::int64_t s = 0; s < in.num_states(); ++s) {
    const auto env = static_cast<int>(number[s] / steps_);
    const auto found = std::ranges::lower_bound(envs_, env);
    TRAFFIC_CHECK(found != envs_.end() && *found == env,
                  "simulation {} of a state is not one of this rank", env);
    const std::int64_t step = number[s] % steps_;
    const std::int64_t at = found - envs_.begin();
    place_of_.push_back(step * std::ssize(envs_) + at);
    for (std::int64_t c = 0; c < conflicts_; ++c) {
      const std::size_t row = row_of(step, static_cast<std::size_t>(at * conflicts_ + c));
      RowWriter writer(layout_, row_at(in.conflict, s * conflicts_ + c, layout_.widths.conflict),
                       row_at(in.shared, s, layout_.widths.shared),
                       std::span(rows_).subspan(row * width, width));
      rewards_[row] = reward[s * conflicts_ + c];
      for (std::int64_t d = decided[s]; d < decided[s + 1]; ++d) {
        if (of_conflict[d] != c) continue;
        const std::int64_t place =
            writer.add_decision(row_at(in.own, candidate[d], layout_.widths.own));
        chosen_[row * static_cast<std::size_t>(layout_.places) + static_cast<std::size_t>(place)] =
            action[d];
        rewards_[row] -= own_cost[d];
      }
    }
  }
}

/// Marks the last steps of episodes. A trajectory that was neither terminated nor truncated
/// continues in the next fragment.
void FragmentStreams::note_ends(const Experience& in) {
  for (std::size_t t = 0; t < in.terminated.size(); ++t) {
    const std::int64_t place = place_of_[static_cast<std::size_t>(in.trajectory_ptr[t + 1] - 1)];
    const std::int64_t step = place / std::ssize(envs_);
    if (!in.terminated[t] && !in.truncated[t]) continue;
    const auto end = in.terminated[t] ? replay::kTerminated : replay::kTruncated;
    const std::int64_t env = place % std::ssize(envs_);
    for (std::int64_t c = 0; c < conflicts_; ++c) {
      ends_[row_of(step, static_cast<std::size_t>(env * conflicts_ + c))] = end;
    }
  }
}

}  // namespace traffic::train::dqn
