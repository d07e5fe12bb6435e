/// The elementwise part of an LSTM step, forward and backward. kernels.h explains the arguments. A
/// vehicle that is not present has zero state: its cell, its output and the gradients of its gates
/// are zero.
#pragma once

#include "kernels/simd.h"

namespace traffic::model::kernels::TRAFFIC_ISA {

template <typename T>
void lstm_gates(const LstmGates<T>& a) {
  const V bias_input = load(a.bias);
  const V bias_forget = load(a.bias + kLanes);
  const V bias_cell = load(a.bias + 2 * kLanes);
  const V bias_output = load(a.bias + 3 * kLanes);
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* product = a.product + r * kPanel;
    const V input = sigmoid(load(product) + bias_input);
    const V forget = sigmoid(load(product + kLanes) + bias_forget);
    const V candidate = hyperbolic_tangent(load(product + 2 * kLanes) + bias_cell);
    const V gate = sigmoid(load(product + 3 * kLanes) + bias_output);
    V cell = input * candidate;
    if (a.previous_cell.data != nullptr)
      cell += forget * load(a.previous_cell.data + r * a.previous_cell.stride);
    V output = gate * hyperbolic_tangent(cell);
    if (a.present != nullptr && a.present[r] == 0) cell = output = V{};
    store(a.cell.data + r * a.cell.stride, cell);
    store(a.output.data + r * a.output.stride, output);
    if (a.output_float.data != nullptr)
      store(a.output_float.data + r * a.output_float.stride, output);
    if (a.gates != nullptr) {
      T* gates = a.gates + r * kPanel;
      store(gates, input);
      store(gates + kLanes, forget);
      store(gates + 2 * kLanes, candidate);
      store(gates + 3 * kLanes, gate);
    }
  }
}

template <typename T>
void lstm_gates_backward(const LstmGatesBackward<T>& a) {
  V sums[4] = {V{}, V{}, V{}, V{}};
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const T* gates = a.gates + r * kPanel;
    T* grads = a.grad_gates.data + r * a.grad_gates.stride;
    V grad_output = load(a.grad_output.data + r * a.grad_output.stride);
    V grad_cell = load(a.grad_cell + r * kLanes);
    if (a.present != nullptr && a.present[r] == 0) grad_output = grad_cell = V{};
    const V input = load(gates);
    const V forget = load(gates + kLanes);
    const V candidate = load(gates + 2 * kLanes);
    const V gate = load(gates + 3 * kLanes);
    const V squashed = hyperbolic_tangent(load(a.cell + r * kLanes));
    const V previous = a.previous_cell != nullptr ? load(a.previous_cell + r * kLanes) : V{};
    grad_cell += grad_output * gate * (1.0F - squashed * squashed);
    const V grad[4] = {grad_cell * candidate * (input - input * input),
                       grad_cell * previous * (forget - forget * forget),
                       grad_cell * input * (1.0F - candidate * candidate),
                       grad_output * squashed * (gate - gate * gate)};
    store(a.grad_cell + r * kLanes, grad_cell * forget);
    for (int g = 0; g < 4; ++g) {
      store(grads + g * kLanes, grad[g]);
      sums[g] += grad[g];
    }
  }
  for (int g = 0; g < 4; ++g)
    store(a.grad_bias + g * kLanes, load(a.grad_bias + g * kLanes) + sums[g]);
}

}  // namespace traffic::model::kernels::TRAFFIC_ISA
