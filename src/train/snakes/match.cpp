#include "traffic/train/snakes/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "traffic/report/paired_statistics.h"

namespace traffic::train {
namespace {

constexpr auto kTeam = static_cast<std::size_t>(game::kTeamSnakes);
constexpr auto kAll = static_cast<std::size_t>(game::kSnakes);

/// Plays two games for each start (seed), with changed sides. It advances all games together until
/// all are over.
class Match {
 public:
  Match(SnakesTeam& own, SnakesTeam& other, std::span<const std::uint64_t> seeds)
      : seeds_(seeds),
        arena_(static_cast<int>(2 * seeds.size())),
        actions_(2 * seeds.size() * kAll),
        rewards_(actions_.size()),
        over_(2 * seeds.size()),
        ended_(over_.size()),
        pairs_(seeds.size()),
        teams_{&own, &other} {
    for (int game = 0; game < arena_.size(); ++game) {
      arena_.start(game, seed_of(game));
      for (int which = 0; which < game::kTeams; ++which) {
        seats_[static_cast<std::size_t>(which)].push_back({game, (game + which) % game::kTeams});
      }
    }
  }

  std::vector<game::Pair> play() {
    std::size_t num_ended = 0;
    while (num_ended < ended_.size()) {
      decide();
      arena_.step({.actions = actions_, .rewards = rewards_, .over = over_});
      for (int game = 0; game < arena_.size(); ++game) {
        const auto i = static_cast<std::size_t>(game);
        if (over_[i] == 0) continue;
        if (ended_[i] == 0) {
          end(game);
          ++num_ended;
        }
        // The arena advances all games together. This game is therefore played again until the
        // other games are over, too, but its result does not count again.
        arena_.start(game, seed_of(game));
      }
    }
    return pairs_;
  }

 private:
  [[nodiscard]] std::uint64_t seed_of(int game) const {
    return seeds_[static_cast<std::size_t>(game / 2)];
  }

  void decide() {
    std::vector<std::uint8_t> chosen(ended_.size() * kTeam);
    for (std::size_t which = 0; which < seats_.size(); ++which) {
      teams_[which]->decide(arena_, seats_[which], chosen);
      for (std::size_t i = 0; i < seats_[which].size(); ++i) {
        const SnakesSeat& seat = seats_[which][i];
        std::copy_n(chosen.begin() + static_cast<std::ptrdiff_t>(i * kTeam), kTeam,
                    actions_.begin() + static_cast<std::ptrdiff_t>(
                                           i * kAll + static_cast<std::size_t>(seat.team) * kTeam));
      }
    }
  }

  void end(int game) {
    const auto i = static_cast<std::size_t>(game);
    const auto side = static_cast<std::size_t>(game % 2);
    const auto gained = [&](int team) {
      return game::team_length(arena_.board(game), team) - game::kTeamSnakes * game::kStartLength;
    };
    ended_[i] = 1;
    pairs_[i / 2].own[side] = gained(game % 2);
    pairs_[i / 2].others[side] = gained(1 - game % 2);
  }

  std::span<const std::uint64_t> seeds_;
  game::Arena arena_;
  std::vector<std::uint8_t> actions_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> over_;
  std::vector<std::uint8_t> ended_;
  std::vector<game::Pair> pairs_;
  std::array<SnakesTeam*, game::kTeams> teams_;
  std::array<std::vector<SnakesSeat>, game::kTeams> seats_;
};

}  // namespace

std::vector<game::Pair> play_snakes_match(SnakesTeam& own, SnakesTeam& other,
                                          std::span<const std::uint64_t> seeds) {
  constexpr std::size_t kTogether = 256;  // starts whose games fit into the cache
  std::vector<game::Pair> pairs;
  for (std::size_t first = 0; first < seeds.size(); first += kTogether) {
    const auto part = seeds.subspan(first, std::min(kTogether, seeds.size() - first));
    std::ranges::copy(Match(own, other, part).play(), std::back_inserter(pairs));
  }
  return pairs;
}

SnakesScore score_of(std::span<const game::Pair> pairs) {
  SnakesScore score{.games = 2 * std::ssize(pairs)};
  std::vector<double> wins;
  for (const game::Pair& pair : pairs) {
    wins.push_back(100.0 * pair.score());
    score.own_growth += pair.own[0] + pair.own[1];
    score.other_growth += pair.others[0] + pair.others[1];
  }
  const report::MeanInterval interval = report::mean_interval(wins);
  score.win_percent = interval.mean;
  score.half_width = interval.half_width;
  score.own_growth /= static_cast<double>(score.games);
  score.other_growth /= static_cast<double>(score.games);
  return score;
}

std::string describe_score(const std::string& own, const std::string& other,
                           const SnakesScore& score) {
  return fmt::format(
      "{} against {}: wins {:.1f} % +- {:.1f} of {} games (a draw is half a win), {} starts, each "
      "played from both sides; the teams grow by {:.1f} and {:.1f} cells\n",
      own, other, score.win_percent, score.half_width, score.games, score.games / 2,
      score.own_growth, score.other_growth);
}

std::string score_json(const std::string& own, const std::string& other, const SnakesScore& score) {
  const nlohmann::ordered_json json{{"controller", own},
                                    {"against", other},
                                    {"games", score.games},
                                    {"win_percent", score.win_percent},
                                    {"half_width", score.half_width},
                                    {"own_growth", score.own_growth},
                                    {"other_growth", score.other_growth}};
  return json.dump();
}

}  // namespace traffic::train
