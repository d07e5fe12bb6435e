/// A training for the example of docs/design/extending.md. It searches the weights of a linear
/// policy by the cross-entropy method: draw candidates, let each play, move towards the best of
/// them.
///
/// Source: Rubinstein 1999, "The cross-entropy method for combinatorial and continuous
/// optimization". The minimum of the deviation is that of Szita and Lorincz 2006.
#pragma once

#include <cstdint>

#include "traffic/train/run/training.h"

namespace traffic::example {

/// The section [cem] of the configuration.
struct Search {
  std::int64_t iterations = 30;
  std::int64_t population = 64;  ///< number of candidates in an iteration
  double elite_share = 0.2;      ///< share of the candidates that count as the best
  double min_deviation = 0.05;   ///< minimum deviation of the candidates
  std::int64_t episodes = 2;     ///< number of episodes of each candidate
  std::int64_t eval_interval = 5;
  std::int64_t eval_episodes = 20;
};

train::TrainingRow cross_entropy_training();

}  // namespace traffic::example
