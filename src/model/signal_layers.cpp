// The layers of the traffic lights' network: in ATen operations, and as one node of the autograd
// graph.
#include "signal_layers.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dense_products.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The implementation with ATen operations.

/// The mean over the rows of each light, [B, H].
/// @param light [R] light of each row
Tensor mean_of_lights(const Tensor& rows, const Tensor& light, std::int64_t lights) {
  const Tensor sum = torch::zeros({lights, rows.size(1)}, rows.options()).index_add(0, light, rows);
  const Tensor count = torch::zeros({lights}, rows.options())
                           .index_add(0, light, torch::ones({light.size(0)}, rows.options()));
  return sum / count.unsqueeze(1);
}

Tensor max_of_lights(const Tensor& rows, const Tensor& light, std::int64_t lights) {
  const Tensor index = light.unsqueeze(1).expand_as(rows);
  return torch::zeros({lights, rows.size(1)}, rows.options())
      .scatter_reduce(0, index, rows, "amax", /*include_self=*/false);
}

// The implementation as one node of the autograd graph.

/// Tensors that the backward pass needs. Shapes: B lights, R greens, H the width of the layers.
enum SavedTensor : std::size_t {
  kFirst,    ///< [R, H]: output of the first layer
  kGreens,   ///< [R, H]: output of the second layer
  kBeside,   ///< [B, 2 H]: mean over a light's greens, and its current green
  kChoice,   ///< [R, H]: output of the layer before the logits
  kAll,      ///< [B, 2 H]: mean and maximum over a light's greens
  kHighest,  ///< [B, H] int64: row of each maximum in kAll
  kState,    ///< [B, H]: output of the layer before the values
  kNumSaved
};

/// Results of a forward pass.
struct Pass {
  std::array<Tensor, kNumSaved> kept;
  Tensor logits;  ///< [R]
  Tensor values;  ///< [B]
};

/// Multiplies each row of x by a vector: a layer with one output. @return [rows of x]
Tensor times_vector(const Tensor& x, const Tensor& weight) {
  const std::int64_t width = x.size(1);
  Tensor out = at::empty({x.size(0)}, x.options());
  const auto* row = x.const_data_ptr<float>();
  const auto* w = weight.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  for (std::int64_t r = 0; r < x.size(0); ++r, row += width) {
    float sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum += row[c] * w[c];
    to[r] = sum;
  }
  return out;
}

/// Multiplies a vector by each factor: the gradient of x in times_vector().
/// @return [factors, width]
Tensor scaled_by(const Tensor& factors, const Tensor& weight) {
  const std::int64_t width = weight.numel();
  Tensor out = at::empty({factors.size(0), width}, weight.options());
  const auto* factor = factors.const_data_ptr<float>();
  const auto* w = weight.const_data_ptr<float>();
  auto* row = out.mutable_data_ptr<float>();
  for (std::int64_t r = 0; r < factors.size(0); ++r, row += width) {
    for (std::int64_t c = 0; c < width; ++c) row[c] = factor[r] * w[c];
  }
  return out;
}

/// Computes kBeside, kAll and kHighest from kGreens.
void reduce_lights(const SignalLayerInput& in, std::array<Tensor, kNumSaved>& kept) {
  const Tensor& greens = kept[kGreens];
  const std::int64_t width = greens.size(1);
  const std::int64_t lights = in.present.size(0);
  kept[kBeside] = at::empty({lights, 2 * width}, greens.options());
  kept[kAll] = at::empty({lights, 2 * width}, greens.options());
  kept[kHighest] = at::empty({lights, width}, at::kLong);
  const auto* green = greens.const_data_ptr<float>();
  const auto* light = in.light.const_data_ptr<std::int64_t>();
  const auto* present = in.present.const_data_ptr<std::int64_t>();
  auto* beside = kept[kBeside].mutable_data_ptr<float>();
  auto* all = kept[kAll].mutable_data_ptr<float>();
  auto* highest = kept[kHighest].mutable_data_ptr<std::int64_t>();
  std::int64_t row = 0;
  for (std::int64_t b = 0; b < lights; ++b) {
    const std::int64_t first = row;
    float* mean = all;
    float* most = all + width;
    std::copy_n(green + first * width, width, mean);
    std::copy_n(green + first * width, width, most);
    std::fill_n(highest, width, first);
    for (++row; row < in.light.size(0) && light[row] == b; ++row) {
      const float* of_row = green + row * width;
      for (std::int64_t c = 0; c < width; ++c) {
        mean[c] += of_row[c];
        if (of_row[c] <= most[c]) continue;
        most[c] = of_row[c];
        highest[c] = row;
      }
    }
    const auto count = static_cast<float>(row - first);
    for (std::int64_t c = 0; c < width; ++c) mean[c] /= count;
    std::copy_n(mean, width, beside);
    std::copy_n(green + present[b] * width, width, beside + width);
    beside += 2 * width;
    all += 2 * width;
    highest += width;
  }
}

