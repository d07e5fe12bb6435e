#include "offpolicy/acting.h"

#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::train::offpolicy {
namespace {

/// The scores that a network gives to the actions, row by row, on the CPU.
class Scores {
 public:
  Scores(ActingNetwork& acting, const torch::Tensor& obs, std::size_t rows)
      : first_(acting.first_score), num_actions_(static_cast<std::size_t>(acting.num_actions())) {
    TRAFFIC_CHECK(obs.size(0) == static_cast<std::int64_t>(rows),
                  "found {} rows of observations, expected {}", obs.size(0), rows);
    const torch::NoGradGuard no_grad;
    const torch::Device device = acting.network->parameters().front().device();
    values_ = acting.network->forward(obs.to(device)).to(torch::kCPU);
  }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    const float* begin =
        values_.const_data_ptr<float>() + static_cast<std::int64_t>(i) * values_.size(1) + first_;
    return {begin, num_actions_};
  }

 private:
  std::int64_t first_;
  std::size_t num_actions_;
  torch::Tensor values_;
};

std::uint8_t best_action(std::span<const float> scores) {
  return static_cast<std::uint8_t>(std::ranges::max_element(scores) - scores.begin());
}

/// Draws an action with probabilities in proportion to the weights.
std::uint8_t draw_action(std::span<const float> weights, Rng& rng) {
  double total = 0.0;
  for (const float weight : weights) total += static_cast<double>(weight);
  double left = rng.uniform() * total;
  for (std::size_t i = 0; i + 1 < weights.size(); ++i) {
    left -= static_cast<double>(weights[i]);
    if (left < 0.0) return static_cast<std::uint8_t>(i);
  }
  return static_cast<std::uint8_t>(weights.size() - 1);
}

void softmax_of(std::span<const float> scores, std::span<float> out) {
  const float maximum = *std::ranges::max_element(scores);
  float total = 0.0F;
  for (std::size_t i = 0; i < scores.size(); ++i) total += out[i] = std::exp(scores[i] - maximum);
  for (float& probability : out) probability /= total;
}

}  // namespace

void choose_best(ActingNetwork& acting, const torch::Tensor& obs, std::span<std::uint8_t> actions) {
  if (actions.empty()) return;
  const Scores scores(acting, obs, actions.size());
  for (std::size_t i = 0; i < actions.size(); ++i) actions[i] = best_action(scores.row(i));
}

void explore(ActingNetwork& acting, const torch::Tensor& obs, const Exploration& exploration,
             Rng& rng, std::span<std::uint8_t> actions, std::span<float> vectors) {
  const Scores scores(acting, obs, actions.size());
  const auto num_actions = static_cast<std::size_t>(acting.num_actions());
  std::vector<float> own(num_actions);
  for (std::size_t i = 0; i < actions.size(); ++i) {
    const std::span<float> weights =
        vectors.empty() ? std::span(own) : vectors.subspan(i * num_actions, num_actions);
    if (rng.uniform() < exploration.epsilon) {
      for (float& weight : weights) weight = static_cast<float>(rng.uniform());
      actions[i] = draw_action(weights, rng);
    } else if (exploration.samples) {
      softmax_of(scores.row(i), weights);
      actions[i] = draw_action(weights, rng);
    } else {
      actions[i] = best_action(scores.row(i));
    }
  }
}

}  // namespace traffic::train::offpolicy
