#include "train/policy/light_policy.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train {
namespace {

/// Observations of two lights, with two and three greens.
LightBatch two_lights(float first_feature = 0.3F) {
  const std::vector<rollout::LightChoice> choices{{.light = 0, .num_greens = 2, .present = 1},
                                                  {.light = 4, .num_greens = 3, .present = 0}};
  std::vector<float> rows(5 * scene::signal_features().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = 0.1F * std::sin(static_cast<float>(i));
  }
  rows[0] = first_feature;
  return light_batch(choices, rows);
}

TEST(LightPolicy, ProbabilitiesOfALightAddUpToOne) {
  LightPolicy policy({.hidden_dim = 16}, 1);
  double sum = 0.0;
  for (std::int64_t row = 2; row < 5; ++row) {
    const LightTerms terms = policy.evaluate(two_lights(), torch::tensor({std::int64_t{0}, row}));
    sum += std::exp(terms.log_prob[1].item<double>());
    EXPECT_GT(terms.entropy[1].item<double>(), 0.0);
    EXPECT_LE(terms.entropy[1].item<double>(), std::log(3.0) + 1e-6);
  }
  EXPECT_NEAR(sum, 1.0, 1e-6);
}

TEST(LightPolicy, TheOutputForALightIgnoresOtherLights) {
  LightPolicy policy({.hidden_dim = 16}, 1);
  const torch::Tensor chosen = torch::tensor({std::int64_t{1}, std::int64_t{3}});
  const LightTerms one = policy.evaluate(two_lights(0.3F), chosen);
  const LightTerms other = policy.evaluate(two_lights(0.9F), chosen);
  EXPECT_NE(one.log_prob[0].item<float>(), other.log_prob[0].item<float>());
  EXPECT_EQ(one.log_prob[1].item<float>(), other.log_prob[1].item<float>());
  EXPECT_EQ(one.values[1].item<float>(), other.values[1].item<float>());
}

TEST(LightPolicy, EvaluateReproducesTheRecordedLogProbAndValue) {
  LightPolicy policy({.hidden_dim = 16}, 1);
  const LightBatch batch = two_lights();
  const std::vector<float> uniforms{0.9F, 0.1F, 0.2F, 0.95F, 0.3F};
  const LightDecisions made = policy.decide(batch, uniforms);
  const LightTerms terms = policy.evaluate(
      batch, torch::tensor({std::int64_t{made.green[0]}, std::int64_t{2 + made.green[1]}}));
  EXPECT_FLOAT_EQ(made.log_prob[1], terms.log_prob[1].item<float>());
  EXPECT_FLOAT_EQ(made.value[0], terms.values[0].item<float>());
  EXPECT_EQ(policy.decide(batch, uniforms).green, made.green);
}

TEST(LightPolicy, WithoutRandomNumbersChoosesTheMostProbableGreen) {
  LightPolicy policy({.hidden_dim = 16}, 1);
  const LightBatch batch = two_lights();
  const LightDecisions made = policy.decide(batch, {});
  for (std::int64_t row = 2; row < 5; ++row) {
    const LightTerms terms = policy.evaluate(batch, torch::tensor({std::int64_t{0}, row}));
    EXPECT_LE(terms.log_prob[1].item<float>(), made.log_prob[1] + 1e-6F);  // 1e-6 for rounding
  }
}

TEST(LightPolicy, StartsAsTheScriptGreedy) {
  const auto names = scene::signal_features();
  const auto near = static_cast<std::size_t>(std::ranges::find(names, "near") - names.begin());
  const auto present =
      static_cast<std::size_t>(std::ranges::find(names, "is_present") - names.begin());
  std::vector<float> rows(6 * names.size(), 0.0F);
  rows[0 * names.size() + near] = 0.2F;  // this green has two vehicles, the next one has three
  rows[1 * names.size() + near] = 0.3F;
  rows[0 * names.size() + present] = 1.0F;
  rows[3 * names.size() + present] = 1.0F;  // no green of this light has a vehicle
  const std::vector<rollout::LightChoice> choices{{.light = 0, .num_greens = 3, .present = 0},
                                                  {.light = 1, .num_greens = 3, .present = 0}};
  scene::SignalGraph graph;  // each light is the other's neighbour
  graph.node_features.assign(2 * scene::num_signal_node_features(), 0.5F);
  graph.edge_ptr = {0, 1, 2};
  graph.edge_src = {1, 0};
  graph.edge_features.assign(2 * scene::signal_edge_features().size(), 0.5F);
  for (const std::int64_t layers : {0, 2}) {
    LightPolicy policy({.hidden_dim = 48, .encoder_layers = layers}, 7);
    const LightBatch batch = policy.observe(choices, rows, graph.view());
    EXPECT_THAT(policy.decide(batch, {}).green, ::testing::ElementsAre(1, 0));
    EXPECT_EQ(batch.graph.node_features.defined(), layers > 0)
        << "a policy without an encoder packs no graph";
  }
}

TEST(LightPolicy, StartsAsItsAdvisorIfItKeepsPrograms) {
  const std::size_t columns = scene::signal_features().size();
  std::vector<float> rows(4 * columns, 0.4F);
  for (std::size_t row = 0; row < 4; ++row) rows[(row + 1) * columns - 1] = 0.0F;
  scene::mark_advised(std::span(rows).subspan(0, columns));
  scene::mark_advised(std::span(rows).subspan(3 * columns, columns));
  const std::vector<rollout::LightChoice> choices{{.light = 0, .num_greens = 2, .present = 0},
                                                  {.light = 1, .num_greens = 2, .present = 0}};
  LightPolicy policy({.hidden_dim = 48, .keeps_programs = true}, 7);
  const LightDecisions made = policy.decide(policy.observe(choices, rows, {}), {});
  EXPECT_THAT(made.green, ::testing::ElementsAre(0, 1));
  const double follows = std::exp(static_cast<double>(made.log_prob[0]));
  EXPECT_GT(follows, 0.9);
  EXPECT_LT(follows, 0.99) << "a sampled policy must sometimes choose the other option";
}

TEST(LightPolicy, WithAnEncoderRejectsAnEmptyGraph) {
  const LightPolicy policy({.hidden_dim = 16, .encoder_layers = 1}, 7);
  const std::vector<rollout::LightChoice> choices{{.light = 0, .num_greens = 2, .present = 0}};
  const std::vector<float> rows(2 * scene::signal_features().size());
  EXPECT_THROW(policy.observe(choices, rows, {}), Error);
}

TEST(LightPolicy, RejectsACheckpointWithAnotherNetworkShape) {
  checkpoint::Snapshot snapshot(1);
  put_light_kind(snapshot, {.hidden_dim = 48, .encoder_layers = 1});
  EXPECT_NO_THROW(check_light_kind(snapshot, {.hidden_dim = 48, .encoder_layers = 1}));
  EXPECT_THAT([&] { check_light_kind(snapshot, {.hidden_dim = 48}); },
              ::testing::ThrowsMessage<CheckpointError>(
                  ::testing::HasSubstr("lights.encoder_layers = 1, this run has 48 and 0")));
}

TEST(LightPolicy, RejectsACheckpointThatActsInAnotherWay) {
  checkpoint::Snapshot snapshot(1);
  put_light_kind(snapshot, {.hidden_dim = 48, .keeps_programs = true});
  EXPECT_THAT([&] { check_light_kind(snapshot, {.hidden_dim = 48}); },
              ::testing::ThrowsMessage<CheckpointError>(
                  ::testing::HasSubstr("set the checkpoint's lights.advisor")));
}

TEST(LightPolicy, RejectsACheckpointWithOtherFeatures) {
  checkpoint::Snapshot snapshot(1);
  EXPECT_THROW(light_kind_in(snapshot), CheckpointError);
  put_light_kind(snapshot, {.hidden_dim = 48});
  EXPECT_EQ(light_kind_in(snapshot), (LightKind{.hidden_dim = 48}));
  checkpoint::Snapshot other(1);
  other.put_text("lights/features", "vehicles");
  other.put_int("lights/hidden_dim", 48);
  EXPECT_THROW(light_kind_in(other), CheckpointError);
}

}  // namespace
}  // namespace traffic::train
