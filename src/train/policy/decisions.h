/// The decisions of a policy of vehicles: which candidates it picks in a state, and their commands
/// and lane changes. Candidates are the vehicles that may get a command.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "traffic/scene/action.h"

namespace traffic::train {

inline constexpr std::int64_t kNoCommand = 0;  ///< index of the command "none"

/// Lane actions are columns of the lane head, the output of the network for lane changes:
/// 0 right, 1 keep, 2 left.
inline constexpr std::int64_t kKeepLane = 1;
constexpr scene::LaneChange lane_change_of(std::int64_t column) {
  return static_cast<scene::LaneChange>(column - kKeepLane);
}

/// The D decisions in one state.
struct DecisionColumns {
  /// [D] index of the picked candidate among the candidates of the state.
  std::vector<std::int64_t> place{};
  std::vector<float> action{};       ///< [D] index of the command, or sample of a continuous one
  std::vector<std::int64_t> lane{};  ///< [D] column of the lane head

  [[nodiscard]] std::size_t size() const { return place.size(); }
};

/// The D decisions in B states, at most K in each.
struct Decisions {
  /// [B, K] int64: indices among the state's candidates; -1 where there is no pick.
  torch::Tensor picks;
  torch::Tensor row;     ///< [D] int64: index among the M candidates of all states
  torch::Tensor action;  ///< [D] float32: index of the command, or sample of a continuous command
                         ///< before it is bounded (rl::BoundedGaussian)
  torch::Tensor lane;    ///< [D] int64: column of the lane head
};

}  // namespace traffic::train
