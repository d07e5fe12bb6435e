// The losses of PPO by loops on the CPU, with hand-written derivatives (ppo_loss_terms.h).
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ppo_loss_terms.h"

namespace traffic::rl {
namespace {

using Context = torch::autograd::AutogradContext;
using Tensors = torch::autograd::variable_list;

/// Reads elements of a tensor. If the tensor is undefined, each has the value `otherwise`.
template <typename T>
class Elements {
 public:
  explicit Elements(const torch::Tensor& tensor)
      : tensor_(tensor.defined() ? tensor.contiguous() : tensor),
        data_(tensor.defined() ? tensor_.template const_data_ptr<T>() : nullptr) {}

  [[nodiscard]] T at(std::int64_t i, T otherwise) const {
    return data_ == nullptr ? otherwise : data_[i];
  }

 private:
  torch::Tensor tensor_;
  const T* data_;
};

using Sums = std::array<double, kNumPpoSums>;

/// Where `Sums` contains the sums of one kind of terms: those over decisions, or those over
/// selections.
struct PolicySumsAt {
  PpoSum loss, entropy, kl, clipped, count;
};
constexpr PolicySumsAt kOfDecisions{kDecisionLoss, kDecisionEntropy, kDecisionKl, kClippedDecisions,
                                    kDecisions};
constexpr PolicySumsAt kOfSelections{kSelectionLoss, kSelectionEntropy, kSelectionKl,
                                     kClippedSelections, kSelections};

/// Adds the terms of one kind (decisions or selections) to `sums`.
/// @return derivatives of their loss with respect to log_prob
template <typename T>
torch::Tensor add_policy_terms(const PolicyTerms& in, double clip_range, const PolicySumsAt& at,
                               Sums& sums) {
  torch::Tensor slopes = torch::zeros(in.log_prob.sizes(), in.log_prob.options());
  const Elements<T> log_prob(in.log_prob);
  const Elements<T> old_log_prob(in.old_log_prob);
  const Elements<T> advantages(in.advantages);
  const Elements<T> entropy(in.entropy);
  const Elements<bool> mask(in.mask);
  for (std::int64_t i = 0; i < slopes.numel(); ++i) {
    if (!mask.at(i, true)) continue;
    const double advantage = advantages.at(i, 0);
    const double log_ratio =
        static_cast<double>(log_prob.at(i, 0)) - static_cast<double>(old_log_prob.at(i, 0));
    const double ratio = std::exp(log_ratio);
    const double as_is = -advantage * ratio;
    const double clipped = -advantage * std::clamp(ratio, 1.0 - clip_range, 1.0 + clip_range);
    // For a NaN the comparison is false, so that the NaN reaches the gradient.
    const bool is_clipped = as_is < clipped;
    sums[static_cast<std::size_t>(at.loss)] += is_clipped ? clipped : as_is;
    sums[static_cast<std::size_t>(at.entropy)] += entropy.at(i, 0);
    sums[static_cast<std::size_t>(at.kl)] += std::expm1(log_ratio) - log_ratio;
    sums[static_cast<std::size_t>(at.clipped)] += std::abs(ratio - 1.0) > clip_range ? 1.0 : 0.0;
    sums[static_cast<std::size_t>(at.count)] += 1.0;
    slopes.mutable_data_ptr<T>()[i] = is_clipped ? T{0} : static_cast<T>(as_is);
  }
  return slopes;
}

/// Adds the terms of the value loss to `sums`.
/// @return derivatives of the value loss with respect to the values
template <typename T>
torch::Tensor add_value_terms(const ValueTerms& in, double range, Sums& sums) {
  torch::Tensor slopes = torch::zeros(in.values.sizes(), in.values.options());
  const Elements<T> values(in.values);
  const Elements<T> old_values(in.old_values);
  const Elements<T> returns(in.returns);
  const Elements<bool> mask(in.mask);
  for (std::int64_t i = 0; i < slopes.numel(); ++i) {
    if (!mask.at(i, true)) continue;
    const double wanted = returns.at(i, 0);
    const double old_value = old_values.at(i, 0);
    const double error = static_cast<double>(values.at(i, 0)) - wanted;
    const double moved = static_cast<double>(values.at(i, 0)) - old_value;
    const double held = old_value - wanted + std::clamp(moved, -range, range);
    const bool is_held = range > 0.0 && std::abs(moved) > range && held * held > error * error;
    sums[kValueLoss] += is_held ? held * held : error * error;
    sums[kValues] += 1.0;
    const double missed = wanted - old_value;
    sums[kReturnSum] += wanted;
    sums[kReturnSquares] += wanted * wanted;
    sums[kErrorSum] += missed;
    sums[kErrorSquares] += missed * missed;
    slopes.mutable_data_ptr<T>()[i] = is_held ? T{0} : static_cast<T>(2.0 * error);
  }
  return slopes;
}

/// Derivatives of a loss with respect to the outputs of the policy and the value function.
struct Slopes {
  std::vector<torch::Tensor> inputs;
  std::vector<torch::Tensor> slopes;

