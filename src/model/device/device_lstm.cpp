// The LSTM on GPUs, with its backward pass. Shapes: T steps, S vehicles, H units.
#include "device_lstm.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <utility>

namespace traffic::model::device {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

const float* values_or_null(const Tensor& t) {
  return t.defined() ? t.const_data_ptr<float>() : nullptr;
}
/// Pointer to the values of one step within those of all steps.
float* at_step(const Tensor& all, std::int64_t step) {
  return all.mutable_data_ptr<float>() + step * all.stride(0);
}

/// Data that a layer keeps for its backward pass.
struct RecurrentTape {
  Tensor input;   ///< [T, S, input]
  Tensor gates;   ///< [T, S, 4 H]
  Tensor cell;    ///< [T, S, H]
  Tensor output;  ///< [T, S, H]
};

/// Data kept for the backward pass of all layers.
struct SequenceTape : torch::CustomClassHolder {
  at::ScalarType type = at::kFloat;
  const LstmKernels* kernels = nullptr;
  Tensor present;
  std::vector<RecurrentTape> layers;
};

/// Multiplies matrices after rounding them to `type`. The results are float32.
struct Products {
  at::ScalarType type;
  [[nodiscard]] Tensor operator()(const Tensor& a, const Tensor& b) const {
    return at::mm(a.to(type), b.to(type)).to(at::kFloat);
  }
};

const std::uint8_t* present_at(const Tensor& present, std::int64_t step) {
  if (!present.defined()) return nullptr;
  return present.const_data_ptr<std::uint8_t>() + step * present.size(1);
}

/// Computes what the inputs of all steps and the biases contribute to the gates, [T, S, 4 H].
Tensor gates_of_inputs(const Tensor& input, const LstmLayerParameters& p, at::ScalarType type) {
  const Tensor bias = p[kBiasIh] + p[kBiasHh];
  const Tensor rows = input.flatten(0, 1);
  const Tensor gates = type == at::kFloat ? at::addmm(bias, rows, p[kWeightIh].t())
                                          : Products{type}(rows, p[kWeightIh].t()).add_(bias);
  return gates.view({input.size(0), input.size(1), gates.size(1)});
}

/// Runs one layer over all steps.
/// @param hidden, cell [S, H] state before the first step; undefined: zero
RecurrentTape run_steps(const Tensor& input, const LstmLayerParameters& p, const Tensor& present,
                        const Tensor& hidden, const Tensor& cell, at::ScalarType type,
                        const LstmKernels& kernels) {
  const std::int64_t steps = input.size(0);
  const std::int64_t rows = input.size(1);
  const std::int64_t units = p[kWeightHh].size(1);
  RecurrentTape tape{.input = input,
                     .gates = gates_of_inputs(input, p, type),
                     .cell = at::empty({steps, rows, units}, input.options()),
                     .output = at::empty({steps, rows, units}, input.options())};
  const Products product{type};
  const Tensor weight = p[kWeightHh].t().to(type);
  Tensor previous_hidden = hidden;
  for (std::int64_t t = 0; t < steps; ++t) {
    Tensor recurrent;
    if (previous_hidden.defined()) recurrent = product(previous_hidden, weight);
    kernels.cell({.gates = at_step(tape.gates, t),
                  .recurrent = values_or_null(recurrent),
                  .previous_cell = t > 0 ? at_step(tape.cell, t - 1) : values_or_null(cell),
                  .present = present_at(present, t),
                  .cell = at_step(tape.cell, t),
                  .output = at_step(tape.output, t),
                  .rows = static_cast<std::int32_t>(rows),
                  .units = static_cast<std::int32_t>(units)});
    previous_hidden = tape.output.select(0, t);
  }
  return tape;
}

struct RecurrentGradients {
  Tensor input;  ///< [T, S, input]
  LstmLayerParameters parameters;
};

/// Runs the backward pass of one layer over all steps.
/// @param grad_output gradient of the layer's outputs, [T, S, H]; or [1, S, H] if only the output
///   of the last step has one
RecurrentGradients steps_backward(const RecurrentTape& tape, const LstmLayerParameters& p,
                                  const Tensor& present, const Tensor& grad_output,
                                  at::ScalarType type, const LstmKernels& kernels) {
  const std::int64_t steps = tape.gates.size(0);
  const std::int64_t rows = tape.gates.size(1);
  const std::int64_t units = tape.cell.size(2);
  const std::int64_t missing = steps - grad_output.size(0);  // steps whose output has no gradient
  const Products product{type};
  const Tensor weight = p[kWeightHh].to(type);
  const Tensor grad_cell = at::zeros({rows, units}, tape.cell.options());
  const Tensor grad_gates = at::empty_like(tape.gates);
  Tensor grad_recurrent;
  for (std::int64_t t = steps - 1; t >= 0; --t) {
    kernels.cell_gradient(
        {.gates = at_step(tape.gates, t),
         .cell = at_step(tape.cell, t),
         .previous_cell = t > 0 ? at_step(tape.cell, t - 1) : nullptr,
         .present = present_at(present, t),
         .grad_output = t >= missing ? at_step(grad_output, t - missing) : nullptr,
         .grad_recurrent = values_or_null(grad_recurrent),
         .grad_cell = at_step(grad_cell, 0),
         .grad_gates = at_step(grad_gates, t),
         .rows = static_cast<std::int32_t>(rows),
         .units = static_cast<std::int32_t>(units)});
    if (t > 0) grad_recurrent = product(grad_gates.select(0, t), weight);
  }
  const Tensor of_all = grad_gates.flatten(0, 1);
  const Tensor in_type = of_all.to(type);
  RecurrentGradients g;
  g.input = product(in_type, p[kWeightIh]).view_as(tape.input);
  g.parameters[kWeightIh] = product(in_type.t(), tape.input.flatten(0, 1));
  // The first step starts from a zero state, so its gates contribute nothing to weight_hh.
  g.parameters[kWeightHh] =
      product(in_type.slice(0, rows).t(), tape.output.slice(0, 0, steps - 1).flatten(0, 1));
  g.parameters[kBiasIh] = of_all.sum(0);
  g.parameters[kBiasHh] = g.parameters[kBiasIh].clone();
  return g;
}

class DeviceLstm : public torch::autograd::Function<DeviceLstm> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x, at::TensorList parameters,
                        const c10::intrusive_ptr<SequenceTape>& tape) {
    ctx->save_for_backward(parameters.vec());
    ctx->saved_data["tape"] = at::IValue::make_capsule(tape);
    Tensor input = x;
    for (const LstmLayerParameters& p : by_layer(parameters)) {
      tape->layers.push_back(
          run_steps(input, p, tape->present, {}, {}, tape->type, *tape->kernels));
      input = tape->layers.back().output;
    }
    return input[input.size(0) - 1].clone();
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto parameters = by_layer(ctx->get_saved_variables());
    const auto tape =
        c10::static_intrusive_pointer_cast<SequenceTape>(ctx->saved_data["tape"].toCapsule());
    variable_list out(1 + parameters.size() * kNumLstmParameters + 1);
    Tensor grad = grads[0].contiguous().unsqueeze(0);
    for (std::size_t l = parameters.size(); l-- > 0;) {
      RecurrentGradients g = steps_backward(tape->layers[l], parameters[l], tape->present, grad,
                                            tape->type, *tape->kernels);
      std::ranges::move(g.parameters,
                        out.begin() + 1 + static_cast<std::ptrdiff_t>(l * kNumLstmParameters));
      grad = std::move(g.input);
    }
    out[0] = std::move(grad);
    return out;
  }
};

}  // namespace

