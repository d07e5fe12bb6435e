#include "train/snakes/games.h"

#include <gmock/gmock.h>
#include <torch/utils.h>

#include <cstddef>

#include "traffic/core/error.h"
#include "traffic/game/features.h"
#include "traffic/game/surroundings.h"
#include "traffic/model/initialise.h"
#include "train/snakes/past_selves.h"

namespace traffic::train::snakes {
namespace {

/// The settings with all rewards set to 0.
Snakes unrewarded(Snakes settings) {
  settings.reward_own = 0.0;
  settings.reward_team = 0.0;
  settings.reward_enemies = 0.0;
  settings.reward_death = 0.0;
  return settings;
}

Snakes settings_of(std::int64_t games) {
  Snakes settings;
  settings.games = games;
  settings.surroundings = false;
  settings.turned = false;
  settings.opponents = {"bfs"};
  return settings;
}

offpolicy::ActingNetwork some_network() {
  offpolicy::ActingNetwork acting{.network = model::Mlp(model::MlpShape{
                                      .inputs = game::kNumFeatures, .hidden = {8}, .outputs = 4})};
  model::initialise(*acting.network, 3);
  return acting;
}

std::vector<std::uint8_t> any_actions(const SnakesGames& games, Rng& rng) {
  std::vector<std::uint8_t> actions(static_cast<std::size_t>(games.num_agents()));
  for (auto& action : actions) action = static_cast<std::uint8_t>(rng.uniform_int(4));
  return actions;
}

/// Plays some steps. @return numbers that change with any observation, action, reward or end of a
/// stream
std::vector<double> play(SnakesGames& games, int steps, Rng& rng) {
  offpolicy::ActingNetwork past = some_network();
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    const torch::Tensor obs = games.observe().narrow(0, 0, games.num_streams());
    all.push_back((obs * torch::arange(obs.numel()).view(obs.sizes()).remainder(97))
                      .sum(torch::kDouble)
                      .item<double>());
    games.step(any_actions(games, rng), past);
    for (std::size_t s = 0; s < games.actions().size(); ++s) {
      all.push_back(games.actions()[s] + 10.0 * static_cast<double>(games.rewards()[s]) +
                    1000.0 * games.ends()[s]);
    }
  }
  return all;
}

TEST(SnakesGames, ResumeToTheBitFromTheirBytes) {
  Snakes settings = settings_of(5);
  settings.self_play_share = 0.5;
  SnakesGames whole(settings, {.rank = 1, .seed = 4});
  whole.start({.episode = 0, .max_episodes = 10, .has_past_selves = true});
  Rng rng(1);
  play(whole, 150, rng);
  SnakesGames resumed(settings, {.rank = 1, .seed = 4});
  resumed.from_bytes(whole.to_bytes());
  resumed.begin_round({.episode = 0, .max_episodes = 10, .has_past_selves = true});
  Rng again = rng;
  // The steps go beyond the end of the games.
  EXPECT_EQ(play(whole, 120, rng), play(resumed, 120, again));
  EXPECT_THROW(resumed.from_bytes(SnakesGames(settings_of(4), {}).to_bytes()), CheckpointError);
}

TEST(SnakesGames, AnImpossibleGameIsRefusedAndChangesNothing) {
  SnakesGames games(settings_of(3), {.rank = 1, .seed = 4});
  games.start({});
  const checkpoint::Bytes whole = games.to_bytes();
  const std::size_t bytes_of_place = whole.size() / 3;
  const std::size_t last_seat = whole.size() - 16;
  const auto refused = [&](std::size_t at, std::uint8_t value) {
    checkpoint::Bytes bytes = whole;
    bytes[at] = std::byte{value};
    EXPECT_THROW(games.from_bytes(bytes), CheckpointError) << "byte " << at;
    EXPECT_EQ(games.to_bytes(), whole);
  };
  refused(2 * bytes_of_place + offsetof(game::Board, head), 200);
  refused(2 * bytes_of_place + offsetof(game::Board, num_beans), 255);
  refused(2 * bytes_of_place + offsetof(game::Board, over), 2);
  refused(last_seat + 8, game::kTeams);         // the side
  refused(last_seat + 9, game::kNumOpponents);  // the opponent
}

TEST(SnakesGames, DifferBetweenRanks) {
  Rng one(1);
  Rng other(1);
  SnakesGames first(settings_of(3), {.rank = 0, .seed = 4});
  SnakesGames second(settings_of(3), {.rank = 1, .seed = 4});
  first.start({});
  second.start({});
  EXPECT_NE(play(first, 3, one), play(second, 3, other));
}

TEST(SnakesGames, RewardsOfAGameAddUpToTheGrowthOfItsSnakes) {
  Snakes settings = unrewarded(settings_of(2));
  settings.reward_own = 1.0;
  SnakesGames games(settings, {.rank = 0, .seed = 6});
  games.start({});
  offpolicy::ActingNetwork past = some_network();
  Rng rng(2);
  double own = 0.0;
  double others = 0.0;
  const auto agents = static_cast<std::size_t>(games.num_agents());
  for (int step = 0; step < game::kMaxSteps; ++step) {
    games.observe();
    games.step(any_actions(games, rng), past);
    for (std::size_t s = 0; s < games.rewards().size(); ++s) {
      (s < agents ? own : others) += static_cast<double>(games.rewards()[s]);
    }
  }
  const GameFigures figures = games.take_figures();
  EXPECT_EQ(figures.games, 2);
  EXPECT_NEAR(figures.own_length, own, 1e-3);
  EXPECT_NEAR(figures.other_length, others, 1e-3);
  EXPECT_EQ(figures.score, 0.0);  // random against bfs
  EXPECT_GT(others, 20.0);
}

TEST(SnakesGames, RewardTeamGivesEverySnakeTheMeanOfItsTeam) {
  Snakes settings = unrewarded(settings_of(1));
  settings.reward_team = 3.0;
  SnakesGames games(settings, {.rank = 0, .seed = 6});
  games.start({});
  offpolicy::ActingNetwork past = some_network();
  Rng rng(2);
  for (int step = 0; step < 100; ++step) {
    games.observe();
    games.step(any_actions(games, rng), past);
    const auto rewards = games.rewards();
    for (const std::size_t team : {0, 3}) {  // each snake gets three times the team's mean
      EXPECT_EQ(rewards[team], rewards[team + 1]);
      EXPECT_EQ(rewards[team], rewards[team + 2]);
    }
  }
}

TEST(SnakesGames, ObserveSurroundingsAfterTheFeaturesIfSet) {
  Snakes settings = settings_of(2);
  SnakesGames narrow(settings, {.rank = 0, .seed = 6});
  settings.surroundings = true;
  SnakesGames wide(settings, {.rank = 0, .seed = 6});
  narrow.start({});
  wide.start({});
  const torch::Tensor all = wide.observe();
  EXPECT_EQ(all.size(1), wide.spaces().obs_dim);
  EXPECT_TRUE(torch::equal(all.narrow(1, 0, game::kNumFeatures), narrow.observe()));
  EXPECT_TRUE(
      all.narrow(1, game::kNumFeatures, game::kNumSurroundings).ne(0).any(1).all().item<bool>());
}

TEST(PastSelves, AreKeptByIntervalAndRestoredToTheBit) {
  Snakes settings = settings_of(1);
  settings.self_play_share = 0.5;
  settings.pool_interval = 100;
  settings.pool_size = 2;
  offpolicy::ActingNetwork policy = some_network();
  PastSelves past(settings, policy);
  EXPECT_TRUE(past.empty());
  past.keep(0, 64);  // the first past self is due at once
  EXPECT_FALSE(past.empty());
  const torch::Tensor first = policy.network->parameters()[0].detach().clone();
  {
    const torch::NoGradGuard no_grad;
    policy.network->parameters()[0].add_(1.0);
  }
  past.keep(64, 90);
  past.pick(1);  // no further one was due, so there is still only one past self
  EXPECT_TRUE(torch::equal(past.playing().network->parameters()[0], first));
  past.keep(90, 130);
  past.pick(1);
  EXPECT_TRUE(torch::equal(past.playing().network->parameters()[0], first + 1.0));
  checkpoint::Snapshot snapshot;
  past.save_to(snapshot);
  PastSelves restored(settings, policy);
  restored.restore_from(snapshot);
  restored.pick(0);
  EXPECT_TRUE(torch::equal(restored.playing().network->parameters()[0], first));
}

TEST(PastSelves, OfAnotherShapeOrTypeAreRefused) {
  const Snakes settings = settings_of(1);
  const offpolicy::ActingNetwork policy = some_network();
  for (const torch::Tensor& wrong :
       {torch::zeros({2, 7}), torch::zeros({}), torch::zeros({3}, torch::kLong)}) {
    checkpoint::Snapshot snapshot;
    snapshot.put_tensor("past_selves", wrong);
    PastSelves past(settings, policy);
    EXPECT_THROW(past.restore_from(snapshot), CheckpointError);
  }
}

TEST(Opponents, GetStrongerBySchedule) {
  const auto levels = [](const std::string& strategy) {
    std::vector<int> all;
    for (const double p : {0.0, 0.1, 0.3, 0.6, 0.85, 1.0}) {
      all.push_back(scheduled_level(strategy, p));
    }
    return all;
  };
  EXPECT_THAT(levels("linear"), ::testing::ElementsAre(0, 0, 1, 2, 3, 4));
  EXPECT_THAT(levels("exponential"), ::testing::ElementsAre(0, 0, 0, 1, 3, 4));
  EXPECT_THAT(levels("curriculum"), ::testing::ElementsAre(0, 1, 2, 3, 4, 4));
}

TEST(Opponents, AreEvasiveFromAnEpisodeOnAndPastSelvesByShare) {
  Snakes settings = settings_of(1);
  settings.evasion_from_episode = 40;
  settings.self_play_share = 0.25;
  Rng rng(5);
  const auto draw = [&](std::int64_t episode, bool past) {
    return draw_opponent(settings,
                         {.episode = episode, .max_episodes = 100, .has_past_selves = past}, rng);
  };
  EXPECT_EQ(draw(39, false), game::Opponent::kBfs);
  EXPECT_EQ(draw(40, false), game::Opponent::kEvasive);
  int past = 0;
  for (int i = 0; i < 4000; ++i) past += draw(40, true) ? 0 : 1;
  EXPECT_NEAR(past, 1000, 140);  // five standard deviations
}

}  // namespace
}  // namespace traffic::train::snakes
