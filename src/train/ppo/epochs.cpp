#include "ppo/epochs.h"

#include <algorithm>
#include <cmath>

#include "traffic/core/fault.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/signals.h"

namespace traffic::train {
namespace {

/// Runs zero_grad, forward and backward of the minibatch's parts, and one step of each optimiser.
/// @return false if the policy has diverged too far; then no step was taken
bool run_minibatch(const PpoEpochs& in, const torch::Tensor& minibatch,
                   const rl::PpoDenominators& denominators, comm::Communicator& communicator,
                   torch::Tensor& sums_of_epoch) {
  return minibatch_step(in.gradients, in.optimisers, in.clip_norm, [&] {
    torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
    for (const torch::Tensor& states : minibatch.tensor_split(in.accumulation_steps)) {
      const auto loss = in.loss(states, denominators);
      if (!loss) continue;
      loss->loss.backward();
      sums += loss->sums.to(torch::kCPU);
    }
    communicator.all_reduce(sums);
    sums_of_epoch += sums;
    const double kl = rl::ppo_statistics(sums).approx_kl;
    // If the divergence is not finite, neither is the gradient. The optimiser then skips the step
    // and counts it as skipped.
    if (std::isfinite(kl) && rl::is_kl_over(kl, in.target_kl)) return false;
    if (fault::hit("train.step", communicator.rank(), in.optimisers.back().optimiser.num_steps()) ==
        fault::Action::kNan) {
      in.gradients.flat().narrow(0, 0, 1).fill_(std::nan(""));
    }
    return true;
  });
}

}  // namespace

bool is_given_up(comm::Communicator& communicator) {
  return communicator.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) > 0.0;
}

std::optional<PpoEpochsResult> run_epochs(const PpoEpochs& in, comm::Communicator& communicator) {
  PpoEpochsResult result;
  bool within_kl = true;
  while (within_kl && result.epochs < in.num_epochs) {
    if (is_given_up(communicator)) return std::nullopt;
    const auto minibatches = split_minibatches(in.global_state, in.total_states, in.seed,
                                               {.stream = kPolicyMinibatchStream,
                                                .iteration = in.iteration,
                                                .epoch = result.epochs,
                                                .size = in.minibatch_states});
    const auto denominators = in.count(minibatches);
    torch::Tensor sums = torch::zeros({rl::kNumPpoSums}, torch::kDouble);
    for (std::size_t i = 0; i < minibatches.size(); ++i) {
      within_kl = run_minibatch(in, minibatches[i], denominators[i], communicator, sums);
      if (!within_kl) break;
      result.grad_norm += in.optimisers.back().norm;
      ++result.steps;
    }
    result.statistics = rl::ppo_statistics(sums);
    ++result.epochs;
  }
  result.grad_norm /= static_cast<double>(std::max<std::int64_t>(1, result.steps));
  return result;
}

}  // namespace traffic::train
