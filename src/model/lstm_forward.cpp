// The forward pass of the fused LSTM, on the CPU. Each block of vehicles goes through all layers
// and steps on its own, so that its data stay in the cache.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
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
struct ForwardPass {
  const LstmInput& input;
  const std::vector<PackedLstmLayer<T>>& layers;
  std::vector<LstmLayerTape>& tape;  ///< the gates are undefined if there is no backward pass
  const LstmOutput& out;
  std::int64_t steps;
  std::int64_t vehicles;
  std::int64_t hidden;
};

/// A block of vehicles in one layer: [first, first + rows).
struct Block {
  std::size_t layer;
  std::int64_t first;
  std::int64_t rows;
};

/// Input of the layer at step t.
template <typename T>
Rows<const T> input_rows(const ForwardPass<T>& pass, const Block& b, std::int64_t t,
                         Scratch& scratch) {
  const std::int64_t row = t * pass.vehicles + b.first;
  if (b.layer > 0) return {data<T>(pass.tape[b.layer - 1].output) + row * pass.hidden, pass.hidden};
  const std::int64_t width = pass.input.x.size(2);
  return left_operand<T>({pass.input.x.template const_data_ptr<float>() + row * width, width},
                         b.rows, width, scratch);
}

/// Output of the previous step; null for a zero state.
template <typename T>
Rows<const T> output_before(const ForwardPass<T>& pass, const Block& b, std::int64_t t,
                            Scratch& scratch) {
  const std::int64_t hidden = pass.hidden;
  if (t > 0)
    return {data<T>(pass.tape[b.layer].output) + ((t - 1) * pass.vehicles + b.first) * hidden,
            hidden};
  if (!pass.input.hidden.defined()) return {nullptr, hidden};
  const std::int64_t row = (static_cast<std::int64_t>(b.layer) * pass.vehicles + b.first) * hidden;
  return left_operand<T>({pass.input.hidden.template const_data_ptr<float>() + row, hidden}, b.rows,
                         hidden, scratch);
}

/// Cells of panel p before step t; null for a zero state.
template <typename T>
Rows<const float> cell_before(const ForwardPass<T>& pass, const Block& b, std::int64_t t,
                              std::int64_t p) {
  const std::int64_t hidden = pass.hidden;
  if (t > 0) {
    const auto* cell =
        data<float>(pass.tape[b.layer].cell) + ((t - 1) * pass.vehicles + b.first) * hidden;
    return {cell + p * b.rows * kWidthUnit, kWidthUnit};
  }
  if (!pass.input.cell.defined()) return {nullptr, hidden};
  const std::int64_t row = static_cast<std::int64_t>(b.layer) * pass.vehicles + b.first;
  return {pass.input.cell.template const_data_ptr<float>() + row * hidden + p * kWidthUnit, hidden};
}

/// Computes step t of a block.
template <typename T>
void run_step(const ForwardPass<T>& pass, const Block& b, std::int64_t t) {
  Scratch scratch;
  const std::int64_t hidden = pass.hidden;
  const std::int64_t row = t * pass.vehicles + b.first;
  const PackedLstmLayer<T>& weights = pass.layers[b.layer];
  const LstmLayerTape& tape = pass.tape[b.layer];
  const Rows<const T> x = input_rows(pass, b, t, scratch);
  const Rows<const T> before = output_before(pass, b, t, scratch);
  const bool is_last = b.layer + 1 == pass.layers.size() && t + 1 == pass.steps;
  auto* tile = scratch.take<float>(b.rows * kPanel);
  for (std::int64_t p = 0; p < hidden / kWidthUnit; ++p) {
    multiply_panel(x, b.rows, weights.input.operand, p, {tile, kPanel}, false);
    if (before.data != nullptr)
      multiply_panel(before, b.rows, weights.hidden.operand, p, {tile, kPanel}, true);
    const std::int64_t unit = p * kWidthUnit;
    kernels::table<T>().lstm_gates(
        {.rows = b.rows,
         .product = tile,
         .bias = data<float>(weights.bias) + p * kPanel,
         .previous_cell = cell_before(pass, b, t, p),
         .present =
             pass.input.present.defined() ? data<std::uint8_t>(pass.input.present) + row : nullptr,
         .cell = {data<float>(tape.cell) + row * hidden + unit * b.rows, kWidthUnit},
         .output = {data<T>(tape.output) + row * hidden + unit, hidden},
         .output_float = {is_last ? data<float>(pass.out.last) + b.first * hidden + unit : nullptr,
                          hidden},
         .gates = tape.gates.defined()
                      ? data<T>(tape.gates) + row * 4 * hidden + p * b.rows * kPanel
                      : nullptr});
  }
}

