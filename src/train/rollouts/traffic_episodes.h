/// The handler that tells the collector (rollout/pool/collector.h) how to run episodes of traffic.
/// It starts episodes, lets agents decide, and records experience.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "rollouts/traffic_collector.h"

namespace traffic::train {

/// The episodes that one call of the collector runs.
struct EpisodesWanted {
  /// Episodes to run; null if fragments of episodes are collected.
  const std::vector<EpisodeRequest>* requests = nullptr;
  std::function<void(std::size_t, const rollout::Period&)> on_period{};
  Behaviour behaviour{};
  rollout::PieceStore store{};  ///< used if the behaviour has no stores
  std::int64_t steps = 0;  ///< control steps that each environment contributes; only for fragments
  TrafficCollector::TrafficOf traffic_of{};  ///< only for fragments
  /// States by environment; for fragments, the caller sets them.
  std::map<int, EpisodeState> states{};
  /// Only for fragments: whether the simulations have run other episodes meanwhile, so that they
  /// must repeat the commands of `states` first.
  bool replays = false;
  std::int64_t& env_steps;  ///< counter to which the simulation steps are added
};

/// Handles the episodes of one call of the collector. The functions are defined in
/// traffic_episodes.cpp (begin, reward, end), decide.cpp (the policy decides) and follow.cpp (a
/// scripted controller decides).
class TrafficEpisodes final : public rollout::FragmentHandler {
 public:
  TrafficEpisodes(const config::Config& config, rollout::TrafficPool& pool, EpisodesWanted wanted);

  [[nodiscard]] Collected& collected() { return collected_; }
  [[nodiscard]] std::map<int, EpisodeState> take_states() { return std::move(wanted_.states); }

  rollout::EpisodeProgress& progress(int env) override { return wanted_.states[env].progress; }
  void begin(int env) override;
  bool resume(int env) override;
  bool take_in(int env) override;
  void end(int env) override;
  void lose(const rollout::Event& event) override;
  void observe(std::span<const int> envs) override;
  void cut(int env) override;
  void decide(std::span<const int> envs) override;

 private:
  [[nodiscard]] const Behaviour& behaviour() const { return wanted_.behaviour; }
  /// The policy of the vehicles; null if vehicles do not act.
  [[nodiscard]] const Decider* decider() const { return behaviour().actors.vehicles; }
  /// The agents other than the vehicles.
  [[nodiscard]] const std::vector<AgentInEpisodes*>& others() const {
    return behaviour().actors.others;
  }
  /// Whether fragments of episodes are collected instead of whole episodes.
  [[nodiscard]] bool of_fragments() const { return wanted_.requests == nullptr; }
  /// Whether experience is kept for learning.
  [[nodiscard]] bool keeps() const { return behaviour().sampling_seed.has_value(); }
  /// Whether steps of vehicles are kept for learning.
  [[nodiscard]] bool keeps_steps() const { return keeps() && decider() != nullptr; }
  /// Whether decisions are drawn at random.
  [[nodiscard]] bool samples() const { return keeps() || behaviour().decides == Decides::kSampled; }
  [[nodiscard]] const EpisodeRequest& request_of(const EpisodeState& state) const {
    return (*wanted_.requests)[static_cast<std::size_t>(state.progress.episode)];
  }
  [[nodiscard]] bool per_conflict() const;
  [[nodiscard]] std::int64_t credited(const scene::Candidate& candidate) const;
  [[nodiscard]] Step begin_step(Observation seen, const rollout::Period& period) const;
  void order(int env, std::span<const scene::Command> commands);
  bool replay(EpisodeState& state, int env);
  void value(EpisodeState& state, const rollout::Period& period, double from_s);
  void charge(EpisodeState& state, const rollout::Period& period, double step_s) const;
  void decide_by_policy(std::span<const int> envs);
  void act(int env, const DecidedState& decided);
  [[nodiscard]] bool follows(int env);
  void note_commandable(EpisodeState& state, const rollout::Period& period) const;
  void follow(int env);
  void take_over(EpisodeState& state, const rollout::Period& period) const;

  const config::Config& config_;
  rollout::TrafficPool& pool_;
  EpisodesWanted wanted_;
  Collected collected_;
};

}  // namespace traffic::train
