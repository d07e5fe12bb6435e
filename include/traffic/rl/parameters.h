/// Parameters of PPO (phases 2 and 3) and of the cost limit (phase 3), with their defaults.
#pragma once

#include <cstdint>

namespace traffic::rl {

struct PpoParameters {
  std::int64_t train_batch_size = 4000;        ///< control steps of all ranks in one iteration
  std::int64_t minibatch_size = 128;           ///< states of all ranks in one update
  std::int64_t num_epochs = 10;                ///< epochs over the batch in one iteration
  std::int64_t rollout_fragment_length = 200;  ///< control steps of an environment in one iteration
  std::int64_t value_first_epochs = 12;        ///< epochs before the first policy update that train
                                               ///< the value function only
  double learning_rate = 3e-4;
  double gamma = 0.99;
  double gae_lambda = 0.95;
  double clip_range = 0.2;      ///< maximum deviation from 1 of the ratio of new to old probability
  double vf_clip_range = 10.0;  ///< limit on the change of a value, in standardised units; 0 means
                                ///< that there is no limit
  double ent_coef = 0.01;       ///< weight of the entropy bonus
  double vf_coef = 0.5;         ///< weight of the value loss
  double target_kl = 0.02;  ///< an iteration ends when approx_kl exceeds 1.5 * target_kl; 0 means
                            ///< that it never ends early
  double clip_norm = 0.5;   ///< maximum norm of the gradient
  std::int64_t eval_interval = 10;  ///< iterations between evaluations
};

struct ConstraintParameters {
  double cost_limit = 0.1;     ///< maximum of the mean cost of a control step
  double lagrange_lr = 0.05;   ///< change of the multiplier per unit of cost over the limit
  double lagrange_init = 0.0;  ///< initial multiplier
  double lagrange_max = 10.0;
};

}  // namespace traffic::rl
