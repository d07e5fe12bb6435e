#include "snakes/observation.h"

#include <algorithm>
#include <array>

#include "traffic/game/features.h"
#include "traffic/game/surroundings.h"

namespace traffic::train::snakes {
namespace {

constexpr auto kMates = static_cast<std::size_t>(game::kTeamSnakes);
constexpr auto kFeatures = static_cast<std::size_t>(game::kNumFeatures);

}  // namespace

std::int64_t obs_dim(const Snakes& settings) {
  return game::kNumFeatures + (settings.surroundings ? game::kNumSurroundings : 0);
}

void write_observations(const game::View& view, std::span<float> out) {
  if (out.size() == kMates * kFeatures) {
    game::write_features(view, out.first<kMates * kFeatures>());
    return;
  }
  std::array<float, kMates * kFeatures> features;
  game::write_features(view, features);
  const game::Surroundings surroundings(view);
  for (std::size_t mate = 0; mate < kMates; ++mate) {
    const auto row = out.subspan(mate * (kFeatures + game::kNumSurroundings));
    std::copy_n(features.begin() + static_cast<std::ptrdiff_t>(mate * kFeatures), kFeatures,
                row.begin());
    surroundings.write(game::first_snake(view.team) + static_cast<int>(mate),
                       row.subspan(kFeatures).first<game::kNumSurroundings>());
  }
}

}  // namespace traffic::train::snakes
