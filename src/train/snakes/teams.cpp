#include "snakes/teams.h"

#include <torch/utils.h>

#include <algorithm>
#include <array>
#include <utility>

#include "run/snapshot_parts.h"
#include "snakes/games.h"
#include "snakes/observation.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace snakes {
namespace {

/// A team that a scripted opponent of the game plays.
class ScriptedTeam final : public SnakesTeam {
 public:
  explicit ScriptedTeam(game::Opponent opponent) : opponent_(opponent) {}

  void decide(game::Arena& arena, std::span<const SnakesSeat> seats,
              std::span<std::uint8_t> actions) override {
    auto out = actions.begin();
    for (const SnakesSeat& seat : seats) {
      out = std::ranges::copy(arena.choose(seat.game, seat.team, opponent_), out).out;
    }
  }
  [[nodiscard]] game::Player player() override { return game::player_of(opponent_); }
  [[nodiscard]] std::string name() const override { return std::string(game::name_of(opponent_)); }

 private:
  game::Opponent opponent_;
};

std::unique_ptr<SnakesTeam> team_of_checkpoint(const std::string& path) {
  const checkpoint::Snapshot snapshot = checkpoint::load(path);
  const config::TrainingFacts& facts = training_of(snapshot);
  if (facts.name != "snakes") {
    throw CheckpointError(
        "checkpoint {} is of {} ({}), which does not play 3v3 snakes; give a checkpoint of the "
        "training snakes",
        path, facts.title(), facts.name);
  }
  const config::Config config = stored_config(snapshot);
  const offpolicy::PolicyShape policy = offpolicy::policy_shape(
      config.extension<offpolicy::OffPolicy>(), SnakesGames::spaces_of(config.extension<Snakes>()));
  offpolicy::ActingNetwork acting{.network = model::Mlp(policy.shape),
                                  .first_score = policy.first_score};
  comm::NamedTensors parameters;
  for (const auto& parameter : acting.network->named_parameters()) {
    parameters.emplace_back(policy.name + "." + parameter.key(), parameter.value());
  }
  copy_parameters(snapshot, parameters);
  return std::make_unique<NetworkTeam>(std::move(acting), Sight::of(config.extension<Snakes>()),
                                       std::string(kCheckpointTeam) + path);
}

}  // namespace

void NetworkTeam::decide(game::Arena& arena, std::span<const SnakesSeat> seats,
                         std::span<std::uint8_t> actions) {
  const auto rows = static_cast<std::int64_t>(seats.size()) * game::kTeamSnakes;
  const std::int64_t width = acting_.network->shape().inputs;
  if (!obs_.defined() || obs_.size(0) < rows) obs_ = torch::empty({rows, width});
  turns_.resize(actions.size());
  const auto of_seat = static_cast<std::size_t>(game::kTeamSnakes * width);
  auto* out = obs_.mutable_data_ptr<float>();
  auto turns = turns_.begin();
  for (const SnakesSeat& seat : seats) {
    write_observations(arena.view(seat.game, seat.team), sight_, {out, of_seat},
                       {turns, game::kTeamSnakes});
    out += of_seat;
    turns += game::kTeamSnakes;
  }
  offpolicy::choose_best(acting_, obs_.narrow(0, 0, rows), actions);
  for (std::size_t i = 0; i < actions.size(); ++i) actions[i] = turns_[i].on_board(actions[i]);
}

game::Player NetworkTeam::player() {
  return [acting = acting_, sight = sight_](const game::View& view, Rng& /*rng*/) mutable {
    const torch::Tensor obs = torch::empty({game::kTeamSnakes, acting.network->shape().inputs});
    std::array<Turn, game::kTeamSnakes> turns;
    write_observations(
        view, sight, {obs.mutable_data_ptr<float>(), static_cast<std::size_t>(obs.numel())}, turns);
    game::TeamActions actions{};
    offpolicy::choose_best(acting, obs, actions);
    for (std::size_t i = 0; i < turns.size(); ++i) actions[i] = turns[i].on_board(actions[i]);
    return actions;
  };
}

}  // namespace snakes

std::unique_ptr<SnakesTeam> make_snakes_team(const std::string& name) {
  if (name.starts_with(kCheckpointTeam)) {
    return snakes::team_of_checkpoint(name.substr(kCheckpointTeam.size()));
  }
  const auto opponent = game::opponent_named(name);
  if (!opponent) {
    throw ConfigError("no team is named '{}', expected one of {}, a level from 0 to {}, or {}PATH",
                      name, game::opponent_names(), game::kNumOpponents - 1, kCheckpointTeam);
  }
  return std::make_unique<snakes::ScriptedTeam>(*opponent);
}

}  // namespace traffic::train
