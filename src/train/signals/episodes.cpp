#include "signals/episodes.h"

#include <spdlog/spdlog.h>

#include <map>
#include <span>
#include <utility>

#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"

namespace traffic::train::signals {
namespace {

class Handler final : public rollout::EpisodeHandler {
 public:
  Handler(rollout::SignalPool& pool, const EpisodesWanted& wanted)
      : pool_(pool),
        wanted_(wanted),
        histories_(wanted.policy, wanted.crediting),
        ended_(wanted.orders.size()) {
    for (const int env : pool.my_envs()) progress_[env] = {};
  }

  rollout::EpisodeProgress& progress(int env) override { return progress_.at(env); }

  void begin(int env) override {
    const std::int64_t order = order_of(env);
    rollout::EpisodeSpec spec = wanted_.spec_of(order);
    if (const auto losses = progress(env).losses; losses > 0) {
      spec.traffic.seed =
          derive_seed(spec.traffic.seed, {kRetryStream, static_cast<std::uint64_t>(losses)});
    }
    std::optional<std::uint64_t> sampling_seed;
    if (wanted_.sampling_seed) {
      sampling_seed = derive_seed(*wanted_.sampling_seed, {static_cast<std::uint64_t>(order)});
    }
    histories_.begin(env, order, sampling_seed);
    spec.signal_graph = histories_.looks_around();
    pool_.start_episode(env, spec);
  }

  void lose(const rollout::Event& event) override {
    spdlog::warn("episode {} lost: {}", order_of(event.env), event.why);
  }

  bool take_in(int env) override {
    histories_.take_in(env, pool_.period(env));
    return true;
  }

  void end(int env) override {
    ended_.at(static_cast<std::size_t>(progress(env).episode)) = histories_.end(env);
  }

  void decide(std::span<const int> envs) override {
    for (const int env : envs) pool_.act(env, histories_.decide(env, pool_.period(env)));
  }

  std::vector<EpisodeHistory> take() { return std::move(ended_); }

 private:
  [[nodiscard]] std::int64_t order_of(int env) const {
    return wanted_.orders.at(static_cast<std::size_t>(progress_.at(env).episode));
  }

  rollout::SignalPool& pool_;
  const EpisodesWanted& wanted_;
  std::map<int, rollout::EpisodeProgress> progress_;
  LightHistories histories_;
  std::vector<EpisodeHistory> ended_;
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
