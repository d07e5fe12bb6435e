#include "train/policy/decider.h"

#include <ATen/CPUGeneratorImpl.h>
#include <gtest/gtest.h>

#include <array>
#include <list>

#include "traffic/data/format.h"
#include "traffic/rl/uniforms.h"
#include "train/policy/fit.h"
#include "train/policy/frame_fixture.h"
#include "train/run/snapshot_parts.h"
#include "train/world_model/networks.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of frame_fixture.h

/// A frame in which no vehicle is under control.
scene::GraphFrame free_frame(std::vector<std::uint32_t> vehicles, std::uint64_t seed) {
  scene::GraphFrame frame = frame_of(std::move(vehicles), seed);
  for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i) {
    set_feature(frame, i, "commanded", 0.0F);
    set_feature(frame, i, "commit_left_s", 0.0F);
  }
  return frame;
}

/// Three simulations. One has several candidates (vehicles that the policy may command), one has a
/// single candidate, and one has none.
class DeciderTest : public ::testing::Test {
 protected:
  DeciderTest() {
    perception_.freeze();
    // Large random weights, so that greedy decisions contain commands, too.
    for (auto& item : policy_.controller()->named_parameters()) {
      torch::NoGradGuard no_grad;
      item.value().normal_(0.0, 0.5, at::make_generator<at::CPUGeneratorImpl>(3));
    }
    std::vector<ObservationInput> inputs;
    for (std::size_t i = 0; i < periods_.size(); ++i) {
      inputs.push_back({.period = &periods_[i], .memory = &memories_[i]});
    }
    seen_ = decider_.observe(inputs);
    for (std::size_t i = 0; i < periods_.size(); ++i) {
      states_.push_back({.period = &periods_[i], .seen = &seen_[i]});
    }
  }
  static config::Config config() {
    config::Config config = small_perception();
    config.vehicles.lane_change = true;
    config.vehicles.top_k = 2;
    return config;
  }

  config::Config config_ = config();
  Perception perception_{config_, 1, torch::kCPU};
  Policy policy_{config_, perception_.widths(), torch::kCPU};
  Decider decider_{perception_, policy_};
  const std::list<scene::GraphFrame> crowd_{free_frame({3, 5, 7, 8, 9}, 1)};
  const std::list<scene::GraphFrame> pair_{free_frame({4, 11}, 2)};
  const std::list<scene::GraphFrame> alone_{free_frame({6}, 3)};
  const std::vector<scene::Candidate> of_crowd_{{.node = 0}, {.node = 1}, {.node = 2}, {.node = 4}};
  const std::vector<scene::Candidate> of_pair_{{.node = 1}};
  std::vector<rollout::Period> periods_{period_of(crowd_, of_crowd_), period_of(pair_, of_pair_),
                                        period_of(alone_, {})};
  std::vector<RecurrentState> memories_{3};
  std::vector<Observation> seen_;
  std::vector<DecisionInput> states_;
};

TEST_F(DeciderTest, DecisionsDoNotDependOnTheBatch) {
  const Decider::Draw draw = [&](std::size_t state, std::span<float> uniforms) {
    Rng rng(100 + state);
    rl::fill_uniforms(rng, uniforms);
  };
  for (const bool greedy : {true, false}) {
    const auto together = decider_.decide(states_, greedy ? Decider::Draw{} : draw);
    ASSERT_EQ(together.size(), 3U);
    for (std::size_t b = 0; b < states_.size(); ++b) {
      const Decider::Draw own = [&](std::size_t /*state*/, std::span<float> uniforms) {
        draw(b, uniforms);
      };
      const auto alone =
          decider_.decide(std::span(states_).subspan(b, 1), greedy ? Decider::Draw{} : own).front();
      EXPECT_EQ(together[b].made.place, alone.made.place);
      EXPECT_EQ(together[b].made.action, alone.made.action);
      EXPECT_EQ(together[b].made.lane, alone.made.lane);
    }
    EXPECT_EQ(together[0].made.size(), 2U) << "top_k limits the number of picks";
    EXPECT_EQ(together[1].made.size(), 1U);
    EXPECT_EQ(together[2].made.size(), 0U);
  }
}

