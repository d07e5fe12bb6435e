#include "graphed_minibatch.h"

#include <utility>

#include "traffic/core/operations_only.h"

namespace traffic::train {

GraphedMinibatch::GraphedMinibatch(Policy& policy, const rl::PpoCoefficients& coefficients,
                                   std::unique_ptr<Recorder> recorder)
    : policy_(policy),
      coefficients_(coefficients),
      minibatch_(policy.device()),
      sums_(torch::zeros({rl::kNumPpoSums},
                         torch::TensorOptions().dtype(torch::kDouble).device(policy.device()))),
      step_(std::move(recorder)) {}

void GraphedMinibatch::reserve(const Experience& experience,
                               const std::vector<torch::Tensor>& parts) {
  const MinibatchSize needed = largest_of(experience, parts);
  if (minibatch_.has_room_for(needed)) return;
  step_.forget();
  minibatch_.reserve(experience, needed);
}

torch::Tensor GraphedMinibatch::add_gradients(const PaddedMinibatch::Part& part) {
  minibatch_.fill(part);
  step_.run([this] { compute(); });
  // Waits for the step, so that the next minibatch may be filled in.
  return sums_.to(torch::kCPU, /*non_blocking=*/false, /*copy=*/true);
}

void GraphedMinibatch::compute() {
  const OperationsOnly operations;
  const MinibatchTensors& in = minibatch_.tensors();
  const PolicyInput input{.own = in.own,
                          .shared = in.shared,
                          .segments = rl::Segments::in_place(in.candidate_ptr, in.candidate_state)};
  const Decisions decisions{.picks = in.picks, .row = in.row, .action = in.action, .lane = in.lane};
  const rl::PpoLoss loss = rl::ppo_loss_on_device(loss_inputs(policy_, input, decisions, in),
                                                  in.denominators, coefficients_);
  loss.loss.backward();
  sums_.copy_(loss.sums);
}

}  // namespace traffic::train
