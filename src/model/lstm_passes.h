/// The fused forward and backward passes of an LSTM on the CPU, over blocks of kBlockRows vehicles.
/// The gates of sixteen units form a panel of 64 columns: input, forget, cell and output gates.
/// Data for the backward pass are in the order in which it reads them: by step, block and panel.
/// Within a block, gates are [panels, rows, kPanel] and cells [panels, rows, 16].
///
/// Shapes: T steps, S vehicles, H = LstmOptions::hidden_size.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>
#include <vector>

#include "packed_weight.h"

namespace traffic::model {

/// Order in which the rows of the weights are packed: by panels, with all four gates of sixteen
/// units.
inline constexpr RowOrder kGateOrder{4};

enum LstmParameter : std::size_t { kWeightIh, kWeightHh, kBiasIh, kBiasHh, kNumLstmParameters };
using LstmLayerParameters = std::array<at::Tensor, kNumLstmParameters>;
/// Splits a list of the parameters of all layers into the layers.
std::vector<LstmLayerParameters> by_layer(at::TensorList parameters);

template <typename T>
struct PackedLstmLayer {
  PackedWeight<T> input;   ///< weight_ih
  PackedWeight<T> hidden;  ///< weight_hh
  at::Tensor bias;         ///< [4 H] bias_ih + bias_hh, in the order kGateOrder
};
template <typename T>
PackedLstmLayer<T> pack_lstm_layer(const LstmLayerParameters& parameters);

/// Data that a layer keeps for its backward pass.
struct LstmLayerTape {
  at::Tensor gates;   ///< [T, S * 4 H] of the products' type, by blocks and panels; undefined
                      ///< without a backward pass
  at::Tensor cell;    ///< [T, S * H] float32, by blocks and panels
  at::Tensor output;  ///< [T, S, H] of the products' type
};

struct LstmInput {
  at::Tensor x;        ///< [T, S, input] float32
  at::Tensor present;  ///< [T, S] uint8; undefined: all vehicles are present
  at::Tensor hidden;   ///< [layers, S, H] float32 before the first step; undefined: zero
  at::Tensor cell;     ///< [layers, S, H] float32 before the first step; undefined: zero
};

struct LstmOutput {
  at::Tensor last;    ///< [S, H] float32: output of the last layer at the last step
  at::Tensor hidden;  ///< [layers, S, H] float32: output of each layer at the last step
  at::Tensor cell;    ///< [layers, S, H] float32: cells after the last step
};

/// @param tape filled with one entry per layer unless null
template <typename T>
LstmOutput lstm_forward(const LstmInput& input, const std::vector<PackedLstmLayer<T>>& layers,
                        std::vector<LstmLayerTape>* tape);

struct LstmGradients {
  at::Tensor x;  ///< [T, S, input]
  std::vector<LstmLayerParameters> parameters;
};
/// Requires a forward pass from a zero state. @param grad_out gradient of LstmOutput::last
template <typename T>
LstmGradients lstm_backward(const LstmInput& input,
                            const std::vector<LstmLayerParameters>& parameters,
                            const std::vector<LstmLayerTape>& tape, const at::Tensor& grad_out);

}  // namespace traffic::model
