/// Teams of 3v3 snakes, scripted or of a checkpoint, and many games between two of them at once.
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

inline constexpr std::string_view kCheckpointTeam = "checkpoint:";

/// A team in a game.
struct SnakesSeat {
  int game = 0;
  int team = 0;
};

class SnakesTeam {
 public:
  virtual ~SnakesTeam() = default;
  /// A script's, or "checkpoint:PATH".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Decides for all seats together.
  /// @param actions [seats, kTeamSnakes]
  virtual void decide(game::Arena& arena, std::span<const SnakesSeat> seats,
                      std::span<std::uint8_t> actions) = 0;
  /// The same for one game.
  [[nodiscard]] virtual game::Player player() = 0;
};

/// @param name of a script ("greedy", or its level), or "checkpoint:PATH" of training snakes
/// @throws ConfigError, CheckpointError
std::unique_ptr<SnakesTeam> make_snakes_team(const std::string& name);

/// The same starts from both sides.
/// @param seeds of the starts
std::vector<game::Pair> play_snakes_match(SnakesTeam& own, SnakesTeam& other,
                                          std::span<const std::uint64_t> seeds);

/// Of pairs of games. Wins in %, a draw is half a win.
struct SnakesScore {
  std::int64_t games = 0;
  double win_percent = 0.0;
  double half_width = 0.0;  ///< of the 95 % interval; pairs of games are independent
  double own_growth = 0.0;  ///< cells that a team is longer at the end, mean
  double other_growth = 0.0;
};
SnakesScore score_of(std::span<const game::Pair> pairs);
/// For people, one line.
std::string describe_score(const std::string& own, const std::string& other,
                           const SnakesScore& score);
/// An object.
std::string score_json(const std::string& own, const std::string& other, const SnakesScore& score);

}  // namespace traffic::train