Pass run_forward(const SignalLayerInput& in, at::TensorList p) {
  Pass pass;
  auto& kept = pass.kept;
  Tensor first = dense(in.rows, p[kFirstWeight], p[kFirstBias]);
  if (in.encoding.defined()) {
    add_shared(first, dense(in.encoding, p[kAroundWeight], {}), in.light);
  }
  kept[kFirst] = tanh_in_place(first);
  kept[kGreens] = tanh_in_place(dense(kept[kFirst], p[kSecondWeight], p[kSecondBias]));
  reduce_lights(in, kept);
  const std::int64_t width = kept[kGreens].size(1);
  const Tensor& choice_weight = p[kChoiceWeight];
  Tensor choice = dense(kept[kGreens], choice_weight.narrow(1, 0, width), p[kChoiceBias]);
  add_shared(choice, dense(kept[kBeside], choice_weight.narrow(1, width, 2 * width), {}), in.light);
  kept[kChoice] = tanh_in_place(choice);
  kept[kState] = tanh_in_place(dense(kept[kAll], p[kStateWeight], p[kStateBias]));
  pass.logits = times_vector(kept[kChoice], p[kLogitWeight]);
  const Tensor rule = times_vector(in.rows, p[kRuleWeight]);
  auto* logit = pass.logits.mutable_data_ptr<float>();
  for (std::int64_t r = 0; r < rule.size(0); ++r) logit[r] += rule.const_data_ptr<float>()[r];
  pass.values = times_vector(kept[kState], p[kValueWeight]);
  const float bias = *p[kValueBias].const_data_ptr<float>();
  auto* value = pass.values.mutable_data_ptr<float>();
  for (std::int64_t b = 0; b < pass.values.size(0); ++b) value[b] += bias;
  return pass;
}

/// Adds the contributions through kBeside and kAll to grad, the gradient of kGreens.
/// @param of_beside, of_all [B, 2 H] gradients of kBeside and kAll
void spread_lights(const SignalLayerInput& in, const std::array<Tensor, kNumSaved>& kept,
                   const Tensor& of_beside, const Tensor& of_all, Tensor& grad) {
  const std::int64_t width = grad.size(1);
  const auto* light = in.light.const_data_ptr<std::int64_t>();
  const auto* present = in.present.const_data_ptr<std::int64_t>();
  const auto* beside = of_beside.const_data_ptr<float>();
  const auto* all = of_all.const_data_ptr<float>();
  const auto* highest = kept[kHighest].const_data_ptr<std::int64_t>();
  auto* to = grad.mutable_data_ptr<float>();
  std::int64_t row = 0;
  for (std::int64_t b = 0; b < in.present.size(0); ++b) {
    const std::int64_t first = row;
    while (row < in.light.size(0) && light[row] == b) ++row;
    const float share = 1.0F / static_cast<float>(row - first);
    float* of_present = to + present[b] * width;
    for (std::int64_t c = 0; c < width; ++c) {
      const float of_mean = share * (beside[c] + all[c]);
      for (std::int64_t r = first; r < row; ++r) to[r * width + c] += of_mean;
      of_present[c] += beside[width + c];
      to[highest[c] * width + c] += all[width + c];
    }
    beside += 2 * width;
    all += 2 * width;
    highest += width;
  }
}

/// The gradient of the vector in times_vector(), [1, width].
Tensor of_vector(const Tensor& grad, const Tensor& x) {
  return product_of_transposed(grad.unsqueeze(1), x);
}

/// The variables are the tensors that can get gradients, in one list: the parameters, then the
/// encodings of the lights. Without an encoder the last two variables, kAroundWeight and kEncoding,
/// are absent.
constexpr std::size_t kEncoding = kNumSignalLayerParameters;
constexpr std::size_t kVariablesWithout = kAroundWeight;
constexpr std::size_t kVariablesWith = kEncoding + 1;

/// @return gradients of the variables
variable_list run_backward(const SignalLayerInput& in, at::TensorList p,
                           const std::array<Tensor, kNumSaved>& kept, const Tensor& of_logits,
                           const Tensor& of_values) {
  variable_list out(in.encoding.defined() ? kVariablesWith : kVariablesWithout);
  const std::int64_t width = kept[kGreens].size(1);
  const std::int64_t lights = in.present.size(0);

  out[kLogitWeight] = of_vector(of_logits, kept[kChoice]);
  out[kRuleWeight] = of_vector(of_logits, in.rows);
  const Tensor of_choice = through_tanh(scaled_by(of_logits, p[kLogitWeight]), kept[kChoice]);
  const Tensor of_choices = sum_groups(of_choice, in.light, lights);
  out[kChoiceWeight] = at::cat({product_of_transposed(of_choice, kept[kGreens]),
                                product_of_transposed(of_choices, kept[kBeside])},
                               1);
  out[kChoiceBias] = sum_rows(of_choice);
  Tensor of_greens = product(of_choice, p[kChoiceWeight].narrow(1, 0, width));
  const Tensor of_beside = product(of_choices, p[kChoiceWeight].narrow(1, width, 2 * width));

  out[kValueWeight] = of_vector(of_values, kept[kState]);
  out[kValueBias] = sum_rows(of_values.unsqueeze(1));
  const Tensor of_state = through_tanh(scaled_by(of_values, p[kValueWeight]), kept[kState]);
  out[kStateWeight] = product_of_transposed(of_state, kept[kAll]);
  out[kStateBias] = sum_rows(of_state);
  spread_lights(in, kept, of_beside, product(of_state, p[kStateWeight]), of_greens);

  const Tensor of_second = through_tanh(of_greens, kept[kGreens]);
  out[kSecondWeight] = product_of_transposed(of_second, kept[kFirst]);
  out[kSecondBias] = sum_rows(of_second);
  const Tensor of_first = through_tanh(product(of_second, p[kSecondWeight]), kept[kFirst]);
  out[kFirstWeight] = product_of_transposed(of_first, in.rows);
  out[kFirstBias] = sum_rows(of_first);
  if (in.encoding.defined()) {
    const Tensor of_lights = sum_groups(of_first, in.light, lights);
    out[kAroundWeight] = product_of_transposed(of_lights, in.encoding);
    out[kEncoding] = product(of_lights, p[kAroundWeight]);
  }
  return out;
}

