#include "ppo/scenario_weights.h"

#include <algorithm>

#include "policy/decisions.h"

namespace traffic::train {

torch::Tensor scenario_of_states(const Experience& experience) {
  torch::Tensor scenario = torch::zeros({experience.num_states()}, torch::kLong);
  const auto& ptr = experience.trajectory_ptr;
  for (std::size_t t = 0; t < experience.scenario.size(); ++t) {
    scenario.slice(0, ptr[t], ptr[t + 1]).fill_(experience.scenario[t]);
  }
  return scenario;
}

torch::Tensor decisions_of_states(const Experience& experience) {
  return experience.decided.sizes().to(torch::kDouble);
}

torch::Tensor commands_of_states(const Experience& experience) {
  constexpr double kOfOthers = 0.01;
  const torch::Tensor commands = experience.decisions.action.to(torch::kCPU).ne(kNoCommand);
  return experience.decided.sum(commands.to(torch::kDouble).clamp_min(kOfOthers));
}

torch::Tensor scenario_weights(const Experience& experience, const torch::Tensor& amounts,
                               std::int64_t scenarios, comm::Communicator& communicator) {
  if (scenarios == 1) return torch::ones({experience.num_states()});
  torch::Tensor sums = torch::zeros({2, scenarios}, torch::kDouble);  // rows: episodes, amounts
  for (const std::int64_t scenario : experience.scenario) sums[0][scenario] += 1.0;
  const torch::Tensor scenario = scenario_of_states(experience);
  sums[1].index_add_(0, scenario, amounts);
  communicator.all_reduce(sums);
  const torch::Tensor total = sums.sum(1);
  const double of_an_episode = total[1].item<double>() / std::max(1.0, total[0].item<double>());
  const torch::Tensor of_scenario =
      torch::where(sums[1] > 0.0, of_an_episode * sums[0] / sums[1], torch::ones({scenarios}));
  return of_scenario.index_select(0, scenario).to(torch::kFloat);
}

}  // namespace traffic::train
