/// A decision of a light as a row of numbers, which a replay keeps:
///
///   number of greens | which is shown | features of each of K greens, zeros behind the last
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <functional>

#include "lights/light_histories.h"
#include "policy/light_policy.h"
#include "traffic/replay/segment.h"

namespace traffic::train::lights {

struct RowLayout {
  std::int64_t features = 1;    ///< F, of a green
  std::int64_t max_greens = 8;  ///< K

  [[nodiscard]] std::int64_t width() const { return kFirstGreen + max_greens * features; }
  static constexpr std::int64_t kFirstGreen = 2;
};

/// Rows taken apart. @param rows [B, layout.width()]
LightBatch take_apart(const RowLayout& layout, const torch::Tensor& rows);

/// Over how many decisions a return goes before a value stands for the rest, and the discount of a
/// control period; a decision takes one or several.
struct Return {
  std::int64_t n_step = 1;
  double gamma = 0.95;
  double least_level = 0.05;  ///< of the returns of a light
};
/// Columns of a step's action vector.
enum ReturnColumn : std::int64_t {
  kReturn = 0,
  kDiscount,
  kLevel,  ///< how much the returns of its light vary in its episode: the deviation
  kNumReturnColumns
};

/// Hands over the decisions of all lights, one light's after the other's, each light's last one as
/// an end: what became of it is not known. The return of a decision and the discount of what comes
/// after it are in the action vector; a step's own reward is not used.
/// @throws DataError if a light has more greens than the layout
void for_each_decision(const RowLayout& layout, const std::vector<EpisodeHistory>& episodes,
                       const Return& kind, const std::function<void(const replay::Step&)>& push);

}  // namespace traffic::train::lights
