#include "traffic/model/world_model.h"

#include <gtest/gtest.h>

#include "references.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

constexpr std::int64_t kHorizon = 5;

WorldModel make_world(const config::Model& model = small_model()) {
  WorldModel world(model, kHorizon);
  initialise(*world, 5);
  return world;
}

/// All heads in plain operations.
WorldModelOutput heads_by_hand(const Tensor& h, const NamedTensors& p) {
  const auto linear = [&](const Tensor& in, const std::string& name) {
    return in.matmul(p.at(name + ".weight").t()) + p.at(name + ".bias");
  };
  const auto mlp = [&](const Tensor& in, const std::string& name) {
    return linear(torch::relu(linear(in, name + ".0")), name + ".2");
  };
  WorldModelOutput out;
  out.next = mlp(h, "next");
  out.z_flow = linear(h, "z_flow");
  out.z_risk = linear(h, "z_risk");
  out.future = mlp(out.z_flow, "future").view({h.size(0), kHorizon, 4});
  out.conflict_logit = mlp(out.z_risk, "conflict").squeeze(1);
  return out;
}

NamedTensors lstm_part(const NamedTensors& p) {
  NamedTensors part;
  for (const auto& [name, value] : p) {
    if (name.starts_with("lstm.")) part[name.substr(5)] = value;
  }
  return part;
}

class WorldModelStage : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(WorldModelStage, EqualsTheReferenceInOutputsLossAndAllGradients) {
  WorldModel world = make_world();
  torch::manual_seed(1);
  const Tensor encodings = torch::randn({6, 50, 96});
  const Tensor present = torch::rand({6, 50}) < 0.8;
  const WorldModelTargets targets = random_targets(50, kHorizon, 2);
  const WorldModelOutput out = world->forward(encodings, present);
  const WorldModelLoss loss = world_model_loss(out, targets, GetParam());
  loss.total.backward();

  const NamedTensors p = in_double(*world);
  const WorldModelOutput expected =
      heads_by_hand(lstm_by_step(encodings.to(torch::kDouble), present, lstm_part(p), 2), p);
  EXPECT_LT(difference(out.next, expected.next), kFloatTolerance);
  EXPECT_LT(difference(out.future, expected.future), kFloatTolerance);
  EXPECT_LT(difference(out.conflict_logit, expected.conflict_logit), kFloatTolerance);
  EXPECT_LT(difference(out.z_flow, expected.z_flow), kFloatTolerance);
  EXPECT_LT(difference(out.z_risk, expected.z_risk), kFloatTolerance);
  const WorldModelTargets in_double{targets.future.to(torch::kDouble), targets.future_mask,
                                    targets.conflict.to(torch::kDouble), targets.conflict_mask};
  world_model_loss(expected, in_double, GetParam()).total.backward();

  const std::vector<std::string> without = world->parameters_without_gradient(GetParam());
  const NamedTensors gradients = gradients_of(*world);
  EXPECT_EQ(gradients.size() + without.size(), p.size());
  for (const std::string& name : without) {
    EXPECT_FALSE(gradients.contains(name)) << name;
    EXPECT_FALSE(p.at(name).grad().defined()) << name;
  }
  for (const auto& [name, g] : gradients)
    EXPECT_LT(difference(g, p.at(name).grad()), kGradientTolerance) << name;
}
INSTANTIATE_TEST_SUITE_P(Stages, WorldModelStage, ::testing::Values(1, 2));

TEST(WorldModel, EachHeadReadsItsOwnLatentOnly) {
  WorldModel world = make_world();
  torch::manual_seed(3);
  const Tensor encodings = torch::randn({3, 8, 96});
  const torch::NoGradGuard no_grad;
  const WorldModelOutput before = world->forward(encodings);
  world->named_parameters()["z_risk.weight"].mul_(2.0);
  const WorldModelOutput other_risk = world->forward(encodings);
  EXPECT_TRUE(same_bits(other_risk.future, before.future));
  EXPECT_TRUE(same_bits(other_risk.next, before.next));
  EXPECT_FALSE(same_bits(other_risk.conflict_logit, before.conflict_logit));
  world->named_parameters()["z_flow.weight"].mul_(2.0);
  const WorldModelOutput other_flow = world->forward(encodings);
  EXPECT_TRUE(same_bits(other_flow.conflict_logit, other_risk.conflict_logit));
  EXPECT_FALSE(same_bits(other_flow.future, before.future));
}

TEST(WorldModel, SingleStepsGiveTheLatentsOfTheSequence) {
  WorldModel world = make_world();
  torch::manual_seed(4);
  const Tensor encodings = torch::randn({6, 150, 96});
  const torch::NoGradGuard no_grad;
  const WorldModelOutput sequence = world->forward(encodings);
  for (const bool packed : {false, true}) {
    if (packed) world->pack_for_inference();
    LstmState state = world->zero_state(150);
    Tensor hidden;
    for (std::int64_t t = 0; t < 6; ++t) hidden = world->step(encodings[t], state);
    const Tensor expected = torch::cat({sequence.z_flow, sequence.z_risk}, 1);
    EXPECT_LT(difference(world->latents(hidden), expected.to(torch::kDouble)), kFloatTolerance);
  }
}

TEST(WorldModel, TheDefaultSizeHasTheExpectedParameterCount) {
  const config::Model model;  // 256 wide, 3 layers, 8 heads, LSTM of 256 x 2, latents of 32
  const auto count = [](const torch::nn::Module& module) {
    std::int64_t sum = 0;
    for (const auto& p : module.parameters()) sum += p.numel();
    return sum;
  };
  const auto linear = [](std::int64_t in, std::int64_t out) { return in * out + out; };
  const std::int64_t d = 256;
  const std::int64_t layer = linear(d, 3 * d) + 4 * d + linear(4, 32) + linear(32, 8) +
                             linear(d, d) + linear(d, 4 * d) + linear(4 * d, d) + 4 * d;
  EXPECT_EQ(count(*GraphEncoder(model, 9)), linear(9, d) + 2 * d + 3 * layer);
  const std::int64_t lstm = 2 * (2 * 4 * d * d + 2 * 4 * d);
  const std::int64_t heads = linear(d, 256) + linear(256, 4) + 2 * linear(d, 32) + linear(32, 256) +
                             linear(256, 20) + linear(32, 128) + linear(128, 1);
  EXPECT_EQ(count(*WorldModel(model, kHorizon)), lstm + heads);
  EXPECT_EQ(count(*GraphEncoder(model, 9)) + count(*WorldModel(model, kHorizon)), 3'530'577);
}

}  // namespace
}  // namespace traffic::model