  void add(const torch::Tensor& input, const torch::Tensor& slope) {
    inputs.push_back(input);
    slopes.push_back(slope);
  }
};

template <typename T>
double loss_of(const PpoLossInputs& in, const PpoDenominators& denominators,
               const PpoCoefficients& coefficients, Sums& sums, Slopes& slopes) {
  const auto of_policy = [&](const PolicyTerms& terms, const PolicySumsAt& at) {
    slopes.add(
        terms.log_prob,
        add_policy_terms<T>(terms, coefficients.clip_range, at, sums).div_(denominators.decisions));
    if (!terms.entropy.defined()) return;
    const torch::Tensor slope =
        torch::full_like(terms.entropy, -coefficients.ent_coef / denominators.decisions);
    slopes.add(terms.entropy, terms.mask.defined() ? slope * terms.mask : slope);
  };
  of_policy(in.decisions, kOfDecisions);
  if (in.selections.log_prob.defined()) of_policy(in.selections, kOfSelections);
  slopes.add(in.values.values, add_value_terms<T>(in.values, coefficients.vf_clip_range, sums)
                                   .mul_(coefficients.vf_coef / denominators.values));
  const double policy = sums[kDecisionLoss] + sums[kSelectionLoss] -
                        coefficients.ent_coef * (sums[kDecisionEntropy] + sums[kSelectionEntropy]);
  return policy / denominators.decisions +
         coefficients.vf_coef * sums[kValueLoss] / denominators.values;
}

/// A scalar with known derivatives with respect to its inputs.
struct KnownSlopes : torch::autograd::Function<KnownSlopes> {
  static torch::Tensor forward(Context* context, const torch::Tensor& loss, const Slopes& slopes,
                               at::TensorList /*inputs*/) {
    context->save_for_backward(slopes.slopes);
    return loss;
  }

  static Tensors backward(Context* context, const Tensors& grads) {
    Tensors out(2);  // no gradients for the loss and the slopes themselves
    for (const torch::Tensor& slope : context->get_saved_variables()) {
      out.push_back(slope * grads[0]);
    }
    return out;
  }
};

torch::Tensor scalar_like(const torch::Tensor& x, double value) {
  return torch::full({}, value, x.options().requires_grad(false));
}

}  // namespace

PpoLoss ppo_loss_in_loops(const PpoLossInputs& in, const PpoDenominators& denominators,
                          const PpoCoefficients& coefficients) {
  Sums sums{};
  Slopes slopes;
  torch::Tensor loss;
  {
    const torch::NoGradGuard no_grad;
    loss = scalar_like(in.values.values,
                       AT_DISPATCH_FLOATING_TYPES(in.values.values.scalar_type(), "ppo_loss", [&] {
                         return loss_of<scalar_t>(in, denominators, coefficients, sums, slopes);
                       }));
  }
  return {KnownSlopes::apply(loss, slopes, at::TensorList(slopes.inputs)),
          torch::tensor(at::ArrayRef<double>(sums), torch::kDouble)};
}

torch::Tensor value_loss_sum_in_loops(const ValueTerms& in, double vf_clip_range) {
  Sums sums{};
  Slopes slopes;
  {
    const torch::NoGradGuard no_grad;
    AT_DISPATCH_FLOATING_TYPES(in.values.scalar_type(), "value_loss", [&] {
      slopes.add(in.values, add_value_terms<scalar_t>(in, vf_clip_range, sums));
    });
  }
  return KnownSlopes::apply(scalar_like(in.values, sums[kValueLoss]), slopes,
                            at::TensorList(slopes.inputs));
}

}  // namespace traffic::rl
