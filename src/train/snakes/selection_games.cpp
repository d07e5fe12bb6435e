#include "snakes/selection_games.h"

#include <torch/utils.h>

#include <array>
#include <string>

#include "snakes/teams.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train::snakes {

SelectionScores play_selection_games(const offpolicy::ActingNetwork& acting,
                                     const SelectionPlan& plan, comm::Communicator& communicator) {
  constexpr std::array kOpponents{game::Opponent::kGreedy, game::Opponent::kBfs};
  const std::int64_t starts = plan.games / 2;
  std::vector<std::uint64_t> seeds;
  for (std::int64_t i = communicator.rank(); i < starts; i += communicator.size()) {
    seeds.push_back(derive_seed(plan.seed, {kSelectionGameStream, static_cast<std::uint64_t>(i)}));
  }
  NetworkTeam own(acting, plan.sight, "the policy");
  const torch::Tensor scores = torch::zeros({std::ssize(kOpponents), starts}, torch::kDouble);
  for (std::size_t o = 0; o < kOpponents.size(); ++o) {
    const auto other = make_snakes_team(std::string(game::name_of(kOpponents[o])));
    auto* score = scores.mutable_data_ptr<double>() + static_cast<std::int64_t>(o) * starts +
                  communicator.rank();
    for (const game::Pair& pair : play_snakes_match(own, *other, seeds)) {
      *score = 100.0 * pair.score();
      score += communicator.size();
    }
  }
  communicator.all_reduce(scores);
  SelectionScores out;
  const torch::Tensor of_starts = scores.mean(0);
  out.of_starts.assign(of_starts.const_data_ptr<double>(),
                       of_starts.const_data_ptr<double>() + starts);
  for (std::size_t o = 0; o < kOpponents.size(); ++o) {
    out.figures.emplace_back("eval/win_percent_" + std::string(game::name_of(kOpponents[o])),
                             scores[static_cast<std::int64_t>(o)].mean().item<double>());
  }
  return out;
}

}  // namespace traffic::train::snakes
