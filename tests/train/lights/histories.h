/// Synthetic episodes of traffic lights, for tests of the learners of lights. The best green can be
/// learned from the features.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lights/light_histories.h"
#include "traffic/core/random.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::lights::testing {

/// Lets the policy choose a green and records the decision without its reward.
inline std::int32_t act(LightPolicy& policy, const rollout::LightChoice& choice,
                        const std::vector<float>& rows, const scene::SignalGraphView& graph,
                        Rng& rng, LightHistory& light) {
  std::vector<float> uniforms(static_cast<std::size_t>(choice.num_greens));
  for (float& value : uniforms) value = static_cast<float>(rng.uniform());
  const LightBatch batch = policy.observe(std::span(&choice, 1), rows, graph);
  const LightDecisions made = policy.decide(batch, uniforms);
  light.rows.insert(light.rows.end(), rows.begin(), rows.end());
  light.greens.push_back(choice.num_greens);
  light.present.push_back(choice.present);
  light.chosen.push_back(made.green[0]);
  light.log_prob.push_back(made.log_prob[0]);
  light.value.push_back(made.value[0]);
  light.periods.push_back(1);
  return made.green[0];
}

/// Simulates decisions of one light. Each decision is between two to four greens with random
/// features. Its reward is the first feature of the chosen green. The features that the initial
/// policy reads ("near" and "is_present") are 0 for all greens.
/// @param traffic value of the feature "light_vehicles" for all greens. Without a value the feature
///   is random. A feature that is equal for all greens has no effect on the choice.
inline LightHistory simulate_light(LightPolicy& policy, int decisions, std::uint64_t seed,
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
    const std::int32_t chosen =
        act(policy, {.light = 0, .num_greens = greens, .present = 0}, rows, {}, rng, light);
    light.reward.push_back(rows[static_cast<std::size_t>(chosen) * columns]);
  }
  return light;
}

/// Simulates a rank's share of `count` episodes with two lights each: the episodes whose number
/// (`order`) is `remainder` modulo `modulus`.
inline std::vector<EpisodeHistory> simulate_episodes(LightPolicy& policy, std::int64_t count,
                                                     std::int64_t remainder, std::int64_t modulus,
                                                     std::uint64_t seed = 1) {
  std::vector<EpisodeHistory> episodes;
  for (std::int64_t order = remainder; order < count; order += modulus) {
    EpisodeHistory episode{.order = order, .lights = {}};
    for (int light = 0; light < 2; ++light) {
      const auto decisions = static_cast<int>(10 + 5 * light + order);
      episode.lights.push_back(simulate_light(
          policy, decisions,
          derive_seed(seed,
                      {static_cast<std::uint64_t>(order), static_cast<std::uint64_t>(light)})));
    }
    episodes.push_back(std::move(episode));
  }
  return episodes;
}

/// Simulates an episode of three lights in a ring. Each light has two greens, which differ in their
/// first feature, and its node in the graph has an edge from the next light. Only the features of
/// the next light's node tell which green gets the reward.
inline EpisodeHistory simulate_ring(LightPolicy& policy, std::int64_t order, int moments,
                                    std::uint64_t seed) {
  constexpr std::int32_t kLights = 3;
  Rng rng(seed);
  EpisodeHistory episode{.order = order, .lights = {kLights, LightHistory{}}};
  std::vector<float> rows(2 * scene::signal_features().size(), 0.0F);
  rows[scene::signal_features().size()] = 1.0F;
  for (int m = 0; m < moments; ++m) {
    scene::SignalGraph graph;
    graph.node_features.assign(kLights * scene::num_signal_node_features(), 0.0F);
    graph.edge_ptr = {0, 1, 2, 3};
    graph.edge_src = {1, 2, 0};
    graph.edge_features.assign(kLights * scene::signal_edge_features().size(), 0.5F);
    for (std::int32_t l = 0; l < kLights; ++l) {
      graph.node_features[static_cast<std::size_t>(l) * scene::num_signal_node_features()] =
          static_cast<float>(rng.uniform_int(2));
    }
    for (std::int32_t l = 0; l < kLights; ++l) {
      if (rng.uniform() < 0.2) continue;  // this light may not switch now
      LightHistory& light = episode.lights[static_cast<std::size_t>(l)];
      const std::int32_t chosen =
          act(policy, {.light = l, .num_greens = 2, .present = 0}, rows, graph.view(), rng, light);
      const auto next = static_cast<std::size_t>((l + 1) % kLights);
      const bool good = graph.node_features[next * scene::num_signal_node_features()] > 0.5F;
      light.reward.push_back((chosen == 1) == good ? 1.0F : 0.0F);
      light.moment.push_back(m);
    }
    episode.moments.push_back(std::move(graph));
  }
  return episode;
}

/// Simulates a rank's share of `count` episodes of the ring: the episodes whose number (`order`) is
/// `remainder` modulo `modulus`.
inline std::vector<EpisodeHistory> simulate_ring_episodes(LightPolicy& policy, std::int64_t count,
                                                          std::int64_t remainder,
                                                          std::int64_t modulus,
                                                          std::uint64_t seed = 1) {
  std::vector<EpisodeHistory> episodes;
  for (std::int64_t order = remainder; order < count; order += modulus) {
    episodes.push_back(simulate_ring(policy, order, static_cast<int>(15 + order),
                                     derive_seed(seed, {static_cast<std::uint64_t>(order)})));
  }
  return episodes;
}

}  // namespace traffic::train::lights::testing
