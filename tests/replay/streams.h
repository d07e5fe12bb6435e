/// Streams with numbers from which a test can see the stream and the step.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/replay/replay.h"

namespace traffic::replay {

/// In step t stream s observes (t, s), takes action t modulo 4 and gets reward t. Its episode ends
/// at every step t for which (t + s) modulo `episode` is `episode` - 1.
class Streams {
 public:
  Streams(const SegmentShape& shape, std::int64_t episode) : shape_(shape), episode_(episode) {}

  [[nodiscard]] bool ends(std::int64_t t, std::int64_t s) const {
    return (t + s) % episode_ == episode_ - 1;
  }
  /// Pushes the next step of all streams to the replay.
  void push_to(Replay& replay) {
    const auto n = static_cast<std::size_t>(shape_.streams);
    std::vector<float> obs(n * static_cast<std::size_t>(shape_.obs_dim));
    std::vector<float> vectors(n * static_cast<std::size_t>(shape_.action_dim));
    std::vector<float> rewards(n);
    std::vector<std::uint8_t> actions(n);
    std::vector<std::uint8_t> ended(n);
    for (std::size_t s = 0; s < n; ++s) {
      obs[s * static_cast<std::size_t>(shape_.obs_dim)] = static_cast<float>(t_);
      obs[s * static_cast<std::size_t>(shape_.obs_dim) + 1] = static_cast<float>(s);
      if (shape_.action_dim > 0) {
        vectors[s * static_cast<std::size_t>(shape_.action_dim)] = static_cast<float>(t_ % 7);
      }
      rewards[s] = static_cast<float>(t_);
      actions[s] = static_cast<std::uint8_t>(t_ % 4);
      ended[s] = ends(t_, static_cast<std::int64_t>(s)) ? 1 : 0;
    }
    replay.push({.obs = obs,
                 .actions = actions,
                 .action_vectors = vectors,
                 .rewards = rewards,
                 .ends = ended});
    ++t_;
  }
  void push_to(Replay& replay, int steps) {
    for (int i = 0; i < steps; ++i) push_to(replay);
  }
  /// Skips steps without pushing them.
  void skip(std::int64_t steps) { t_ += steps; }

 private:
  SegmentShape shape_;
  std::int64_t episode_;
  std::int64_t t_ = 0;
};

/// A batch with memory of its own.
struct Batch {
  Batch(const SegmentShape& shape, std::size_t count)
      : obs(count * static_cast<std::size_t>(shape.obs_dim)),
        actions(count),
        action_vectors(count * static_cast<std::size_t>(shape.action_dim)),
        returns(count),
        discounts(count),
        next_obs(obs.size()) {}
  [[nodiscard]] Transitions rows() {
    return {.obs = obs,
            .actions = actions,
            .action_vectors = action_vectors,
            .returns = returns,
            .discounts = discounts,
            .next_obs = next_obs};
  }
  bool operator==(const Batch&) const = default;

  std::vector<float> obs;
  std::vector<std::int64_t> actions;
  std::vector<float> action_vectors;
  std::vector<float> returns;
  std::vector<float> discounts;
  std::vector<float> next_obs;
};

}  // namespace traffic::replay
