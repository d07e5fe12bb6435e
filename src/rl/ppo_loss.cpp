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

double count(const torch::Tensor& x, const torch::Tensor& mask) {
  const auto terms =
      static_cast<double>(mask.defined() ? mask.sum().item<std::int64_t>() : x.numel());
  return terms > 0.0 ? terms : 1.0;  // a sum over nothing is 0 whatever it is divided by
}

}  // namespace

torch::Tensor value_loss_sum(const ValueTerms& in, double vf_clip_range) {
  check_values(in);
  return may_loop_over(in.values) ? value_loss_sum_in_loops(in, vf_clip_range)
                                  : value_loss_sum_by_operations(in, vf_clip_range);
}

PpoLoss ppo_loss(const PpoLossInputs& in, const PpoDenominators& denominators,
                 const PpoCoefficients& coefficients) {
  check_inputs(in);
  return may_loop_over(in.values.values) ? ppo_loss_in_loops(in, denominators, coefficients)
                                         : ppo_loss_by_operations(in, denominators, coefficients);
}

PpoLoss ppo_loss_on_device(const PpoLossInputs& in, const torch::Tensor& denominators,
                           const PpoCoefficients& coefficients) {
  check_inputs(in);
  check_tensor("ppo: denominators", denominators, {kNumDenominators},
               in.values.values.scalar_type(), in.values.values.device());
  return ppo_loss_by_operations(in, denominators, coefficients);
}

PpoDenominators count_terms(const PpoLossInputs& in) {
  return {.decisions = count(in.decisions.log_prob, in.decisions.mask),
          .values = count(in.values.values, in.values.mask)};
}

}  // namespace traffic::rl
