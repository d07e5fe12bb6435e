/// Converts between decisions of traffic lights and rows of a replay, for Q-learning. A row
/// contains, in this order:
///
///   number of greens | index of the present green | features of the greens, padded to K greens
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>

#include "lights/light_histories.h"
#include "policy/light_policy.h"
#include "traffic/replay/segment.h"

namespace traffic::train::lights {

/// The sizes of a row.
struct RowLayout {
  std::int64_t features = 1;    ///< F: number of features of a green
  std::int64_t max_greens = 8;  ///< K: maximum number of greens of a light

  [[nodiscard]] std::int64_t width() const { return kFirstGreen + max_greens * features; }
  static constexpr std::int64_t kFirstGreen = 2;
};

/// Converts rows back into observations.
/// @param rows [B, layout.width()]
LightBatch take_apart(const RowLayout& layout, const torch::Tensor& rows);

/// How the return of a decision is computed: the discounted sum of the rewards of n_step decisions.
/// One or more control periods pass between two decisions of a light.
struct Return {
  std::int64_t n_step = 1;    ///< number of decisions whose rewards are summed
  double gamma = 0.95;        ///< discount of a control period
  double least_level = 0.05;  ///< lower bound of kLevel, in units of the reward
};
/// Columns of a step's action vector.
enum ReturnColumn : std::int64_t {
  kReturn = 0,  ///< discounted sum of rewards
  kDiscount,    ///< factor on the value of the state after these rewards
  kLevel,       ///< standard deviation of the light's returns in its episode
  kNumReturnColumns
};

/// Passes the decisions of all lights to `push`, light by light in the order of time. The last
/// decision of a light is marked kTruncated, because its reward is incomplete. The columns of a
/// step's action vector are those of ReturnColumn; the reward of the step is unused and 0.
/// @throws DataError if a light has more greens than the layout has room for
void for_each_decision(const RowLayout& layout, const std::vector<EpisodeHistory>& episodes,
                       const Return& kind, const std::function<void(const replay::Step&)>& push);

}  // namespace traffic::train::lights
