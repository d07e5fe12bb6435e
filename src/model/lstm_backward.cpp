// The backward pass of the fused LSTM, on the CPU.
//
// Each block of vehicles is processed on its own, through all steps. Its buffers then contain both
// factors of the weight gradients: the transposed gradients of the gates, and the packed inputs of
// the weights. When as many blocks as there are threads are done, these factors are multiplied,
// while they are still in the cache.
#include <ATen/Parallel.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "buffer_pool.h"
#include "lstm_passes.h"

namespace traffic::model {
namespace {

using kernels::kPanel;
using kernels::kWidthUnit;
using kernels::Rows;

template <typename T>
struct Layer {
  PackedWeight<T> input;   ///< weight_ih, with its rows in the order kGateOrder
  PackedWeight<T> hidden;  ///< weight_hh, with its rows in the order kGateOrder
  at::Tensor bias_sums;    ///< [blocks, 4 H] gradient of the biases, in the order kGateOrder
};

template <typename T>
struct BackwardPass {
  const LstmInput& input;
  const std::vector<LstmLayerTape>& tape;
  std::vector<Layer<T>> layers;
  const float* grad_out;  ///< [S, H]
  float* grad_x;          ///< [T, S, input]
  std::int64_t steps;
  std::int64_t vehicles;
  std::int64_t hidden;
};

/// The factors of the weight gradients of one block of vehicles. Each time step takes `step_rows`
/// columns or rows: the number of vehicles, for bfloat16 rounded up to an even number.
template <typename T>
struct BlockBuffers {
  std::int64_t first;  ///< first vehicle
  std::int64_t rows;   ///< number of vehicles
  std::int64_t step_rows;
  std::int64_t stride;         ///< stride of grad_gates
  std::vector<T*> grad_gates;  ///< by layer: [4 H, T * step_rows], rows in the order of the
                               ///< weights' rows
  std::vector<T*>
      inputs;  ///< by layer, then the last layer's output: [T * step_rows, width] in row pairs
};

template <typename T>
BlockBuffers<T> make_buffers(const BackwardPass<T>& pass, std::int64_t first, Scratch& scratch) {
  BlockBuffers<T> b{first, std::min(kBlockRows, pass.vehicles - first), 0, 0, {}, {}};
  b.step_rows = product_depth<T>(b.rows);
  b.stride = padded(pass.steps * b.step_rows);
  for (std::size_t l = 0; l <= pass.layers.size(); ++l) {
    const std::int64_t width = l == 0 ? pass.input.x.size(2) : pass.hidden;
    b.inputs.push_back(scratch.take<T>(pass.steps * b.step_rows * width));
    if (l > 0) b.grad_gates.push_back(scratch.take<T>(4 * pass.hidden * b.stride));
  }
  return b;
}

template <typename T>
void pack_inputs(const BackwardPass<T>& pass, const BlockBuffers<T>& b) {
  for (std::int64_t t = 0; t < pass.steps; ++t) {
    const std::int64_t row = t * pass.vehicles + b.first;
    const std::int64_t width = pass.input.x.size(2);
    const std::int64_t hidden = pass.hidden;
    kernels::table<T>().pack_pairs_float(
        {pass.input.x.template const_data_ptr<float>() + row * width, width}, b.rows, width,
        {b.inputs[0] + t * b.step_rows * width, width});
    for (std::size_t l = 0; l < pass.layers.size(); ++l) {
      kernels::table<T>().pack_pairs({data<T>(pass.tape[l].output) + row * hidden, hidden}, b.rows,
                                     hidden, {b.inputs[l + 1] + t * b.step_rows * hidden, hidden});
    }
  }
}

/// Computes the gradients of one layer's gates at step t. Writes them to `grad_gates`, and
/// transposed to the buffers of the block.
template <typename T>
void gates_backward(const BackwardPass<T>& pass, const BlockBuffers<T>& b, std::size_t l,
                    std::int64_t t, const float* grad_output, float* grad_cell,
                    Rows<T> grad_gates) {
  const std::int64_t hidden = pass.hidden;
  const LstmLayerTape& tape = pass.tape[l];
  const std::int64_t row = t * pass.vehicles + b.first;
  for (std::int64_t p = 0; p < hidden / kWidthUnit; ++p) {
    const std::int64_t panel = p * b.rows * kWidthUnit;
    const float* cell = data<float>(tape.cell) + row * hidden + panel;
    kernels::table<T>().lstm_gates_backward(
        {.rows = b.rows,
         .grad_output = {grad_output + p * kWidthUnit, hidden},
         .grad_cell = grad_cell + panel,
         .gates = data<T>(tape.gates) + row * 4 * hidden + 4 * panel,
         .cell = cell,
         .previous_cell = t > 0 ? cell - pass.vehicles * hidden : nullptr,
         .present =
             pass.input.present.defined() ? data<std::uint8_t>(pass.input.present) + row : nullptr,
         .grad_gates = {grad_gates.data + p * kPanel, grad_gates.stride},
         .grad_bias = data<float>(pass.layers[l].bias_sums) + b.first / kBlockRows * 4 * hidden +
                      p * kPanel});
  }
  transpose_rows<T>({grad_gates.data, grad_gates.stride}, b.rows, 4 * hidden, kGateOrder,
                    {b.grad_gates[l] + t * b.step_rows, b.stride});
}

/// Processes one layer over one block, last step first.
/// @param grad_output [T, rows, H] gradients of this layer's outputs. For the last step they are
///   complete. For other steps they contain what the layer above contributes. In the last layer,
///   which has no layer above, those of other steps are not initialised.
/// @param grad_input returns where to write the gradient of the layer's input at step t
template <typename T, typename GradInput>
void run_layer(const BackwardPass<T>& pass, const BlockBuffers<T>& b, std::size_t l,
               float* grad_output, const GradInput& grad_input) {
  Scratch scratch;
  const std::int64_t hidden = pass.hidden;
  const bool is_last = l + 1 == pass.layers.size();
  auto* grad_cell = scratch.take<float>(b.rows * hidden);
  std::memset(grad_cell, 0, static_cast<std::size_t>(b.rows * hidden) * sizeof(float));
  const Rows<T> grad_gates{scratch.take<T>(b.rows * padded(4 * hidden)), padded(4 * hidden)};
  const Rows<const T> operand{grad_gates.data, grad_gates.stride};
  for (std::int64_t t = pass.steps - 1; t >= 0; --t) {
    gates_backward(pass, b, l, t, grad_output + t * b.rows * hidden, grad_cell, grad_gates);
    if (t > 0) {
      float* before = grad_output + (t - 1) * b.rows * hidden;
      multiply(operand, b.rows, pass.layers[l].hidden.operand, {before, hidden}, !is_last);
    }
    multiply(operand, b.rows, pass.layers[l].input.operand, grad_input(t), false);
  }
}

template <typename T>
void run_block(const BackwardPass<T>& pass, const BlockBuffers<T>& b) {
  Scratch scratch;
  const std::int64_t hidden = pass.hidden;
  const std::int64_t width = pass.input.x.size(2);
  auto* grad_output = scratch.take<float>(pass.steps * b.rows * hidden);
  auto* below = scratch.take<float>(pass.steps * b.rows * hidden);
  std::memcpy(grad_output + (pass.steps - 1) * b.rows * hidden, pass.grad_out + b.first * hidden,
              static_cast<std::size_t>(b.rows * hidden) * sizeof(float));
  for (std::size_t l = pass.layers.size(); l-- > 0;) {
    run_layer(pass, b, l, grad_output, [&](std::int64_t t) -> Rows<float> {
      if (l > 0) return {below + t * b.rows * hidden, hidden};
      return {pass.grad_x + (t * pass.vehicles + b.first) * width, width};
    });
    std::swap(grad_output, below);
  }
  pack_inputs(pass, b);
}

/// Adds a block's share to the weight gradients.
template <typename T>
void add_weight_gradients(const BackwardPass<T>& pass, const BlockBuffers<T>& b,
                          std::vector<LstmLayerParameters>& grads) {
  const bool accumulate = b.first > 0;
  for (std::size_t l = 0; l < pass.layers.size(); ++l) {
    const Rows<const T> grad_gates{b.grad_gates[l], b.stride};
    const std::int64_t rows = pass.steps * b.step_rows;
    const std::int64_t width = grads[l][kWeightIh].size(1);
    const Operand<T> x = plain_operand<T>(b.inputs[l], rows, width, width);
    add_weight_gradient<T>({grad_gates, x, grads[l][kWeightIh], accumulate});
    // The first step starts from a zero state, so its gates contribute nothing to weight_hh.
    if (pass.steps == 1) continue;
    const Operand<T> before =
        plain_operand<T>(b.inputs[l + 1], rows - b.step_rows, pass.hidden, pass.hidden);
    add_weight_gradient<T>(
        {{grad_gates.data + b.step_rows, b.stride}, before, grads[l][kWeightHh], accumulate});
  }
}

template <typename T>
void run_blocks(const BackwardPass<T>& pass, std::vector<LstmLayerParameters>& grads) {
  const std::int64_t blocks = (pass.vehicles + kBlockRows - 1) / kBlockRows;
  const std::int64_t at_once = at::get_num_threads();
  for (std::int64_t start = 0; start < blocks; start += at_once) {
    Scratch scratch;
    std::vector<BlockBuffers<T>> buffers;
    for (std::int64_t block = start; block < std::min(blocks, start + at_once); ++block) {
      buffers.push_back(make_buffers(pass, block * kBlockRows, scratch));
    }
    at::parallel_for(0, static_cast<std::int64_t>(buffers.size()), 1,
                     [&](std::int64_t first, std::int64_t last) {
                       for (std::int64_t i = first; i < last; ++i)
                         run_block(pass, buffers[static_cast<std::size_t>(i)]);
                       finish_products<T>();
                     });
    for (const auto& b : buffers) add_weight_gradients(pass, b, grads);
  }
}

at::Tensor bias_gradient(const at::Tensor& sums) {
  const at::Tensor total = sums.sum(0);
  const std::int64_t panels = total.size(0) / kPanel;
  return total.view({panels, 4, kWidthUnit}).transpose(0, 1).reshape({total.size(0)});
}

}  // namespace

template <typename T>
LstmGradients lstm_backward(const LstmInput& input,
                            const std::vector<LstmLayerParameters>& parameters,
                            const std::vector<LstmLayerTape>& tape, const at::Tensor& grad_out) {
  RECORD_USER_SCOPE("lstm_backward");
  const std::int64_t steps = input.x.size(0);
  const std::int64_t vehicles = input.x.size(1);
  const std::int64_t hidden = grad_out.size(1);
  LstmGradients grads{pooled_empty<float>(input.x.sizes()), {}};
  BackwardPass<T> pass{
      input, tape,     {},    grad_out.const_data_ptr<float>(), data<float>(grads.x),
      steps, vehicles, hidden};
  for (const LstmLayerParameters& p : parameters) {
    pass.layers.push_back({pack_backward<T>(p[kWeightIh], kGateOrder),
                           pack_backward<T>(p[kWeightHh], kGateOrder),
                           at::zeros({(vehicles + kBlockRows - 1) / kBlockRows, 4 * hidden})});
    LstmLayerParameters& g = grads.parameters.emplace_back();
    g[kWeightIh] =
        vehicles > 0 ? pooled_empty<float>(p[kWeightIh].sizes()) : at::zeros_like(p[kWeightIh]);
    g[kWeightHh] = vehicles > 0 && steps > 1 ? pooled_empty<float>(p[kWeightHh].sizes())
                                             : at::zeros_like(p[kWeightHh]);
  }
  run_blocks(pass, grads.parameters);
  for (std::size_t l = 0; l < parameters.size(); ++l) {
    grads.parameters[l][kBiasIh] = bias_gradient(pass.layers[l].bias_sums);
    grads.parameters[l][kBiasHh] = grads.parameters[l][kBiasIh].clone();
  }
  return grads;
}

template LstmGradients lstm_backward<float>(const LstmInput&,
                                            const std::vector<LstmLayerParameters>&,
                                            const std::vector<LstmLayerTape>&, const at::Tensor&);
template LstmGradients lstm_backward<kernels::Bf16>(const LstmInput&,
                                                    const std::vector<LstmLayerParameters>&,
                                                    const std::vector<LstmLayerTape>&,
                                                    const at::Tensor&);

}  // namespace traffic::model
