#include "train/policy/perception.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/scene/frame.h"
#include "train/policy/frame_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of frame_fixture.h

TEST(Perception, GivesEachCandidateItsOwnNormalisedFeatures) {
  config::Config config = small_perception();
  config.vehicles.inputs = {"features", "globals"};
  Perception perception(config, 1, torch::kCPU);
  EXPECT_TRUE(perception.parameters().empty());
  const std::vector<scene::Candidate> candidates{{.node = 2, .conflict = 0, .approach = 0}};
  const std::list<scene::GraphFrame> frames{frame_of({4, 5, 8}, 1)};
  const rollout::Period period = period_of(frames, candidates);
  RecurrentState memory;
  const ObservationInput input{.period = &period, .memory = &memory};
  const ObservationBatch seen = perception.observe(std::span(&input, 1));
  ASSERT_EQ(seen.own.size(0), 1);
  ASSERT_EQ(seen.own.size(1), perception.widths().own);
  const auto speed = static_cast<std::size_t>(scene::node_feature_index("speed_mps"));
  const std::size_t columns = scene::node_features().size();
  EXPECT_FLOAT_EQ(
      seen.own[0][static_cast<std::int64_t>(speed)].item<float>(),
      frames.front().node_features[2 * columns + speed] / scene::node_features()[speed].scale);
  EXPECT_EQ(seen.conflict.sizes(), (std::vector<std::int64_t>{1, 1, perception.widths().conflict}));
}

TEST(Perception, PutsTheAdvisedCommandBetweenFeaturesAndLatents) {
  config::Config config = small_perception();
  config.vehicles.inputs = {"features", "latents"};
  const model::ControllerInputs without = Perception(config, 1, torch::kCPU).widths();
  config.vehicles.advisor = "meter(speed_mps=2)";
  config.vehicles.commands = {"none", "stop", "slow"};
  Perception perception(config, 1, torch::kCPU);
  perception.freeze();
  EXPECT_EQ(perception.widths().advice, 3);
  EXPECT_EQ(perception.widths().own, without.own + 3);
  const std::vector<scene::Candidate> candidates{{.node = 1}, {.node = 3}, {.node = 4}};
  const std::list<scene::GraphFrame> frames{frame_of({4, 5, 8, 9, 11}, 1)};
  rollout::Period period = period_of(frames, candidates);
  // A target speed counts as "slow". "fast" is not among the commands and counts as "none".
  const std::vector<scene::Command> advice{
      {.vehicle_id = 9, .longitudinal = scene::Longitudinal::kTargetSpeed, .value = 2.0},
      {.vehicle_id = 11, .longitudinal = scene::Longitudinal::kFast},
      {.vehicle_id = 4, .longitudinal = scene::Longitudinal::kStop}};
  period.sections.get<rollout::VehicleSection>().advice = advice;
  RecurrentState memory;
  const ObservationInput input{.period = &period, .memory = &memory};
  const ObservationBatch seen = perception.observe(std::span(&input, 1));
  const auto features = static_cast<std::int64_t>(scene::node_features().size());
  EXPECT_TRUE(
      torch::equal(seen.own.narrow(1, features, 3),
                   torch::tensor({{1.0F, 0.0F, 0.0F}, {0.0F, 0.0F, 1.0F}, {1.0F, 0.0F, 0.0F}})));
}

