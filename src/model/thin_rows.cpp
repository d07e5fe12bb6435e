// Expresses LayerNorm(W x + b) as a product with few columns (a thin input, encoder_layer.h).
#include "thin_rows.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <vector>

namespace traffic::model {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// 1 / sqrt(x gram x^T + kNormEps) for each row of x, [N, 1].
Tensor inverse_norms(const Tensor& x, const Tensor& gram) {
  return ((x.mm(gram) * x).sum(1, true) + kNormEps).rsqrt();
}

/// sum over n of scale[n] * x[n]^T x[n]
Tensor weighted_gram(const Tensor& x, const Tensor& scale) {
  const std::int64_t width = x.size(1);
  const auto* row = x.const_data_ptr<float>();
  const auto* factor = scale.const_data_ptr<float>();
  Tensor total = at::zeros({width, width}, at::kDouble);
  auto* sums = total.mutable_data_ptr<double>();
  for (std::int64_t n = 0; n < x.size(0); ++n, row += width) {
    for (std::int64_t i = 0; i < width; ++i) {
      const double left = static_cast<double>(factor[n]) * row[i];
      for (std::int64_t j = 0; j < width; ++j) sums[i * width + j] += left * row[j];
    }
  }
  return total.to(at::kFloat);
}

/// rows = x / sqrt(x gram x^T + kNormEps), row by row; differentiable with respect to gram only.
/// Its gradient is a sum over all nodes in their order, so it does not depend on the number of
/// threads. The gradient of a matrix product may depend on that number.
class ThinRows : public torch::autograd::Function<ThinRows> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x, const Tensor& gram) {
    const Tensor inverse = inverse_norms(x, gram);
    ctx->save_for_backward({x, inverse});
    return x * inverse;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const Tensor& x = saved[0];
    const Tensor& inverse = saved[1];
    const Tensor scale = (grads[0] * x).sum(1, true) * inverse.pow(3) * -0.5;
    return {Tensor(), weighted_gram(x, scale.contiguous())};
  }
};

}  // namespace

ThinForm thin_form(torch::nn::LinearImpl& input, torch::nn::LayerNormImpl& norm) {
  // If the columns of (W, b) are centred, the mean over channels is zero and the variance is a
  // quadratic form of (x, 1).
  const Tensor weight = torch::cat({input.weight.t(), input.bias.unsqueeze(0)});
  const Tensor centred = weight - weight.mean(1, true);
  // Elementwise instead of mm, because MKL rounds small products differently with another number of
  // threads.
  const Tensor gram = (centred.unsqueeze(0) * centred.unsqueeze(1)).mean(2);
  const std::int64_t padding = -weight.size(0) & (kernels::kWidthUnit - 1);
  const Tensor basis = torch::constant_pad_nd(centred * norm.weight, {0, 0, 0, padding});
  return {gram, {basis, norm.bias}};
}

ThinInput thin_input(const Tensor& features, const ThinForm& form) {
  const Tensor x =
      torch::cat({features, torch::ones({features.size(0), 1}, features.options())}, 1);
  const Tensor rows = ThinRows::apply(x, form.gram);
  return {torch::constant_pad_nd(rows, {0, form.of.basis.size(0) - x.size(1)}), form.of};
}

}  // namespace traffic::model
