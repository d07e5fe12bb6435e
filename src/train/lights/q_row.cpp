#include "lights/q_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::train::lights {
namespace {

/// The n-step return of a decision of a traffic light.
struct ReturnOfDecision {
  double sum = 0.0;       ///< sum of rewards, discounted to the decision
  double discount = 1.0;  ///< factor on the value of the state after these rewards
};

/// The return over n_step decisions, beginning with `decision`. At the end of the history, it is
/// the return over the decisions that are left.
ReturnOfDecision return_from(const LightHistory& light, std::size_t decision, const Return& kind) {
  ReturnOfDecision found;
  const std::size_t end =
      std::min(light.chosen.size(), decision + static_cast<std::size_t>(kind.n_step));
  for (std::size_t i = decision; i < end; ++i) {
    found.sum += found.discount * static_cast<double>(light.reward[i]);
    found.discount *= std::pow(kind.gamma, static_cast<double>(light.periods[i]));
  }
  return found;
}

/// Standard deviation of the returns of a light, at least `least`.
double level_of(const std::vector<ReturnOfDecision>& returns, double least) {
  double sum = 0.0;
  double squares = 0.0;
  for (const ReturnOfDecision& one : returns) {
    sum += one.sum;
    squares += one.sum * one.sum;
  }
  const double count = std::max(1.0, static_cast<double>(returns.size()));
  const double mean = sum / count;
  return std::max(least, std::sqrt(std::max(0.0, squares / count - mean * mean)));
}

void push_light(const RowLayout& layout, const LightHistory& light, const Return& kind,
                const std::function<void(const replay::Step&)>& push) {
  std::vector<float> row(static_cast<std::size_t>(layout.width()));
  const float* features = light.rows.data();
  std::vector<ReturnOfDecision> returns;
  for (std::size_t i = 0; i < light.chosen.size(); ++i)
    returns.push_back(return_from(light, i, kind));
  const double level = level_of(returns, kind.least_level);
  for (std::size_t i = 0; i < light.chosen.size(); ++i) {
    const std::int64_t greens = light.greens[i];
    if (greens > layout.max_greens) {
      throw DataError(
          "a traffic light has {} greens, but the replay has room for {}; set lights.max_greens to "
          "at least {}",
          greens, layout.max_greens, greens);
    }
    std::ranges::fill(row, 0.0F);
    row[0] = static_cast<float>(greens);
    row[1] = static_cast<float>(light.present[i]);
    const float* end = features + greens * layout.features;
    std::copy(features, end, row.begin() + RowLayout::kFirstGreen);
    features = end;
    const std::array vector{static_cast<float>(returns[i].sum),
                            static_cast<float>(returns[i].discount), static_cast<float>(level)};
    static_assert(vector.size() == kNumReturnColumns);
    const auto action = static_cast<std::uint8_t>(light.chosen[i]);
    const float no_reward = 0.0F;
    const std::uint8_t is_end = i + 1 == light.chosen.size() ? replay::kTruncated : replay::kGoesOn;
    push({.obs = row,
          .actions = std::span(&action, 1),
          .action_vectors = vector,
          .rewards = std::span(&no_reward, 1),
          .ends = std::span(&is_end, 1)});
  }
}

}  // namespace

LightBatch take_apart(const RowLayout& layout, const torch::Tensor& rows) {
  const torch::Tensor greens = rows.select(1, 0).to(torch::kLong);
  const torch::Tensor ptr = torch::cat({torch::zeros({1}, torch::kLong), greens.cumsum(0)});
  const torch::Tensor is_there =
      torch::arange(layout.max_greens).unsqueeze(0).lt(greens.unsqueeze(1));  // [B, K]
  const torch::Tensor features = rows.slice(1, RowLayout::kFirstGreen)
                                     .reshape({rows.size(0) * layout.max_greens, layout.features})
                                     .index_select(0, is_there.flatten().nonzero().squeeze(1));
  return {.rows = features,
          .present = ptr.slice(0, 0, -1) + rows.select(1, 1).to(torch::kLong),
          .lights = rl::Segments(ptr)};
}

void for_each_decision(const RowLayout& layout, const std::vector<EpisodeHistory>& episodes,
                       const Return& kind, const std::function<void(const replay::Step&)>& push) {
  for (const EpisodeHistory& episode : episodes) {
    for (const LightHistory& light : episode.lights) push_light(layout, light, kind, push);
  }
}

}  // namespace traffic::train::lights
