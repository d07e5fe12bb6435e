/// The layers of a SignalNetwork behind its encoder, as one node of the autograd graph on the CPU:
/// a moment has some tens of greens, a minibatch some thousand, and recording and starting each
/// operation takes longer than their arithmetic.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstddef>

#include "traffic/model/signal_network.h"

namespace traffic::model {

/// Parameters, H wide with F features of a green; the enumerators index SignalLayerParameters.
enum SignalLayerParameter : std::size_t {
  kFirstWeight,   ///< [H, F]
  kFirstBias,     ///< [H]
  kSecondWeight,  ///< [H, H]
  kSecondBias,    ///< [H]
  kChoiceWeight,  ///< [H, 3 H]: from a green, the mean of its light's and the present one
  kChoiceBias,    ///< [H]
  kLogitWeight,   ///< [1, H]
  kRuleWeight,    ///< [1, F]
  kStateWeight,   ///< [H, 2 H]: from the mean and the maximum of a light's greens
  kStateBias,     ///< [H]
  kValueWeight,   ///< [1, H]
  kValueBias,     ///< [1]
  kAroundWeight,  ///< [H, H]: from a light's encoding; undefined where there is none
  kNumSignalLayerParameters
};
using SignalLayerParameters = std::array<at::Tensor, kNumSignalLayerParameters>;

struct SignalLayerInput {
  at::Tensor rows;           ///< [R, F]; never differentiated
  at::Tensor light;          ///< [R] int64, ascending
  at::Tensor present;        ///< [B] int64 row
  at::Tensor encoding = {};  ///< [B, H] of the lights; undefined: none
};

/// Differentiable in the parameters and the encoding.
SignalOutput signal_layers(const SignalLayerInput& in, const SignalLayerParameters& parameters);

/// The same, operation by operation: on any device and in any number format.
SignalOutput signal_layers_by_operations(const SignalLayerInput& in,
                                         const SignalLayerParameters& parameters);

}  // namespace traffic::model
