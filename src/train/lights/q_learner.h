/// Double Q-learning of a policy of traffic lights, from a replay of decisions.
#pragma once

#include <cstdint>
#include <vector>

#include "lights/learner.h"
#include "lights/q_row.h"
#include "offpolicy/learner.h"
#include "offpolicy/rank_replay.h"
#include "offpolicy/updates.h"
#include "policy/light_policy.h"
#include "traffic/config/config.h"
#include "traffic/core/time_split.h"

namespace traffic::train::lights {

/// The update: the value of a light and of the green that it chooses is V + the green's logit less
/// the mean over the light's greens (Wang et al. 2016), so that the greedy policy is the policy
/// that every other program knows. Errors count in units of the root of what the returns of
/// their light vary by: in seconds what is decided where little traffic is would be learned last,
/// in units of that itself what is decided where much is.
class QUpdate final : public offpolicy::Learner {
 public:
  /// Collective. @param online what learns; outlives this, like the target
  QUpdate(const offpolicy::OffPolicy& settings, LightPolicy& online, LightPolicy& target,
          const RowLayout& layout, comm::Communicator& communicator);

  /// @param batch rows of the layout; returns and discounts in its action vectors
  offpolicy::Figures update(const offpolicy::Batch& batch,
                            const offpolicy::UpdateContext& context) override;

 private:
  [[nodiscard]] torch::Tensor next_values(const torch::Tensor& next_obs);

  LightPolicy& online_;
  LightPolicy& target_;
  RowLayout layout_;
};

class QLearner final : public Learner {
 public:
  /// Collective. @param policy outlives this, like what else it is given
  /// @throws ResourceError if the replay does not fit into memory
  QLearner(const config::Config& config, LightPolicy& policy, comm::Communicator& communicator,
           TimeSplit& time_split);

  void begin_iteration(std::int64_t decisions) override;
  [[nodiscard]] double gamma() const override { return settings_.gamma; }
  std::optional<Learned> learn(const std::vector<EpisodeHistory>& episodes,
                               std::int64_t num_episodes, std::int64_t iteration) override;

  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return update_.networks().parameters();
  }
  [[nodiscard]] WeightsInUse weights_in_use() const override { return mean_.use(); }
  [[nodiscard]] std::int64_t skipped_steps() const override {
    return update_.networks().skipped_steps();
  }
  [[nodiscard]] std::int64_t bytes_of_parts() const override { return replay_.bytes_of_parts(); }
  [[nodiscard]] MemoryNeeds memory_needs() const override { return {.host = replay_.bytes()}; }

  void start_from(const checkpoint::Snapshot& snapshot) override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;

 private:
  offpolicy::OffPolicy settings_;
  std::int64_t iterations_;
  double reward_scale_;
  LightPolicy& policy_;
  comm::Communicator& communicator_;
  LightPolicy target_;
  RowLayout layout_;
  QUpdate update_;
  MeanWeights mean_;
  offpolicy::RankReplay replay_;
  offpolicy::Updates updates_;
  double epsilon_ = 0.0;  ///< of this iteration
};

}  // namespace traffic::train::lights
