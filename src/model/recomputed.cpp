// Gradient checkpointing: the backward pass calls a function again instead of keeping its results.
#include "recomputed.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <utility>

namespace traffic::model {
namespace {

using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// The function, in a form that autograd can keep.
struct Kept : torch::CustomClassHolder {
  TensorFunction function;
};

/// A node of the autograd graph whose backward pass calls the function again.
class Recomputed : public torch::autograd::Function<Recomputed> {
 public:
  static Tensor forward(AutogradContext* ctx, at::TensorList inputs,
                        const c10::intrusive_ptr<Kept>& kept) {
    ctx->save_for_backward(inputs.vec());
    ctx->saved_data["kept"] = at::IValue::make_capsule(kept);
    return kept->function(inputs);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(ctx->saved_data["kept"].toCapsule());
    variable_list inputs;
    variable_list wanted;
    for (const Tensor& saved : ctx->get_saved_variables()) {
      inputs.push_back(saved.detach().set_requires_grad(saved.requires_grad()));
      if (saved.requires_grad()) wanted.push_back(inputs.back());
    }
    const torch::AutoGradMode with_gradients(true);
    const Tensor output = kept->function(inputs);
    const variable_list found = torch::autograd::grad({output}, wanted, {grads[0]}, std::nullopt,
                                                      false, /*allow_unused=*/true);
    variable_list out;
    for (std::size_t i = 0, next = 0; i < inputs.size(); ++i) {
      out.push_back(inputs[i].requires_grad() ? found[next++] : Tensor());
    }
    out.emplace_back();
    return out;
  }
};

}  // namespace

at::Tensor recomputed(const TensorFunction& function, at::TensorList inputs) {
  if (!torch::GradMode::is_enabled()) return function(inputs);
  auto kept = c10::make_intrusive<Kept>();
  kept->function = function;
  return Recomputed::apply(inputs, kept);
}

}  // namespace traffic::model
