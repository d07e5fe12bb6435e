#include "ppo/scenario_weights.h"

#include <algorithm>

namespace traffic::train {

torch::Tensor scenario_weights(const Experience& experience, std::int64_t scenarios,
                               comm::Communicator& communicator) {
  torch::Tensor weights = torch::ones({experience.num_states()});
  if (scenarios == 1) return weights;
  torch::Tensor counts = torch::zeros({2, scenarios}, torch::kDouble);  // episodes, decisions
  auto count = counts.accessor<double, 2>();
  const auto decided = experience.decided.ptr().accessor<std::int64_t, 1>();
  const auto& ptr = experience.trajectory_ptr;
  for (std::size_t t = 0; t < experience.scenario.size(); ++t) {
    const std::int64_t scenario = experience.scenario[t];
    count[0][scenario] += 1.0;
    count[1][scenario] += static_cast<double>(decided[ptr[t + 1]] - decided[ptr[t]]);
  }
  communicator.all_reduce(counts);
  const torch::Tensor sums = counts.sum(1);
  const double of_an_episode = sums[1].item<double>() / std::max(1.0, sums[0].item<double>());
  for (std::size_t t = 0; t < experience.scenario.size(); ++t) {
    const std::int64_t scenario = experience.scenario[t];
    if (count[1][scenario] == 0.0) continue;
    weights.slice(0, ptr[t], ptr[t + 1])
        .fill_(of_an_episode * count[0][scenario] / count[1][scenario]);
  }
  return weights;
}

}  // namespace traffic::train
