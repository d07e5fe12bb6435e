#include "snakes/observation.h"

#include <algorithm>
#include <array>

#include "traffic/game/features.h"
#include "traffic/game/surroundings.h"

namespace traffic::train::snakes {
namespace {

constexpr auto kMates = static_cast<std::size_t>(game::kTeamSnakes);
constexpr auto kFeatures = static_cast<std::size_t>(game::kNumFeatures);
constexpr auto kSurroundings = static_cast<std::size_t>(game::kNumSurroundings);

/// Writes the features of the board without a turn, and if `with_surroundings` the surroundings.
/// @param out [mates, features (and surroundings)]
void write_numbers(const game::View& view, bool with_surroundings, std::span<float> out) {
  if (!with_surroundings) {
    game::write_features(view, out.first<kMates * kFeatures>());
    return;
  }
  std::array<float, kMates * kFeatures> features;
  game::write_features(view, features);
  const game::Surroundings surroundings(view);
  for (std::size_t mate = 0; mate < kMates; ++mate) {
    const auto row = out.subspan(mate * (kFeatures + kSurroundings));
    std::copy_n(features.begin() + static_cast<std::ptrdiff_t>(mate * kFeatures), kFeatures,
                row.begin());
    surroundings.write(game::first_snake(view.team) + static_cast<int>(mate),
                       row.subspan(kFeatures).first<kSurroundings>());
  }
}

}  // namespace

std::int64_t Sight::width() const {
  return game::kNumFeatures + (surroundings ? game::kNumSurroundings : 0) + (turned ? 1 : 0);
}

void write_observations(const game::View& view, Sight sight, std::span<float> out,
                        std::span<Turn> turns) {
  if (!sight.turned) {
    write_numbers(view, sight.surroundings, out);
    std::ranges::fill(turns, Turn());
    return;
  }
  std::array<float, kMates*(kFeatures + kSurroundings)> numbers;
  write_numbers(view, sight.surroundings, numbers);
  const auto width = static_cast<std::size_t>(sight.width());
  for (std::size_t mate = 0; mate < kMates; ++mate) {
    const std::span<const float> row = std::span(numbers).subspan(mate * (width - 1), width - 1);
    const auto heading = static_cast<game::Direction>(
        view.board.direction[static_cast<std::size_t>(game::first_snake(view.team)) + mate]);
    turns[mate] = turn_of(heading, row);
    const std::span<float> seen = out.subspan(mate * width, width);
    write_turned(turns[mate], row, seen);
    seen.back() = heading == game::kLeft || heading == game::kRight ? 1.0F : 0.0F;
  }
}

}  // namespace traffic::train::snakes
