#include "signals/episodes.h"

#include <spdlog/spdlog.h>

#include <cmath>
#include <span>
#include <utility>

#include "policy/decider.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::signals {
namespace {

/// The episode of an environment.
struct Running {
  rollout::EpisodeProgress progress;
  EpisodeHistory history;
  std::uint64_t sampling_seed = 0;
  std::int64_t decisions = 0;
};

class Handler final : public rollout::EpisodeHandler {
 public:
  Handler(rollout::SignalPool& pool, const EpisodesWanted& wanted)
      : pool_(pool), wanted_(wanted), ended_(wanted.orders.size()) {
    for (const int env : pool.my_envs()) running_[env] = {};
  }

  rollout::EpisodeProgress& progress(int env) override { return running_.at(env).progress; }

  void begin(int env) override {
    Running& state = running_.at(env);
    state = {.progress = state.progress, .history = {}};
    state.history.order = wanted_.orders.at(static_cast<std::size_t>(state.progress.episode));
    rollout::EpisodeSpec spec = wanted_.spec_of(state.history.order);
    if (state.progress.losses > 0) {
      spec.traffic.seed = derive_seed(
          spec.traffic.seed, {kRetryStream, static_cast<std::uint64_t>(state.progress.losses)});
    }
    if (keeps()) {
      state.sampling_seed =
          derive_seed(*wanted_.sampling_seed, {static_cast<std::uint64_t>(state.history.order)});
    }
    spec.frames = looks_around();
    pool_.start_episode(env, spec);
  }

  void lose(const rollout::Event& event) override {
    spdlog::warn("episode {} lost: {}", running_.at(event.env).history.order, event.why);
  }

  bool take_in(int env) override {
    EpisodeHistory& history = running_.at(env).history;
    const rollout::SignalPeriod& period = pool_.period(env);
    history.score = period.score;
    if (!keeps()) return true;
    history.lights.resize(period.lost_s.size());
    for (std::size_t l = 0; l < history.lights.size(); ++l) {
      LightHistory& light = history.lights[l];
      if (light.reward.empty()) continue;
      const double discount = std::pow(wanted_.gamma, static_cast<double>(light.periods.back()));
      light.reward.back() -= static_cast<float>(wanted_.reward_scale * discount * period.lost_s[l]);
      ++light.periods.back();
    }
    return true;
  }

  void end(int env) override {
    Running& state = running_.at(env);
    state.history.env_steps = std::llround(state.history.score.seconds);
    ended_.at(static_cast<std::size_t>(state.progress.episode)) = std::move(state.history);
  }

  /// One by one: what a simulation is told does not depend on which others have answered.
  void decide(std::span<const int> envs) override {
    for (const int env : envs) pool_.act(env, decide_one(running_.at(env), pool_.period(env)));
  }

  std::vector<EpisodeHistory> take() { return std::move(ended_); }

 private:
  [[nodiscard]] bool keeps() const { return wanted_.sampling_seed.has_value(); }
  [[nodiscard]] bool looks_around() const {
    return wanted_.policy != nullptr && wanted_.policy->looks_around();
  }

  const std::vector<scene::SignalCommand>& decide_one(Running& state,
                                                      const rollout::SignalPeriod& period) {
    commands_.clear();
    if (wanted_.policy == nullptr || period.choices.empty()) return commands_;
    const SignalBatch batch = wanted_.policy->observe(period.choices, period.rows, period.graph);
    uniforms_.clear();
    if (keeps()) {
      uniforms_.resize(static_cast<std::size_t>(batch.rows.size(0)));
      draw_uniforms(state.sampling_seed, state.decisions, uniforms_);
    }
    ++state.decisions;
    const SignalDecisions made = wanted_.policy->decide(batch, uniforms_);
    for (std::size_t b = 0; b < period.choices.size(); ++b) {
      commands_.push_back({period.choices[b].light, made.green[b]});
    }
    if (keeps()) keep(state.history, period, made);
    return commands_;
  }

  void keep(EpisodeHistory& history, const rollout::SignalPeriod& period,
            const SignalDecisions& made) const {
    const auto moment = static_cast<std::int64_t>(history.moments.size());
    if (looks_around()) history.moments.emplace_back(period.graph);
    const std::size_t columns = scene::signal_features().size();
    const float* row = period.rows.data();
    for (std::size_t b = 0; b < period.choices.size(); ++b) {
      const rollout::SignalChoice& choice = period.choices[b];
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

  rollout::SignalPool& pool_;
  const EpisodesWanted& wanted_;
  std::map<int, Running> running_;
  std::vector<EpisodeHistory> ended_;
  std::vector<scene::SignalCommand> commands_;
  std::vector<float> uniforms_;
};

}  // namespace

std::optional<std::vector<EpisodeHistory>> run_episodes(rollout::SignalPool& pool,
                                                        const EpisodesWanted& wanted,
                                                        TimeSplit& time_split) {
  Handler handler(pool, wanted);
  rollout::Collector collector(pool, time_split);
  rollout::Collector::Stop stop;
  if (wanted.may_give_up) stop = [] { return stop_requested(); };
  if (!collector.run_episodes(wanted.orders.size(), handler, stop)) return std::nullopt;
  return handler.take();
}

}  // namespace traffic::train::signals
