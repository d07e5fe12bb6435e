/// Traffic lights that may switch now, with the features of the greens they can choose from.
#pragma once

#include <cstdint>
#include <vector>

#include "traffic/scene/signal_view.h"

namespace traffic::rollout {

/// A light that must choose its next green.
struct LightChoice {
  std::int32_t light = 0;       ///< index among the lights of the network
  std::int32_t num_greens = 0;  ///< feature rows of this choice; they follow the previous choice's
  std::int32_t present = 0;     ///< the green that the light shows now
};

/// Replaces `choices` and `rows` by the lights that may switch now and the features of their
/// greens.
/// @param rows [sum of num_greens, scene::signal_features()]
void find_choices(const scene::SignalView& view, std::vector<LightChoice>& choices,
                  std::vector<float>& rows);

}  // namespace traffic::rollout
