#include "joint/lights.h"

#include <algorithm>
#include <string>
#include <utility>

#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train::joint {

Lights::Lights(const config::Config& config, comm::Communicator& communicator)
    : communicator_(communicator),
      settings_(config.lights),
      policy_(signals::kind_of(settings_),
              derive_seed(static_cast<std::uint64_t>(config.run.seed), {kControllerStream})),
      learner_(config, policy_, communicator),
      histories_(&policy_, {.reward_scale = settings_.reward_scale, .gamma = learner_.gamma()}) {}

void Lights::begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) {
  // Vehicles draw from it as it is.
  if (sampling_seed) sampling_seed = derive_seed(*sampling_seed, {kLightSamplingStream});
  histories_.begin(env, order, sampling_seed);
}

void Lights::take_in(int env, const rollout::SignalPeriod& period) {
  histories_.take_in(env, period);
}

std::span<const scene::SignalCommand> Lights::decide(int env, const rollout::SignalPeriod& period) {
  return histories_.decide(env, period);
}

void Lights::end(int env) {
  signals::EpisodeHistory history = histories_.end(env);
  if (!history.lights.empty()) kept_.push_back(std::move(history));
}

std::optional<report::NamedValues> Lights::learn(std::int64_t episodes, std::int64_t iteration) {
  std::sort(kept_.begin(), kept_.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  const auto learned = learner_.learn(kept_, episodes, iteration);
  if (!learned) return std::nullopt;
  decisions_ += learned->decisions;
  report::NamedValues figures;
  for (const auto& [name, value] : learned->figures) {
    figures.emplace_back("lights/" + name.substr(name.find('/') + 1), value);
  }
  return figures;
}

void Lights::judge(const std::function<void()>& use) {
  comm::check_replicas_equal(communicator_, learner_.parameters().flat(),
                             "the parameters of the lights before an evaluation");
  const signals::WeightsInUse in_use = learner_.weights_in_use();
  use();
}

bool Lights::are_in(const checkpoint::Snapshot& snapshot) const {
  return has_signal_policy(snapshot);
}

void Lights::start_from(const checkpoint::Snapshot& snapshot) {
  check_signal_kind(snapshot, policy_.kind());
  learner_.start_from(snapshot);
}

void Lights::restore_from(const checkpoint::Snapshot& snapshot) {
  check_signal_kind(snapshot, policy_.kind());
  learner_.restore_from(snapshot);
  decisions_ = snapshot.integer("signals/decisions");
}

void Lights::save_to(checkpoint::Snapshot& snapshot) const {
  learner_.save_to(snapshot);
  put_signal_kind(snapshot, policy_.kind());
  snapshot.put_int("signals/decisions", decisions_);
}

}  // namespace traffic::train::joint
