// The loss of PPO: checks the inputs and chooses an implementation (ppo_loss_terms.h).
#include "traffic/rl/ppo_loss.h"

#include <string>

#include "check.h"
#include "ppo_loss_terms.h"

namespace traffic::rl {
namespace {

void check_mask(const std::string& name, const torch::Tensor& mask, const torch::Tensor& model) {
  if (mask.defined()) check_tensor(name, mask, model.sizes(), torch::kBool, model.device());
}

void check_terms(const std::string& name, const PolicyTerms& in) {
  check_floating(name + ".log_prob", in.log_prob, 1);
  check_like(name + ".old_log_prob", in.old_log_prob, in.log_prob);
  check_like(name + ".advantages", in.advantages, in.log_prob);
  if (in.entropy.defined()) check_like(name + ".entropy", in.entropy, in.log_prob);
  check_mask(name + ".mask", in.mask, in.log_prob);
}

void check_values(const ValueTerms& in) {
  if (!in.values.defined() || !in.values.is_floating_point()) {
    throw ShapeError("ppo: values is {}, expected floating point", describe(in.values));
  }
  check_like("ppo: old_values", in.old_values, in.values);
  check_like("ppo: returns", in.returns, in.values);
  check_mask("ppo: values.mask", in.mask, in.values);
}

void check_inputs(const PpoLossInputs& in) {
  check_terms("ppo: decisions", in.decisions);
  if (in.selections.log_prob.defined()) check_terms("ppo: selections", in.selections);
  check_values(in.values);
}

}  // namespace

torch::Tensor value_loss_sum(const ValueTerms& in, double vf_clip_range) {
  check_values(in);
  return in.values.is_cpu() ? value_loss_sum_in_loops(in, vf_clip_range)
                            : value_loss_sum_by_operations(in, vf_clip_range);
}

PpoLoss ppo_loss(const PpoLossInputs& in, const PpoDenominators& denominators,
                 const PpoCoefficients& coefficients) {
  check_inputs(in);
  return in.values.values.is_cpu() ? ppo_loss_in_loops(in, denominators, coefficients)
                                   : ppo_loss_by_operations(in, denominators, coefficients);
}

}  // namespace traffic::rl
