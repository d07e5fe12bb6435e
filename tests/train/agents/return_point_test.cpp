/// Tests ReturnPoint. It keeps the state of the best controller, to which the training returns when
/// the gain has fallen.
#include "train/agents/return_point.h"

#include <gtest/gtest.h>

#include "ppo/learner.h"
#include "train/rollouts/experience_fixture.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of experience_fixture.h

/// An agent that learns from synthetic experience.
class SyntheticAgent final : public Agent {
 public:
  explicit SyntheticAgent(const config::Config& config)
      : policy_(config, kWidths, torch::kCPU), learner_(config, policy_, alone_, 1) {}

  /// Makes one update. @return its learning rate
  double learn_from(const Experience& experience, std::int64_t iteration) {
    return learner_.update(experience, 4 * kLength, iteration)->learning_rate;
  }
  [[nodiscard]] Policy& policy() { return policy_; }

  std::optional<Learned> learn(const RolloutBatch& /*batch*/, const Progress& /*at*/) override {
    return Learned{};
  }
  void set_step_factor(double factor) override { learner_.set_step_factor(factor); }
  std::string start_from(const checkpoint::Snapshot& /*snapshot*/) override { return {}; }
  void restore_from(const checkpoint::Snapshot& snapshot) override {
    learner_.restore_from(snapshot);
  }
  void save_to(checkpoint::Snapshot& snapshot) const override { learner_.save_to(snapshot); }
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_.restore_from(snapshot); }
  void save_learner(checkpoint::Snapshot& snapshot) const override { learner_.save_to(snapshot); }
  void restore_learner(const checkpoint::Snapshot& snapshot) override {
    learner_.restore_from(snapshot);
  }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.parameters();
  }
  [[nodiscard]] std::int64_t skipped_steps() const override { return learner_.skipped_steps(); }

 private:
  AloneCommunicator alone_;
  Policy policy_;
  Learner learner_;
};

TEST(ReturnPoint, RestoresTheKeptBitsAsOftenAsAllowed) {
  config::Config config = small_config();
  config.training.max_rollbacks = 2;
  const auto make_agents = [&](SyntheticAgent*& agent) {
    ReturnPoint::Agents agents;
    auto made = std::make_unique<SyntheticAgent>(config);
    agent = made.get();
    agents.push_back(std::move(made));
    return agents;
  };
  SyntheticAgent* agent = nullptr;
  const ReturnPoint::Agents agents = make_agents(agent);
  const Experience experience = share(play_all(4, 1, agent->policy(), 9), 0, 1, 1, 2);
  ReturnPoint point(config.training);
  EXPECT_FALSE(point.go_back(agents)) << "no state is kept yet, so there is none to return to";
  agent->learn_from(experience, 0);
  point.keep(agents);
  const torch::Tensor kept = agent->parameters().flat().clone();
  const double rate = agent->learn_from(experience, 1);
  ASSERT_FALSE(torch::equal(agent->parameters().flat(), kept));
  ASSERT_TRUE(point.go_back(agents));
  EXPECT_TRUE(torch::equal(agent->parameters().flat(), kept));
  const double factor = config.training.rollback_factor;
  EXPECT_DOUBLE_EQ(agent->learn_from(experience, 1), rate * factor);

  // A resumed run must return to the same parameters with the same learning rate.
  checkpoint::Snapshot snapshot(1);
  point.save_to(snapshot);
  snapshot.own_tensors();
  SyntheticAgent* other = nullptr;
  const ReturnPoint::Agents others = make_agents(other);
  ReturnPoint resumed(config.training);
  resumed.restore_from(snapshot, others);
  for (auto* side : {&point, &resumed}) {
    const bool is_first = side == &point;
    ASSERT_TRUE(side->go_back(is_first ? agents : others));
    EXPECT_DOUBLE_EQ((is_first ? agent : other)->learn_from(experience, 2), rate * factor * factor);
    EXPECT_FALSE(side->go_back(is_first ? agents : others))
        << "both returns that the point allows are used up";
  }
  EXPECT_TRUE(torch::equal(other->parameters().flat(), agent->parameters().flat()));
}

}  // namespace
}  // namespace traffic::train
