/// Compares an implementation of segment_attention with a node-by-node reference.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "references.h"

namespace traffic::model::testing {

struct AttentionHeads {
  std::int64_t heads;
  std::int64_t channels;
};

inline EdgeParameters random_parameters(std::int64_t width, std::int64_t heads) {
  return {torch::randn({width, 4}) * 0.3, torch::randn({32, 4}) * 0.5, torch::randn({32}) * 0.5,
          torch::randn({heads, 32}) * 0.3, torch::randn({heads}) * 0.3};
}

/// The output, and the gradients of all differentiated inputs for a random cotangent.
struct AttentionResult {
  torch::Tensor out;
  std::vector<torch::Tensor> gradients;
};

template <typename Operation>
AttentionResult run(const Operation& operation, const torch::Tensor& qkv, const EdgeParameters& p,
                    const torch::Tensor& cotangent, at::ScalarType type) {
  std::vector<torch::Tensor> inputs;
  for (const torch::Tensor& t :
       {qkv, p.edge_weight, p.risk_in_weight, p.risk_in_bias, p.risk_out_weight, p.risk_out_bias}) {
    inputs.push_back(t.detach().to(type).clone().requires_grad_(true));
  }
  const torch::Tensor out =
      operation(inputs[0], EdgeParameters{inputs[1], inputs[2], inputs[3], inputs[4], inputs[5]});
  (out * cotangent.to(type)).sum().backward();
  AttentionResult result{out.detach(), {}};
  for (const torch::Tensor& t : inputs) {
    result.gradients.push_back(t.grad().defined() ? t.grad() : torch::zeros_like(t));
  }
  return result;
}

/// @param operation maps (qkv, parameters of edges) to the output
template <typename Operation>
void expect_equals_reference(const GraphBatch& graph, AttentionHeads shape,
                             const Operation& operation) {
  const std::int64_t width = shape.heads * shape.channels;
  const EdgeParameters p = random_parameters(width, shape.heads);
  const torch::Tensor qkv = torch::randn({graph.num_nodes(), 3 * width});
  const torch::Tensor cotangent = torch::randn({graph.num_nodes(), width});
  const AttentionResult fused = run(operation, qkv, p, cotangent, torch::kFloat);
  const AttentionResult expected =
      run([&](const torch::Tensor& in,
              const EdgeParameters& e) { return attention_by_node(in, graph, e, shape.heads); },
          qkv, p, cotangent, torch::kDouble);
  EXPECT_LT(difference(fused.out, expected.out), kFloatTolerance);
  const char* names[] = {"qkv",          "edge_weight",     "risk_in_weight",
                         "risk_in_bias", "risk_out_weight", "risk_out_bias"};
  for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
    // The gradient of risk_out_bias is zero in exact arithmetic, because a softmax is invariant to
    // a constant, and small in float. It is compared with the size of the gradient of the risk_out
    // weights.
    const double scale = i == 5 ? expected.gradients[4].abs().max().item<double>()
                                : expected.gradients[i].abs().max().item<double>();
    const double error =
        (fused.gradients[i].to(torch::kDouble) - expected.gradients[i]).abs().max().item<double>();
    EXPECT_LE(error, kGradientTolerance * scale) << names[i];
  }
}

}  // namespace traffic::model::testing
