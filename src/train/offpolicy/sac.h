/// The learner SAC (soft actor-critic) for discrete actions. The objective of its actor network is
/// the value of the actions plus their entropy, weighted by a temperature. Two critic networks
/// estimate the values.
#pragma once

#include "offpolicy/mlp_learner.h"
#include "traffic/rl/discrete_sac.h"

namespace traffic::train::offpolicy {

class Sac final : public MlpLearner {
 public:
  Sac(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
      comm::Communicator& communicator);

  Figures update(const Batch& batch, const UpdateContext& context) override;
  [[nodiscard]] model::Mlp& policy() override { return online(kActor); }
  [[nodiscard]] bool samples() const override { return true; }
  void save_to(checkpoint::Snapshot& snapshot) const override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;

 private:
  enum : std::size_t { kActor, kFirst, kSecond };

  torch::Tensor critic_loss(const Batch& batch, double denominator);
  void adapt_temperature(double entropy_sum, const UpdateContext& context);

  comm::Communicator& communicator_;
  double target_entropy_;       ///< entropy in nats that the adapted temperature should lead to
  double log_temperature_ = 0;  ///< logarithm of the weight of the entropy
};

}  // namespace traffic::train::offpolicy
