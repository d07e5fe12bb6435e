#include "snakes/opponents.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace traffic::train::snakes {

int scheduled_level(const std::string& strategy, double progress) {
  constexpr int kLast = static_cast<int>(game::Opponent::kBfs);
  const double p = std::clamp(progress, 0.0, 1.0);
  if (strategy == "linear") return std::min(kLast, static_cast<int>(kLast * p));
  if (strategy == "exponential") {
    return std::min(kLast, static_cast<int>(kLast * std::pow(p, 1.5)));
  }
  constexpr std::array kFrom{0.10, 0.30, 0.60, 0.85};  // progress at which levels 1 to 4 begin
  return static_cast<int>(std::ranges::count_if(kFrom, [p](double from) { return p >= from; }));
}

std::optional<game::Opponent> draw_opponent(const Snakes& settings,
                                            const TrainingProgress& progress, Rng& rng) {
  const double lot = rng.uniform();
  const std::uint64_t which = rng.uniform_int(std::max<std::size_t>(1, settings.opponents.size()));
  if (progress.has_past_selves && lot < settings.self_play_share) return std::nullopt;
  if (settings.evasion_from_episode > 0 && progress.episode >= settings.evasion_from_episode) {
    return game::Opponent::kEvasive;
  }
  if (settings.opponent_difficulty_strategy == "mix") {
    return game::opponent_named(settings.opponents[which]);
  }
  const double share =
      static_cast<double>(progress.episode) / static_cast<double>(progress.max_episodes);
  return static_cast<game::Opponent>(scheduled_level(settings.opponent_difficulty_strategy, share));
}

}  // namespace traffic::train::snakes
