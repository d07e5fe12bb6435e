// Log-probability and entropy of the actions that were taken in given states, with hand-written
// derivatives on the CPU.
#include <ATen/Dispatch.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "check.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/log_softmax.h"

namespace traffic::rl {
namespace {

void check(const torch::Tensor& logits, const TakenActions& taken) {
  check_floating("categorical_terms: logits", logits, 2);
  check_tensor("categorical_terms: row", taken.row, {taken.row.numel()}, torch::kInt64,
               logits.device());
  check_tensor("categorical_terms: action", taken.action, taken.row.sizes(), torch::kInt64,
               logits.device());
  if (!logits.is_cpu()) return;
  const auto within = [](const torch::Tensor& index, std::int64_t size) {
    const auto* first = index.const_data_ptr<std::int64_t>();
    return std::all_of(first, first + index.numel(),
                       [&](std::int64_t i) { return i >= 0 && i < size; });
  };
  if (!within(taken.row, logits.size(0)) || !within(taken.action, logits.size(1))) {
    throw ShapeError("categorical_terms: a row or an action does not exist in the logits, {}",
                     describe(logits));
  }
}

/// One decision: the log-probabilities of its possible actions, and the entropy of this
/// distribution.
template <typename T>
struct Decision {
  Decision(const T* logit, std::int64_t actions) : log_prob(logit, logit + actions) {
    log_softmax_in_place(std::span(log_prob));
    for (const T x : log_prob) entropy -= std::exp(x) * x;
  }

  std::vector<T> log_prob;
  T entropy = 0;
};

struct CategoricalTerms : torch::autograd::Function<CategoricalTerms> {
  using Context = torch::autograd::AutogradContext;
  using Tensors = torch::autograd::variable_list;

  static Tensors forward(Context* context, const torch::Tensor& logits, const torch::Tensor& row,
                         const torch::Tensor& action) {
    const torch::Tensor all = logits.contiguous();
    context->save_for_backward({all, row, action});
    torch::Tensor log_prob = torch::empty(row.sizes(), all.options());
    torch::Tensor entropy = torch::empty_like(log_prob);
    AT_DISPATCH_FLOATING_TYPES(all.scalar_type(), "categorical_terms", [&] {
      const auto* row_of = row.const_data_ptr<std::int64_t>();
      const auto* taken = action.const_data_ptr<std::int64_t>();
      for (std::int64_t d = 0; d < row.numel(); ++d) {
        const Decision<scalar_t> decision(all.const_data_ptr<scalar_t>() + row_of[d] * all.size(1),
                                          all.size(1));
        log_prob.mutable_data_ptr<scalar_t>()[d] =
            decision.log_prob[static_cast<std::size_t>(taken[d])];
        entropy.mutable_data_ptr<scalar_t>()[d] = decision.entropy;
      }
    });
    return {log_prob, entropy};
  }

  static Tensors backward(Context* context, Tensors grads) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor& logits = saved[0];
    const std::int64_t actions = logits.size(1);
    const torch::Tensor of_log_prob = grads[0].contiguous();
    const torch::Tensor of_entropy = grads[1].contiguous();
    torch::Tensor grad = torch::zeros_like(logits);
    AT_DISPATCH_FLOATING_TYPES(logits.scalar_type(), "categorical_terms_backward", [&] {
      const auto* row_of = saved[1].const_data_ptr<std::int64_t>();
      const auto* taken = saved[2].const_data_ptr<std::int64_t>();
      for (std::int64_t d = 0; d < saved[1].numel(); ++d) {
        const Decision<scalar_t> decision(logits.const_data_ptr<scalar_t>() + row_of[d] * actions,
                                          actions);
        const scalar_t by_log_prob = of_log_prob.const_data_ptr<scalar_t>()[d];
        const scalar_t by_entropy = of_entropy.const_data_ptr<scalar_t>()[d];
        auto* out = grad.mutable_data_ptr<scalar_t>() + row_of[d] * actions;
        for (std::int64_t a = 0; a < actions; ++a) {
          const scalar_t log_prob = decision.log_prob[static_cast<std::size_t>(a)];
          const scalar_t slope = by_log_prob + by_entropy * (log_prob + decision.entropy);
          out[a] -= std::exp(log_prob) * slope;
        }
        out[taken[d]] += by_log_prob;
      }
    });
    return {grad, {}, {}};
  }
};

}  // namespace

ActionTerms categorical_terms(const torch::Tensor& logits, const TakenActions& taken) {
  check(logits, taken);
  if (!logits.is_cpu()) {
    const Categorical of_rows(logits.index_select(0, taken.row));
    return {.log_prob = of_rows.log_prob(taken.action), .entropy = of_rows.entropy()};
  }
  const auto terms =
      CategoricalTerms::apply(logits, taken.row.contiguous(), taken.action.contiguous());
  return {.log_prob = terms[0], .entropy = terms[1]};
}

}  // namespace traffic::rl