LstmOutput device_lstm(const LstmInput& input, const std::vector<LstmLayerParameters>& layers,
                       at::ScalarType type, const LstmKernels& kernels) {
  const auto state_of = [](const Tensor& state, std::size_t l) {
    return state.defined() ? state.select(0, static_cast<std::int64_t>(l)).contiguous() : Tensor();
  };
  const std::int64_t last = input.x.size(0) - 1;
  LstmOutput out;
  std::vector<Tensor> hidden;
  std::vector<Tensor> cell;
  Tensor in = input.x;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const RecurrentTape tape = run_steps(in, layers[l], input.present, state_of(input.hidden, l),
                                         state_of(input.cell, l), type, kernels);
    in = tape.output;
    hidden.push_back(tape.output.select(0, last));
    cell.push_back(tape.cell.select(0, last));
  }
  out.last = hidden.back();
  out.hidden = at::stack(hidden);
  out.cell = at::stack(cell);
  return out;
}

Tensor differentiable_lstm(const Tensor& x, const Tensor& present, at::TensorList parameters,
                           at::ScalarType type, const LstmKernels& kernels) {
  auto tape = c10::make_intrusive<SequenceTape>();
  tape->type = type;
  tape->kernels = &kernels;
  tape->present = present;
  return DeviceLstm::apply(x, parameters, tape);
}

}  // namespace traffic::model::device
