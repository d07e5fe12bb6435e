// Moves the parameters of a target network towards those of the trained network.
#include "traffic/rl/target_update.h"

#include "check.h"

namespace traffic::rl {

void soft_update(const torch::Tensor& target, const torch::Tensor& online, double tau) {
  check_like("the target's parameters", target, online);
  const torch::NoGradGuard no_grad;
  if (tau == 1.0) {
    target.copy_(online);
  } else {
    target.lerp_(online, tau);
  }
}

}  // namespace traffic::rl