/// Number of inputs that the node saves: rows, lights and current greens.
constexpr std::size_t kInputs = 3;

/// The layers as one node of the autograd graph.
struct SignalLayersNode : torch::autograd::Function<SignalLayersNode> {
  static variable_list forward(AutogradContext* context, const SignalLayerInput& in,
                               at::TensorList all) {
    Pass pass = run_forward(in, all);
    variable_list saved = all.vec();
    saved.insert(saved.end(), {in.rows, in.light, in.present});
    saved.insert(saved.end(), pass.kept.begin(), pass.kept.end());
    context->save_for_backward(std::move(saved));
    return {pass.logits, pass.values};
  }

  static variable_list backward(AutogradContext* context, const variable_list& grads) {
    const variable_list saved = context->get_saved_variables();
    const std::size_t variables = saved.size() - kInputs - kNumSaved;
    const auto* input = &saved[variables];
    const SignalLayerInput in{
        .rows = input[0],
        .light = input[1],
        .present = input[2],
        .encoding = variables == kVariablesWith ? saved[kEncoding] : Tensor()};
    std::array<Tensor, kNumSaved> kept;
    std::copy_n(input + kInputs, kept.size(), kept.begin());
    // Autograd passes zeros as the gradient of an output that was not used.
    variable_list out = run_backward(in, saved, kept, grads[0].contiguous(), grads[1].contiguous());
    out.insert(out.begin(), Tensor());  // no gradient for the input
    return out;
  }
};

}  // namespace

SignalOutput signal_layers_by_operations(const SignalLayerInput& in,
                                         const SignalLayerParameters& p) {
  const std::int64_t lights = in.present.size(0);
  Tensor first = at::linear(in.rows, p[kFirstWeight], p[kFirstBias]);
  if (in.encoding.defined()) {
    first = first + at::linear(in.encoding, p[kAroundWeight]).index_select(0, in.light);
  }
  const Tensor greens = at::linear(first.tanh(), p[kSecondWeight], p[kSecondBias]).tanh();
  const Tensor mean = mean_of_lights(greens, in.light, lights);
  const Tensor present = greens.index_select(0, in.present);
  const Tensor beside = torch::cat({mean, present}, 1).index_select(0, in.light);  // [R, 2 H]
  const Tensor choice =
      at::linear(torch::cat({greens, beside}, 1), p[kChoiceWeight], p[kChoiceBias]).tanh();
  const Tensor all = torch::cat({mean, max_of_lights(greens, in.light, lights)}, 1);
  const Tensor state = at::linear(all, p[kStateWeight], p[kStateBias]).tanh();
  const Tensor logits = at::linear(choice, p[kLogitWeight]) + at::linear(in.rows, p[kRuleWeight]);
  return {.logits = logits.squeeze(1),
          .values = at::linear(state, p[kValueWeight], p[kValueBias]).squeeze(1)};
}

SignalOutput signal_layers(const SignalLayerInput& in, const SignalLayerParameters& parameters) {
  if (!in.rows.is_cpu() || in.rows.scalar_type() != at::kFloat) {
    return signal_layers_by_operations(in, parameters);
  }
  TRAFFIC_CHECK(in.rows.is_contiguous() && in.light.is_contiguous() && in.present.is_contiguous(),
                "rows, light and present must be contiguous");
  variable_list all(parameters.begin(), parameters.begin() + kVariablesWithout);
  if (in.encoding.defined()) all.insert(all.end(), {parameters[kAroundWeight], in.encoding});
  if (!at::GradMode::is_enabled()) {
    Pass pass = run_forward(in, all);
    return {.logits = pass.logits, .values = pass.values};
  }
  const variable_list out = SignalLayersNode::apply(in, at::TensorList(all));
  return {.logits = out[0], .values = out[1]};
}

}  // namespace traffic::model
