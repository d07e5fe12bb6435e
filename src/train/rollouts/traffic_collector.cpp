#include "rollouts/traffic_collector.h"

#include <utility>

#include "rollouts/traffic_episodes.h"
#include "traffic/core/error.h"

namespace traffic::train {

TrafficCollector::TrafficCollector(const config::Config& config, rollout::TrafficPool& pool,
                                   TimeSplit& time_split)
    : config_(config), pool_(pool), collector_(pool, time_split) {
  for (const int env : pool.my_envs()) fragments_[env] = {};
}

std::vector<EpisodeOutcome> TrafficCollector::run_uncontrolled(
    const std::vector<EpisodeRequest>& requests,
    const std::function<void(std::size_t, const rollout::Period&)>& on_period,
    const rollout::PieceStore& store) {
  simulations_run_fragments_ = false;
  TrafficEpisodes episodes(
      config_, pool_,
      {.requests = &requests, .on_period = on_period, .store = store, .env_steps = env_steps_});
  collector_.run_episodes(requests.size(), episodes);
  return std::move(episodes.collected().outcomes);
}

Collected TrafficCollector::run(
    const std::vector<EpisodeRequest>& requests, const Behaviour& behaviour,
    const std::function<void(std::size_t, const rollout::Period&)>& on_period) {
  simulations_run_fragments_ = false;
  TrafficEpisodes episodes(config_, pool_,
                           {.requests = &requests,
                            .on_period = on_period,
                            .behaviour = behaviour,
                            .env_steps = env_steps_});
  const bool ended = collector_.run_episodes(requests.size(), episodes, behaviour.gives_up);
  episodes.collected().given_up = !ended;
  return std::move(episodes.collected());
}

Collected TrafficCollector::run_fragments(std::int64_t steps, const Behaviour& behaviour,
                                          const TrafficOf& traffic_of) {
  TRAFFIC_CHECK(behaviour.sampling_seed.has_value(),
                "fragments need a sampling seed, since they are always kept");
  TRAFFIC_CHECK(behaviour.actors.others.empty(),
                "agents other than vehicles learn from whole episodes, not from fragments");
  TrafficEpisodes episodes(config_, pool_,
                           {.behaviour = behaviour,
                            .steps = steps,
                            .traffic_of = traffic_of,
                            .states = std::move(fragments_),
                            .replays = !simulations_run_fragments_,
                            .env_steps = env_steps_});
  simulations_run_fragments_ = true;
  const bool ended = collector_.run_fragments(steps, episodes, behaviour.gives_up);
  episodes.collected().given_up = !ended;
  fragments_ = episodes.take_states();
  return std::move(episodes.collected());
}

void TrafficCollector::restore_fragment(int env, EpisodeState state) {
  fragments_.at(env) = std::move(state);
  simulations_run_fragments_ = false;
}

}  // namespace traffic::train
