#include "traffic/model/signal_network.h"

#include <gmock/gmock.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <functional>
#include <map>
#include <string>

#include "references.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

using testing::difference;
using testing::kGradientTolerance;
using testing::random_graphs;
using torch::Tensor;

constexpr std::int64_t kGreenColumns = 7;
constexpr std::int64_t kLightColumns = 9;

/// A network in which no weight is zero, like a trained one.
SignalNetwork trained_network(std::int64_t encoder_layers) {
  SignalNetwork network(SignalNetworkShape{.features = kGreenColumns,
                                           .hidden_dim = 48,
                                           .encoder_layers = encoder_layers,
                                           .node_features = kLightColumns});
  network->reset(5, torch::linspace(-1, 1, kGreenColumns));
  initialise(*network, 6);
  return network;
}

/// Input in which the lights at `nodes` of a network decide, with three greens each.
SignalInput asking(const GraphBatch& graph, const Tensor& nodes, std::uint64_t seed) {
  torch::manual_seed(static_cast<std::int64_t>(seed));
  const std::int64_t lights = nodes.size(0);
  return {.rows = torch::randn({3 * lights, kGreenColumns}),
          .light = torch::arange(lights).repeat_interleave(3),
          .present = 3 * torch::arange(lights) + 1,
          .graph = graph,
          .node = nodes};
}

/// The part of an input that belongs to one light.
SignalInput light_alone(const SignalInput& in, std::int64_t light) {
  return {.rows = in.rows.narrow(0, 3 * light, 3),
          .light = torch::zeros({3}, torch::kLong),
          .present = torch::ones({1}, torch::kLong),
          .graph = in.graph,
          .node = in.node.narrow(0, light, 1)};
}

std::map<std::string, Tensor> gradients_of(SignalNetwork& network, const Tensor& loss) {
  loss.backward();
  std::map<std::string, Tensor> gradients;
  for (const auto& item : network->named_parameters()) gradients[item.key()] = item.value().grad();
  return gradients;
}

/// Compares the gradients with those of autograd through operations in double.
void expect_gradients_of_autograd(std::int64_t encoder_layers, const GraphBatch& graph,
                                  const std::function<Tensor(const SignalOutput&)>& loss) {
  SignalNetwork network = trained_network(encoder_layers);
  SignalNetwork wide = trained_network(encoder_layers);
  wide->to(torch::kDouble);
  SignalInput in = asking(graph, torch::tensor({0L, 2L, 3L, 9L, 13L}), 8);
  in.light = torch::tensor({0L, 0L, 1L, 1L, 1L, 1L, 2L, 2L, 2L, 3L, 4L, 4L, 4L, 4L, 4L});
  in.present = torch::tensor({1L, 5L, 6L, 9L, 12L});
  const SignalOutput out = network->forward(in);
  const auto found = gradients_of(network, loss(out));
  in.rows = in.rows.to(torch::kDouble);
  const SignalOutput expected_out = wide->forward(in);
  EXPECT_LT(difference(out.logits, expected_out.logits), testing::kFloatTolerance);
  EXPECT_LT(difference(out.values, expected_out.values), testing::kFloatTolerance);
  for (const auto& [name, expected] : gradients_of(wide, loss(expected_out))) {
    // A term common to all incoming edges of a node changes no attention.
    if (name.ends_with("risk_out.bias") || !expected.defined()) continue;
    EXPECT_LT(difference(found.at(name), expected), kGradientTolerance) << name;
  }
}

/// A randomly weighted sum of all outputs.
Tensor weighted_sum(const SignalOutput& out) {
  torch::manual_seed(3);
  const auto type = out.logits.scalar_type();
  const Tensor of_logits = torch::randn({out.logits.size(0)}).to(type);
  const Tensor of_values = torch::randn({out.values.size(0)}).to(type);
  return (out.logits * of_logits).sum() + (out.values * of_values).sum();
}

TEST(SignalNetwork, GradientsEqualThoseOfAutogradInDouble) {
  expect_gradients_of_autograd(0, {}, weighted_sum);
}

TEST(SignalNetwork, GradientsThroughTheEncoderEqualThoseOfAutograd) {
  expect_gradients_of_autograd(2, random_graphs({9, 5}, kLightColumns, 4), weighted_sum);
}

