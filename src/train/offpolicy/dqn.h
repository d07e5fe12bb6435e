/// The learner DQN: double Q-learning with a dueling network. Its policy takes the action with the
/// highest value.
#pragma once

#include "offpolicy/mlp_learner.h"

namespace traffic::train::offpolicy {

class Dqn final : public MlpLearner {
 public:
  Dqn(const OffPolicy& settings, const Spaces& spaces, std::uint64_t seed,
      comm::Communicator& communicator);

  Figures update(const Batch& batch, const UpdateContext& context) override;
  [[nodiscard]] model::Mlp& policy() override { return online(0); }
  [[nodiscard]] std::int64_t first_score() const override { return 1; }
  [[nodiscard]] bool samples() const override { return false; }

 private:
  torch::Tensor next_values(const torch::Tensor& next_obs);
};

}  // namespace traffic::train::offpolicy
