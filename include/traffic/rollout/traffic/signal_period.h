/// What a simulation whose traffic lights act hands to its rank after every control period, as
/// views into memory that both share.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "traffic/scene/score.h"
#include "traffic/scene/signal_book.h"
#include "traffic/scene/signal_graph.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {

/// A light whose next green is asked for.
struct SignalChoice {
  std::int32_t light = 0;
  std::int32_t num_greens = 0;  ///< rows of its features, which follow those of the choice before
  std::int32_t present = 0;     ///< the green that it shows
};

/// Lights that may switch now, and the features of their greens, in the place of what was there.
/// @param rows [sum of num_greens, F]
void find_choices(const scene::SignalView& view, std::vector<SignalChoice>& choices,
                  std::vector<float>& rows);

/// The outcome of a control period and the observation at its end. L lights, F
/// scene::signal_features().
struct SignalPeriod {
  double time_s = 0;  ///< simulated, since the start of the episode
  bool done = false;
  std::span<const double> lost_s;         ///< [L] lost before each light within the period
  std::span<const SignalChoice> choices;  ///< by light, ascending
  std::span<const float> rows;            ///< [sum of num_greens, F]
  scene::SignalGraphView graph{};         ///< where it is wanted and choices are asked for
  scene::EpisodeScore score;              ///< since the start of the episode
};

}  // namespace traffic::rollout
