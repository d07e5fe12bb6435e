/// The learner DDPG (deep deterministic policy gradients). A critic network estimates the value of
/// an observation and an action. The actor network learns to choose actions of high value, by the
/// gradient of the critic.
#pragma once

#include "offpolicy/mlp_learner.h"

namespace traffic::train::offpolicy {

class Ddpg final : public MlpLearner {
 public:
  Ddpg(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
       comm::Communicator& communicator);

  Figures update(const Batch& batch, const UpdateContext& context) override;
  [[nodiscard]] model::Mlp& policy() override { return online(kActor); }
  [[nodiscard]] bool samples() const override { return true; }
  [[nodiscard]] std::int64_t action_dim() const override { return is_soft_ ? num_actions_ : 0; }

 private:
  enum : std::size_t { kActor, kCritic };

  /// Converts the logits of an actor into the action vector that the critic reads.
  /// @param logits [B, actions]
  /// @return [B, actions]
  torch::Tensor action_of(const torch::Tensor& logits, Rng& rng) const;
  torch::Tensor critic_loss(const Batch& batch, const UpdateContext& context);

  std::int64_t num_actions_;
  bool is_soft_;  ///< whether offpolicy.ddpg_action is softmax
};

}  // namespace traffic::train::offpolicy
