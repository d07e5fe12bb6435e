/// What lights might have lived through, for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "signals/episodes.h"
#include "traffic/core/random.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::signals::testing {

/// Choices by the policy among two to four greens with random features; a choice is worth the first
/// feature of its green. What the rule sees that a policy begins with is the same for all.
/// @param traffic what all greens see of the whole light's vehicles; nothing: each sees another,
/// for a rule's weight of what all have in common moves by rounding alone
inline LightHistory live(SignalPolicy& policy, int decisions, std::uint64_t seed,
                         std::optional<float> traffic = {}) {
  Rng rng(seed);
  const std::size_t columns = scene::signal_features().size();
  LightHistory light;
  for (int i = 0; i < decisions; ++i) {
    const auto greens = static_cast<std::int32_t>(2 + rng.uniform_int(3));
    std::vector<float> rows(static_cast<std::size_t>(greens) * columns);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const std::string_view name = scene::signal_features()[k % columns];
      const auto value = static_cast<float>(rng.uniform());
      rows[k] = name == "near" || name == "is_present" ? 0.0F : value;
      if (traffic && name == "light_vehicles") rows[k] = *traffic;
    }
    std::vector<float> uniforms(static_cast<std::size_t>(greens));
    for (float& value : uniforms) value = static_cast<float>(rng.uniform());
    const rollout::SignalChoice choice{.light = 0, .num_greens = greens, .present = 0};
    const SignalBatch batch = signal_batch(std::span(&choice, 1), rows);
    const SignalDecisions made = policy.decide(batch, uniforms);
    light.reward.push_back(rows[static_cast<std::size_t>(made.green[0]) * columns]);
    light.rows.insert(light.rows.end(), rows.begin(), rows.end());
    light.greens.push_back(greens);
    light.present.push_back(0);
    light.chosen.push_back(made.green[0]);
    light.log_prob.push_back(made.log_prob[0]);
    light.value.push_back(made.value[0]);
    light.periods.push_back(1);
  }
  return light;
}

/// Those episodes of `count` whose order leaves this remainder.
inline std::vector<EpisodeHistory> live_episodes(SignalPolicy& policy, std::int64_t count,
                                                 std::int64_t remainder, std::int64_t modulus,
                                                 std::uint64_t seed = 1) {
  std::vector<EpisodeHistory> episodes;
  for (std::int64_t order = remainder; order < count; order += modulus) {
    EpisodeHistory episode{.order = order, .lights = {}, .score = {}};
    for (int light = 0; light < 2; ++light) {
      const auto decisions = static_cast<int>(10 + 5 * light + order);
      episode.lights.push_back(live(policy, decisions,
                                    derive_seed(seed, {static_cast<std::uint64_t>(order),
                                                       static_cast<std::uint64_t>(light)})));
    }
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

}  // namespace traffic::train::signals::testing