/// The training data of the world model had no queue lengths and one edge feature less. A
/// controller that reads only its encodings must ignore these features.
TEST_F(DeciderTest, FeaturesMissingInTrainingDataDoNotChangeDecisions) {
  config::Config config = config_;
  config.vehicles.inputs = {"encoding", "pooled", "latents"};
  WorldModelNetworks trained(config, 1.0, torch::kCPU);
  data::FileInfo data = data::file_info_of_this_program();
  const auto queue = static_cast<std::size_t>(scene::node_feature_index("own_queue"));
  data.node_features[queue].present = false;
  data.edge_features[0].present = false;
  trained.ignore_missing(data);
  checkpoint::Snapshot snapshot(1);
  put_parameters(snapshot, trained.trainable_parameters());
  snapshot.put_text("model_hash", model_hash_text(config));
  Perception perception(config, 1, torch::kCPU);
  load_perception(snapshot, config, perception);
  perception.freeze();
  Policy policy(config, perception.widths(), torch::kCPU);
  for (auto& item : policy.controller()->named_parameters()) {
    torch::NoGradGuard no_grad;
    item.value().normal_(0.0, 0.5, at::make_generator<at::CPUGeneratorImpl>(3));
  }
  Decider decider(perception, policy);
  const auto observe = [&](const std::list<scene::GraphFrame>& frames, RecurrentState& memory,
                           rollout::Period& period) {
    period = period_of(frames, of_crowd_);
    const ObservationInput input{.period = &period, .memory = &memory};
    return decider.observe(std::span(&input, 1)).front();
  };
  const auto with = [&](const char* feature, float value) {
    std::list<scene::GraphFrame> frames = crowd_;
    for (std::size_t i = 0; i < frames.back().vehicle_id.size(); ++i) {
      set_feature(frames.back(), i, feature, value);
    }
    return frames;
  };
  std::list<scene::GraphFrame> ignored = with("own_queue", 17.0F);
  for (std::size_t e = 0; e < ignored.back().edge_features.size(); e += 4) {
    ignored.back().edge_features[e] = -40.0F;
  }
  const std::list<scene::GraphFrame> faster = with("speed_mps", 9.0F);
  std::array<RecurrentState, 3> memories;
  std::array<rollout::Period, 3> periods;
  const Observation recorded = observe(crowd_, memories[0], periods[0]);
  const Observation other = observe(ignored, memories[1], periods[1]);
  EXPECT_TRUE(torch::equal(recorded.own, other.own));
  EXPECT_TRUE(torch::equal(recorded.shared, other.shared));
  EXPECT_FALSE(torch::equal(recorded.own, observe(faster, memories[2], periods[2]).own));
  const std::array<DecisionInput, 2> states{DecisionInput{.period = &periods[0], .seen = &recorded},
                                            DecisionInput{.period = &periods[1], .seen = &other}};
  const auto decided = decider.decide(states);
  EXPECT_EQ(decided[0].made.size(), 2U);
  EXPECT_EQ(decided[0].made.place, decided[1].made.place);
  EXPECT_EQ(decided[0].made.action, decided[1].made.action);
  EXPECT_EQ(decided[0].made.lane, decided[1].made.lane);
}

TEST_F(DeciderTest, EachCommandIsForThePickedVehicle) {
  const DecidedState decided = decider_.decide(states_).front();
  ASSERT_EQ(decided.commands.size(), decided.made.size());
  for (std::size_t d = 0; d < decided.made.size(); ++d) {
    const auto& candidate = of_crowd_[static_cast<std::size_t>(decided.made.place[d])];
    const auto expected = policy_.command(periods_[0].of<rollout::VehicleSection>().frames.back(),
                                          candidate, decided.made.action[d], decided.made.lane[d]);
    ASSERT_EQ(decided.commands[d].has_value(), expected.has_value());
    if (!expected) continue;
    EXPECT_EQ(decided.commands[d]->vehicle_id,
              crowd_.back().vehicle_id[static_cast<std::size_t>(candidate.node)]);
    EXPECT_EQ(decided.commands[d]->lane_change, lane_change_of(decided.made.lane[d]));
  }
}

TEST_F(DeciderTest, CommandsInForceReduceTheNumberOfPicks) {
  EXPECT_EQ(decider_.may_pick(periods_[1]), 2);
  std::list<scene::GraphFrame> frames{crowd_};
  scene::GraphFrame& frame = frames.back();
  for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i)
    set_feature(frame, i, "commanded", 0.0F);
  set_feature(frame, 0, "commanded", 1.0F);
  set_feature(frame, 0, "commit_left_s", 12.0F);
  set_feature(frame, 1, "commanded", 1.0F);  // its command ends now, so it is a candidate again
  EXPECT_EQ(decider_.may_pick(period_of(frames, {})), 1);
  for (const std::size_t i : {1U, 2U, 3U}) {
    set_feature(frame, i, "commanded", 1.0F);
    set_feature(frame, i, "commit_left_s", 5.0F);
  }
  EXPECT_EQ(decider_.may_pick(period_of(frames, {})), 0)
      << "no pick is allowed, because more vehicles than top_k are under control";
}

}  // namespace
}  // namespace traffic::train
