/// The layers of a SignalNetwork after its encoder. On the CPU they are one node of the autograd
/// graph. A time step has only some tens of greens (green phases of lights), a minibatch some
/// thousand. Recording single operations would take longer than their arithmetic.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>

#include "traffic/model/signal_network.h"

namespace traffic::model {

/// Parameters, which the enumerators index in SignalLayerParameters. Shapes: R greens of B lights,
/// F features per green, layers of width H.
enum SignalLayerParameter : std::size_t {
  kFirstWeight,   ///< [H, F]
  kFirstBias,     ///< [H]
  kSecondWeight,  ///< [H, H]
  kSecondBias,    ///< [H]
  kChoiceWeight,  ///< [H, 3 H]: reads a green, the mean of its light's greens and the current green
  kChoiceBias,    ///< [H]
  kLogitWeight,   ///< [1, H]
  kRuleWeight,    ///< [1, F]
  kStateWeight,   ///< [H, 2 H]: reads the mean and the maximum over a light's greens
  kStateBias,     ///< [H]
  kValueWeight,   ///< [1, H]
  kValueBias,     ///< [1]
  kAroundWeight,  ///< [H, H]: reads a light's encoding; undefined without an encoder
  kNumSignalLayerParameters
};
using SignalLayerParameters = std::array<at::Tensor, kNumSignalLayerParameters>;

/// Input of the layers (see SignalInput).
struct SignalLayerInput {
  at::Tensor rows;           ///< [R, F] features of the greens; they get no gradients
  at::Tensor light;          ///< [R] int64, ascending: light of each green
  at::Tensor present;        ///< [B] int64: row of each light's current green
  at::Tensor encoding = {};  ///< [B, H] encodings of the lights; undefined without an encoder
};

/// Differentiable with respect to the parameters and the encoding.
SignalOutput signal_layers(const SignalLayerInput& in, const SignalLayerParameters& parameters);

/// Computes the same with ATen operations, on any device and in any number format.
SignalOutput signal_layers_by_operations(const SignalLayerInput& in,
                                         const SignalLayerParameters& parameters);

}  // namespace traffic::model