TEST(Perception, KeepsTheMemoryOfAVehicleWhileOthersComeAndGo) {
  // Vehicle 5 is observed alone in three frames, and among vehicles that come and go, in a batch
  // with another simulation. No edges connect the vehicles, so its latents must be the same.
  config::Config config = small_perception();
  config.vehicles.inputs = {"latents"};
  Perception perception(config, 1, torch::kCPU);
  perception.freeze();
  const auto isolate = [](scene::GraphFrame frame) {
    std::fill(frame.edge_ptr.begin(), frame.edge_ptr.end(), 0);
    frame.edge_src.clear();
    frame.edge_features.clear();
    return frame;
  };
  RecurrentState alone_memory;
  RecurrentState crowd_memory;
  RecurrentState other_memory;
  const std::vector<std::vector<std::uint32_t>> crowds{{2, 5}, {2, 5, 6}, {5, 6, 9}};
  torch::Tensor alone;
  torch::Tensor crowded;
  for (const auto& ids : crowds) {
    const auto node =
        static_cast<std::int32_t>(std::find(ids.begin(), ids.end(), 5U) - ids.begin());
    const std::vector<scene::Candidate> in_crowd{{.node = node, .conflict = 0, .approach = 0}};
    const std::vector<scene::Candidate> first{{.node = 0, .conflict = 0, .approach = 0}};
    const std::list<scene::GraphFrame> crowd{isolate(frame_of(ids, 1))};
    const std::list<scene::GraphFrame> single{isolate(frame_of({5}, 1))};
    const std::list<scene::GraphFrame> other{isolate(frame_of({3}, 1)),
                                             isolate(frame_of({3, 5}, 1))};
    const rollout::Period a = period_of(single, first);
    const rollout::Period b = period_of(crowd, in_crowd);
    const rollout::Period c = period_of(other, first);
    const ObservationInput lone{.period = &a, .memory = &alone_memory};
    alone = perception.observe(std::span(&lone, 1)).own;
    const std::vector<ObservationInput> both{{.period = &c, .memory = &other_memory},
                                             {.period = &b, .memory = &crowd_memory}};
    crowded = perception.observe(both).own[1].unsqueeze(0);
    // The order of summation may differ between numbers of vehicles.
    EXPECT_TRUE(torch::allclose(alone, crowded, 1e-4, 1e-5));
  }
  EXPECT_EQ(crowd_memory.vehicle_id, (std::vector<std::uint32_t>{5, 9}));
}

TEST(Perception, PoolsTheEncodingsOfConnectedVehicles) {
  config::Config config = small_perception();
  config.vehicles.inputs = {"encoding", "pooled"};
  Perception perception(config, 1, torch::kCPU);
  perception.freeze();
  const auto candidate = [](std::int32_t node) {
    return scene::Candidate{.node = node, .conflict = 0, .approach = 0};
  };
  const std::vector<scene::Candidate> all_connected{candidate(1), candidate(3), candidate(4)};
  const std::vector<scene::Candidate> some_connected{candidate(2)};
  const std::vector<scene::Candidate> none;
  const std::list<scene::GraphFrame> first{frame_of({1, 7}, 1), frame_of({2, 5, 6, 9, 11}, 1)};
  const std::list<scene::GraphFrame> second{frame_of({3, 4, 5, 8}, 1)};
  const std::list<scene::GraphFrame> unconnected{frame_of({2, 4}, 1)};
  const std::vector<rollout::Period> periods{period_of(first, all_connected),
                                             period_of(second, some_connected),
                                             period_of(unconnected, none)};
  std::vector<RecurrentState> memories(periods.size());
  std::vector<ObservationInput> inputs;
  for (std::size_t i = 0; i < periods.size(); ++i) {
    inputs.push_back({.period = &periods[i], .memory = &memories[i]});
  }
  const ObservationBatch seen = perception.observe(inputs);
  ASSERT_EQ(seen.candidate_ptr, (std::vector<std::int64_t>{0, 3, 4, 4}));
  EXPECT_TRUE(torch::allclose(seen.shared[0], seen.own.slice(0, 0, 3).mean(0), 1e-5, 1e-6));
  // Vehicle 3 is connected, too, but no candidate.
  EXPECT_FALSE(torch::allclose(seen.shared[1], seen.own[3], 1e-3, 1e-4));
  EXPECT_EQ(seen.shared[2].abs().max().item<float>(), 0.0F);
}

TEST(Perception, Bf16IsCloseToFp32AndFp16IsRejectedOnTheCpu) {
  const std::vector<scene::Candidate> candidates{{.node = 3, .conflict = 0, .approach = 0}};
  const std::list<scene::GraphFrame> frames{frame_of({4, 5, 8, 9}, 1)};
  const rollout::Period period = period_of(frames, candidates);
  const auto seen_in = [&](const std::string& precision) {
    config::Config config = small_perception();
    config.vehicles.perception_precision = precision;
    Perception perception(config, 1, torch::kCPU);
    perception.freeze();
    RecurrentState memory;
    const ObservationInput input{.period = &period, .memory = &memory};
    return perception.observe(std::span(&input, 1)).own;
  };
  const torch::Tensor exact = seen_in("fp32");
  const torch::Tensor rounded = seen_in("bf16");
  EXPECT_FALSE(torch::equal(rounded, exact));
  // bf16 has eight bits of precision; the outputs are sums of products of values of order 1.
  EXPECT_LT((rounded - exact).abs().max().item<double>(), 0.05);
  EXPECT_THROW(seen_in("fp16"), ConfigError);
}

}  // namespace
}  // namespace traffic::train
