#include "lights/light_histories.h"

#include <cmath>
#include <utility>

#include "policy/decider.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::lights {

void LightHistories::begin(int env, std::int64_t order,
                           std::optional<std::uint64_t> sampling_seed) {
  Running& state = running_[env];
  state = {.history = {}, .sampling_seed = sampling_seed};
  state.history.order = order;
}

void LightHistories::take_in(int env, const rollout::Period& period) {
  Running& state = running_.at(env);
  EpisodeHistory& history = state.history;
  if (!state.sampling_seed) return;
  history.lights.resize(period.of<rollout::LightSection>().cost_s.size());
  for (std::size_t l = 0; l < history.lights.size(); ++l) {
    LightHistory& light = history.lights[l];
    if (light.reward.empty()) continue;
    const double discount = std::pow(crediting_.gamma, static_cast<double>(light.periods.back()));
    light.reward.back() -= static_cast<float>(crediting_.reward_scale * discount *
                                              period.of<rollout::LightSection>().cost_s[l]);
    ++light.periods.back();
  }
}

const std::vector<scene::SignalCommand>& LightHistories::decide(
    int env, const rollout::LightSection& period) {
  commands_.clear();
  if (period.choices.empty()) return commands_;
  Running& state = running_.at(env);
  const LightBatch batch = policy_.observe(period.choices, period.rows, period.graph);
  uniforms_.clear();
  if (state.sampling_seed) {
    uniforms_.resize(static_cast<std::size_t>(batch.rows.size(0)));
    draw_uniforms(*state.sampling_seed, state.decisions, uniforms_);
  }
  ++state.decisions;
  const LightDecisions made = policy_.decide(batch, uniforms_);
  for (std::size_t b = 0; b < period.choices.size(); ++b) {
    commands_.push_back({period.choices[b].light, made.green[b]});
  }
  if (state.sampling_seed) keep(state.history, period, made);
  return commands_;
}

EpisodeHistory LightHistories::end(int env) { return std::move(running_.at(env).history); }

void LightHistories::keep(EpisodeHistory& history, const rollout::LightSection& period,
                          const LightDecisions& made) const {
  const auto moment = static_cast<std::int64_t>(history.moments.size());
  if (looks_around()) history.moments.emplace_back(period.graph);
  const std::size_t columns = scene::signal_features().size();
  const float* row = period.rows.data();
  for (std::size_t b = 0; b < period.choices.size(); ++b) {
    const rollout::LightChoice& choice = period.choices[b];
    LightHistory& light = history.lights.at(static_cast<std::size_t>(choice.light));
    const float* end = row + static_cast<std::size_t>(choice.num_greens) * columns;
    light.rows.insert(light.rows.end(), row, end);
    row = end;
    light.greens.push_back(choice.num_greens);
    light.present.push_back(choice.present);
    light.chosen.push_back(made.green[b]);
    light.log_prob.push_back(made.log_prob[b]);
    light.value.push_back(made.value[b]);
    light.reward.push_back(0.0F);
    light.periods.push_back(0);
    if (looks_around()) light.moment.push_back(moment);
  }
}

}  // namespace traffic::train::lights
