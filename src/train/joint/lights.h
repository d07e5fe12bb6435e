/// Traffic lights that learn by PPO in the episodes of the controller of vehicles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ppo/trained_lights.h"
#include "signals/light_histories.h"
#include "signals/ppo_learner.h"
#include "signals/settings.h"

namespace traffic::train::joint {

/// Nothing that they do or learn depends on the number of ranks, as with the training signals.
class Lights final : public TrainedLights, private LightSetter {
 public:
  /// Collective.
  Lights(const config::Config& config, comm::Communicator& communicator);

  [[nodiscard]] LightSetter& setter() override { return *this; }
  void begin_iteration() override { kept_.clear(); }
  std::optional<report::NamedValues> learn(std::int64_t episodes, std::int64_t iteration) override;
  void judge(const std::function<void()>& use) override;

  [[nodiscard]] bool are_in(const checkpoint::Snapshot& snapshot) const override;
  void start_from(const checkpoint::Snapshot& snapshot) override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  [[nodiscard]] std::int64_t skipped_steps() const override { return learner_.skipped_steps(); }
  [[nodiscard]] std::int64_t decisions() const override { return decisions_; }

 private:
  [[nodiscard]] bool looks_around() const override { return histories_.looks_around(); }
  void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) override;
  void take_in(int env, const rollout::SignalPeriod& period) override;
  std::span<const scene::SignalCommand> decide(int env,
                                               const rollout::SignalPeriod& period) override;
  void end(int env) override;

  comm::Communicator& communicator_;
  config::Lights settings_;
  SignalPolicy policy_;
  signals::PpoLearner learner_;
  signals::LightHistories histories_;
  std::vector<signals::EpisodeHistory> kept_;
  std::int64_t decisions_ = 0;  ///< of all ranks, learned from
};

}  // namespace traffic::train::joint