TEST(SignalNetwork, GradientsOfASingleOutputEqualThoseOfAutograd) {
  expect_gradients_of_autograd(0, {},
                               [](const SignalOutput& out) { return out.logits.square().sum(); });
  expect_gradients_of_autograd(0, {},
                               [](const SignalOutput& out) { return out.values.square().sum(); });
}

TEST(SignalNetwork, PackingDoesNotChangeItsDecisions) {
  SignalNetwork network = trained_network(2);
  const SignalInput in = asking(random_graphs({9}, kLightColumns, 4), torch::arange(9), 8);
  const torch::NoGradGuard no_grad;
  const SignalOutput out = network->forward(in);
  network->pack_for_inference();
  EXPECT_TRUE(network->forward(in).logits.equal(out.logits));
  EXPECT_TRUE(network->forward(in).values.equal(out.values));
}

TEST(SignalNetwork, ALightDoesNotDependOnOtherLightsInTheInput) {
  SignalNetwork network = trained_network(2);
  const torch::NoGradGuard no_grad;
  const GraphBatch both = random_graphs({9, 5}, kLightColumns, 4);
  const SignalInput together = asking(both, torch::tensor({1L, 4L, 10L}), 8);
  const SignalOutput out = network->forward(together);
  for (std::int64_t light = 0; light < 3; ++light) {
    SignalInput alone = light_alone(together, light);
    const bool second = light == 2;
    alone.graph = second ? testing::part_of(both, 9, 14) : testing::part_of(both, 0, 9);
    if (second) alone.node = alone.node - 9;
    const SignalOutput its = network->forward(alone);
    // Products of other sizes are rounded differently.
    EXPECT_TRUE(torch::allclose(its.logits, out.logits.narrow(0, 3 * light, 3), 1e-4, 1e-5));
    EXPECT_TRUE(torch::allclose(its.values, out.values.narrow(0, light, 1), 1e-4, 1e-5));
  }
}

TEST(SignalNetwork, TheOrderOfLightsMakesNoDifference) {
  SignalNetwork network = trained_network(1);
  const torch::NoGradGuard no_grad;
  // A ring: every light receives an edge from its predecessor.
  const auto ring = [](const Tensor& order) {  // node i is light order[i]
    const Tensor place = order.argsort();
    const Tensor source = place.index_select(0, (order + 7) % 8).to(torch::kInt);
    torch::manual_seed(2);
    const Tensor nodes = torch::randn({8, kLightColumns});
    const Tensor edges = torch::randn({8, 4});
    return GraphBatch{nodes.index_select(0, order), torch::arange(9, torch::kInt), source,
                      edges.index_select(0, order)};
  };
  const Tensor as_they_are = torch::arange(8);
  const Tensor mixed = torch::tensor({3L, 7L, 0L, 5L, 1L, 6L, 2L, 4L});
  const SignalInput in = asking(ring(as_they_are), as_they_are, 8);
  SignalInput other = in;
  other.graph = ring(mixed);
  other.node = mixed.argsort();
  const SignalOutput out = network->forward(in);
  const SignalOutput same = network->forward(other);
  EXPECT_TRUE(torch::allclose(same.logits, out.logits, 1e-4, 1e-5));
  EXPECT_TRUE(torch::allclose(same.values, out.values, 1e-4, 1e-5));
  other.graph.node_features = other.graph.node_features.flip(0);
  EXPECT_FALSE(torch::allclose(network->forward(other).logits, out.logits, 1e-4, 1e-5))
      << "a light must depend on the others through the encoder";
}

TEST(SignalNetwork, InitiallyEqualsANetworkWithoutAnEncoder) {
  const Tensor rule = torch::linspace(-1, 1, kGreenColumns);
  SignalNetwork with(SignalNetworkShape{
      .features = kGreenColumns, .encoder_layers = 1, .node_features = kLightColumns});
  SignalNetwork without(SignalNetworkShape{.features = kGreenColumns});
  with->reset(5, rule);
  without->reset(5, rule);
  const GraphBatch graph = random_graphs({9}, kLightColumns, 4);
  const SignalInput in = asking(graph, torch::tensor({0L, 5L}), 8);
  EXPECT_TRUE(with->forward(in).logits.equal(without->forward(in).logits));
  EXPECT_TRUE(with->forward(in).values.equal(without->forward(in).values));
  with->forward(in).logits.square().sum().backward();
  EXPECT_GT(with->named_parameters()["around.weight"].grad().abs().max().item<float>(), 0.0F);
}

}  // namespace
}  // namespace traffic::model
