/// Encoder, world model and loss combined, as in phase 1.
#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <cmath>

#include "references.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"
#include "traffic/model/loss.h"
#include "traffic/model/world_model.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

constexpr std::int64_t kFrames = 4;
constexpr std::int64_t kFutureFrames = 5;

/// Windows with 7 and 16 vehicles, alternating.
struct Windows {
  GraphBatch graph;
  Tensor present;
  WorldModelTargets targets;
};
Windows make_windows(std::int64_t count, std::uint64_t seed) {
  std::vector<std::int64_t> sizes;
  std::int64_t vehicles = 0;
  for (std::int64_t i = 0; i < count; ++i) vehicles += i % 2 == 0 ? 7 : 16;
  for (std::int64_t t = 0; t < kFrames; ++t) {
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(i % 2 == 0 ? 7 : 16);
  }
  Windows w;
  w.graph = random_graphs(sizes, 9, seed);
  w.targets = random_targets(vehicles, kFutureFrames, seed + 1);
  w.present = torch::rand({kFrames, vehicles}) < 0.9;
  return w;
}

class Model {
 public:
  explicit Model(const config::Model& model, std::uint64_t seed = 1)
      : encoder(model, 9), world(model, kFutureFrames) {
    initialise(*encoder, seed);
    initialise(*world, seed + 1);
  }
  Tensor loss(const Windows& w, std::int64_t stage = 2) {
    const Tensor h = encoder->forward(w.graph);
    return world_model_loss(world->forward(h.view({kFrames, w.present.size(1), -1}), w.present),
                            w.targets, stage)
        .total;
  }
  std::vector<Tensor> parameters() {
    std::vector<Tensor> all = encoder->parameters();
    for (const Tensor& p : world->parameters()) all.push_back(p);
    return all;
  }

  GraphEncoder encoder;
  WorldModel world;
};

TEST(WorldModelGradient, IsTheSlopeOfTheLoss) {
  Model model(small_model());
  const Windows w = make_windows(6, 3);
  model.loss(w).backward();
  const auto encoder = model.encoder->named_parameters();
  const auto world = model.world->named_parameters();
  const std::vector<std::pair<const char*, Tensor>> some{
      {"input.weight", encoder["input.weight"]},
      {"norm.weight", encoder["norm.weight"]},
      {"layers.0.qkv.weight", encoder["layers.0.qkv.weight"]},
      {"layers.1.edge.weight", encoder["layers.1.edge.weight"]},
      {"layers.0.risk_in.weight", encoder["layers.0.risk_in.weight"]},
      {"layers.1.up.weight", encoder["layers.1.up.weight"]},
      {"layers.1.down.weight", encoder["layers.1.down.weight"]},
      {"lstm.weight_ih_l0", world["lstm.weight_ih_l0"]},
      {"lstm.weight_hh_l1", world["lstm.weight_hh_l1"]},
      {"future.0.weight", world["future.0.weight"]},
      {"conflict.2.bias", world["conflict.2.bias"]}};
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : some) {
    Tensor p = parameter;
    const double slope = p.grad().norm().item<double>();
    const Tensor along = p.grad() / slope;
    // The step must be large enough, because float32 resolves the loss to 1e-7 only. It must also
    // be small, because the error of the central difference grows with the square of the step.
    const double step = 0.02;
    p.add_(along, step);
    const double above = model.loss(w).item<double>();
    p.add_(along, -2 * step);
    const double below = model.loss(w).item<double>();
    p.add_(along, step);
    EXPECT_NEAR((above - below) / (2 * step), slope, 0.02 * slope + 2e-5) << name;
  }
}

class LearnsABatch : public ::testing::TestWithParam<torch::ScalarType> {};

TEST_P(LearnsABatch, ByHeart) {
  Model model(small_model());
  model.encoder->set_compute_type(GetParam());
  model.world->set_compute_type(GetParam());
  const Windows w = make_windows(3, 5);
  torch::optim::Adam adam(model.parameters(), torch::optim::AdamOptions(3e-3));
  const double first = model.loss(w).item<double>();
  for (int i = 0; i < 150; ++i) {
    adam.zero_grad();
    model.loss(w).backward();
    adam.step();
  }
  // The targets of 30 vehicles are random, so a model can only memorise them.
  EXPECT_LT(model.loss(w).item<double>(), 0.1 * first);
}
INSTANTIATE_TEST_SUITE_P(Types, LearnsABatch, ::testing::Values(torch::kFloat, torch::kBFloat16));

TEST(Initialise, DependsOnlyOnTheSeedAndTheName) {
  torch::manual_seed(1);
  Model first(small_model(), 11);
  torch::manual_seed(2);
  Model second(small_model(), 11);
  Model other(small_model(), 12);
  config::Model deeper = small_model();
  deeper.gnn_layers = 3;
  Model third(deeper, 11);
  for (const auto& item : first.encoder->named_parameters()) {
    EXPECT_TRUE(same_bits(item.value(), second.encoder->named_parameters()[item.key()]));
    EXPECT_TRUE(same_bits(item.value(), third.encoder->named_parameters()[item.key()]));
    if (item.value().dim() == 2) {
      EXPECT_FALSE(same_bits(item.value(), other.encoder->named_parameters()[item.key()]));
    }
  }
  for (const auto& item : first.world->named_parameters()) {
    EXPECT_TRUE(same_bits(item.value(), second.world->named_parameters()[item.key()]));
  }
}

TEST(Initialise, UsesTheRangesOfPyTorch) {
  Model model(small_model(), 13);
  const auto expect_range = [](const Tensor& p, double bound) {
    const double highest = p.abs().max().item<double>();
    EXPECT_LE(highest, bound);
    EXPECT_GT(highest, 0.98 * bound);  // maximum of thousands of uniform draws
    EXPECT_NEAR(p.mean().item<double>(), 0.0, 0.03 * bound);
  };
  expect_range(model.encoder->named_parameters()["layers.0.up.weight"], 1 / std::sqrt(96.0));
  expect_range(model.encoder->named_parameters()["layers.1.down.weight"], 1 / std::sqrt(384.0));
  expect_range(model.world->named_parameters()["lstm.weight_ih_l0"], 1 / std::sqrt(48.0));
  const auto encoder = model.encoder->named_parameters();
  EXPECT_TRUE(encoder["layers.0.norm1.weight"].eq(1.0).all().item<bool>());
  EXPECT_TRUE(encoder["norm.bias"].eq(0.0).all().item<bool>());
}

}  // namespace
}  // namespace traffic::model