/// Copies the state after the last step out of the tape.
template <typename T>
void write_state(const ForwardPass<T>& pass, const Block& b) {
  const std::int64_t hidden = pass.hidden;
  const std::int64_t row = (pass.steps - 1) * pass.vehicles + b.first;
  const std::int64_t to = (static_cast<std::int64_t>(b.layer) * pass.vehicles + b.first) * hidden;
  kernels::table<T>().convert_to_float({data<T>(pass.tape[b.layer].output) + row * hidden, hidden},
                                       b.rows, hidden, data<float>(pass.out.hidden) + to);
  const float* cell = data<float>(pass.tape[b.layer].cell) + row * hidden;
  for (std::int64_t p = 0; p < hidden / kWidthUnit; ++p) {
    for (std::int64_t r = 0; r < b.rows; ++r) {
      std::memcpy(data<float>(pass.out.cell) + to + r * hidden + p * kWidthUnit,
                  cell + (p * b.rows + r) * kWidthUnit, kWidthUnit * sizeof(float));
    }
  }
}

}  // namespace

std::vector<LstmLayerParameters> by_layer(at::TensorList parameters) {
  std::vector<LstmLayerParameters> layers(parameters.size() / kNumLstmParameters);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    layers[i / kNumLstmParameters][i % kNumLstmParameters] = parameters[i];
  }
  return layers;
}

template <typename T>
PackedLstmLayer<T> pack_lstm_layer(const LstmLayerParameters& parameters) {
  const at::Tensor sum = parameters[kBiasIh] + parameters[kBiasHh];
  const std::int64_t units = sum.size(0) / 4;
  // From [gate, panel, unit] to [panel, gate, unit].
  const at::Tensor bias =
      sum.view({4, units / kWidthUnit, kWidthUnit}).transpose(0, 1).contiguous();
  return {pack_forward<T>(parameters[kWeightIh], kGateOrder),
          pack_forward<T>(parameters[kWeightHh], kGateOrder), bias};
}

template <typename T>
LstmOutput lstm_forward(const LstmInput& input, const std::vector<PackedLstmLayer<T>>& layers,
                        std::vector<LstmLayerTape>* tape) {
  RECORD_USER_SCOPE("lstm_forward");
  const std::int64_t steps = input.x.size(0);
  const std::int64_t vehicles = input.x.size(1);
  const std::int64_t hidden = layers.front().hidden.operand.depth;
  const auto num_layers = static_cast<std::int64_t>(layers.size());
  const LstmOutput out{at::empty({vehicles, hidden}), at::empty({num_layers, vehicles, hidden}),
                       at::empty({num_layers, vehicles, hidden})};
  std::vector<LstmLayerTape> states(layers.size());
  for (LstmLayerTape& layer : states) {
    if (tape != nullptr) layer.gates = pooled_empty<T>({steps, vehicles * 4 * hidden});
    layer.cell = pooled_empty<float>({steps, vehicles * hidden});
    layer.output = pooled_empty<T>({steps, vehicles, hidden});
  }
  const ForwardPass<T> pass{input, layers, states, out, steps, vehicles, hidden};
  at::parallel_for(0, (vehicles + kBlockRows - 1) / kBlockRows, 1,
                   [&](std::int64_t begin, std::int64_t end) {
                     for (std::int64_t block = begin; block < end; ++block) {
                       const std::int64_t first = block * kBlockRows;
                       for (std::size_t l = 0; l < layers.size(); ++l) {
                         const Block b{l, first, std::min(kBlockRows, vehicles - first)};
                         for (std::int64_t t = 0; t < steps; ++t) run_step(pass, b, t);
                         write_state(pass, b);
                       }
                     }
                     finish_products<T>();
                   });
  if (tape != nullptr) *tape = std::move(states);
  return out;
}

template PackedLstmLayer<float> pack_lstm_layer(const LstmLayerParameters&);
template PackedLstmLayer<kernels::Bf16> pack_lstm_layer(const LstmLayerParameters&);
template LstmOutput lstm_forward(const LstmInput&, const std::vector<PackedLstmLayer<float>>&,
                                 std::vector<LstmLayerTape>*);
template LstmOutput lstm_forward(const LstmInput&,
                                 const std::vector<PackedLstmLayer<kernels::Bf16>>&,
                                 std::vector<LstmLayerTape>*);

}  // namespace traffic::model
