/// Trains the policy of traffic lights by double Q-learning, from a replay of decisions (q_row.h).
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

/// Computes the update of Q-learning. The action value of a green is the state value V, plus the
/// logit of the green, minus the mean logit of the light's greens (dueling network, Wang et al.
/// 2016). The green with the highest logit therefore has the highest value, so other programs can
/// run the policy without knowing how it was trained.
///
/// The update divides errors by the square root of the standard deviation of the light's returns.
/// Without this division, lights with little traffic would learn last. With a division by the
/// deviation itself, lights with much traffic would learn last.
class QUpdate final : public offpolicy::Learner {
 public:
  /// Collective.
  /// @param online policy to be trained; must outlive this object
  /// @param target copy of the policy that values the next states; must outlive this object
  QUpdate(const offpolicy::OffPolicy& settings, LightPolicy& online, LightPolicy& target,
          const RowLayout& layout, comm::Communicator& communicator);

  /// @param batch observations are rows of the layout; the columns of action vectors are those of
  ///   ReturnColumn
  offpolicy::Figures update(const offpolicy::Batch& batch,
                            const offpolicy::UpdateContext& context) override;

 private:
  [[nodiscard]] torch::Tensor next_values(const torch::Tensor& next_obs);

  LightPolicy& online_;
  LightPolicy& target_;
  RowLayout layout_;
};

/// Fills the replay with the decisions of each iteration and makes the updates that are due.
class QLearner final : public Learner {
 public:
  /// Collective. All references must outlive this object.
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
  double epsilon_ = 0.0;  ///< probability of a random choice in this iteration
};

}  // namespace traffic::train::lights
