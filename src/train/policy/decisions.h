/// Decisions on the candidates of a state: which of them, what, and on which lane.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "traffic/scene/action.h"

namespace traffic::train {

inline constexpr std::int64_t kNoCommand = 0;  ///< action: "none" is the first of the commands

/// The lane actions are columns of a head: 0 right, 1 keep, 2 left.
inline constexpr std::int64_t kKeepLane = 1;
constexpr scene::LaneChange lane_change_of(std::int64_t column) {
  return static_cast<scene::LaneChange>(column - kKeepLane);
}

/// In one state, D decisions.
struct DecisionColumns {
  std::vector<std::int64_t> place{};  ///< [D] of the picked among the state's candidates
  std::vector<float> action{};        ///< [D] number of the command, or the raw sample
  std::vector<std::int64_t> lane{};   ///< [D] column of the lane head

  [[nodiscard]] std::size_t size() const { return place.size(); }
};

/// In B states: K picks at most in each, D decisions in all.
struct Decisions {
  torch::Tensor picks;   ///< [B, K] int64: places within the state's candidates, -1: none
  torch::Tensor row;     ///< [D] int64: which of the M candidates of all states
  torch::Tensor action;  ///< [D] float32: number of the command, or the raw sample
  torch::Tensor lane;    ///< [D] int64: column of the lane head
};

}  // namespace traffic::train
