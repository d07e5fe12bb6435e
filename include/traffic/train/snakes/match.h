/// Plays the game 3v3 snakes, in which two teams of three snakes compete. It makes scripted or
/// trained teams, and plays matches of many simultaneous games between two teams.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/game/arena.h"

namespace traffic::train {

/// Prefix of the names of trained teams.
inline constexpr std::string_view kCheckpointTeam = "checkpoint:";

/// The side that a team plays in one of many simultaneous games.
struct SnakesSeat {
  int game = 0;  ///< index of the game in the arena
  int team = 0;  ///< 0 or 1
};

/// A player that decides for the three snakes of a team.
class SnakesTeam {
 public:
  virtual ~SnakesTeam() = default;
  /// The name of a script, or "checkpoint:PATH".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Chooses the actions of the team in all these games.
  /// @param actions [seats, kTeamSnakes] output, game::Direction
  virtual void decide(game::Arena& arena, std::span<const SnakesSeat> seats,
                      std::span<std::uint8_t> actions) = 0;
  /// The team as a function for a single game, for game::play_game().
  [[nodiscard]] virtual game::Player player() = 0;
};

/// Makes a team.
/// @param name the name or level of a script, such as "greedy", or "checkpoint:PATH" with a
///   checkpoint of the training snakes
/// @throws ConfigError, CheckpointError
std::unique_ptr<SnakesTeam> make_snakes_team(const std::string& name);

/// Plays two games from each starting position; the teams change sides for the second game.
/// @param seeds seeds of the starting positions
/// @return one pair of games for each seed, in their order
std::vector<game::Pair> play_snakes_match(SnakesTeam& own, SnakesTeam& other,
                                          std::span<const std::uint64_t> seeds);

/// Result of a match.
struct SnakesScore {
  std::int64_t games = 0;
  double win_percent = 0.0;   ///< share of games that the own team won; a draw is half a win
  double half_width = 0.0;    ///< half the width of the 95 % interval of win_percent
  double own_growth = 0.0;    ///< mean number of cells by which the own team grew in a game
  double other_growth = 0.0;  ///< mean number of cells by which the other team grew in a game
};
SnakesScore score_of(std::span<const game::Pair> pairs);
/// The score as a line of text.
/// @param own, other names of the teams
std::string describe_score(const std::string& own, const std::string& other,
                           const SnakesScore& score);
/// The score as a JSON object.
std::string score_json(const std::string& own, const std::string& other, const SnakesScore& score);

}  // namespace traffic::train
