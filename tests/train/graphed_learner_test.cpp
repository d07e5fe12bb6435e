/// Runs on 1, 2 and 3 ranks. A learner whose minibatches are padded and recorded learns what one
/// without learns.
#include <gtest/gtest.h>

#include <algorithm>

#include "graphed_fixture.h"
#include "mpi_main.h"
#include "train/phase2_learner.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers beside this file

struct Way {
  ActionKind action;
  std::int64_t accumulation_steps = 1;
  std::int64_t minibatch_size = 32;
  bool constrained = false;
};

void PrintTo(const Way& way, std::ostream* out) {
  PrintTo(way.action, out);
  *out << ", accumulation " << way.accumulation_steps << ", minibatches of " << way.minibatch_size
       << (way.constrained ? ", constrained" : "");
}

class ARecordingLearner : public ::testing::TestWithParam<Way> {
 protected:
  static config::Config config() {
    config::Config config = config_of(GetParam().action);
    config.ppo.accumulation_steps = GetParam().accumulation_steps;
    config.ppo.minibatch_size = GetParam().minibatch_size;
    config.ppo.num_epochs = 2;
    config.ppo.vf_clip_range = 0.2;
    config.run.phase = GetParam().constrained ? "3" : "2";
    config.lagrange.critic_hidden_dim = 16;
    return config;
  }
};

/// A learner with everything that it needs.
struct Student {
  Student(const config::Config& config, comm::Communicator& communicator, bool constrained)
      : policy(config, kWidthsWithImpact, torch::kCPU) {
    if (constrained) {
      constraint = std::make_unique<Constraint>(config, kConflictWidth, kConflicts, communicator);
    }
    learner = std::make_unique<Learner>(config, policy, communicator, kConflicts, constraint.get());
  }

  Policy policy;
  std::unique_ptr<Constraint> constraint;
  std::unique_ptr<Learner> learner;
};

TEST_P(ARecordingLearner, LearnsWhatOneWithoutRecordingLearns) {
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config().comm);
  Student recording(config(), *communicator, GetParam().constrained);
  Student other(config(), *communicator, GetParam().constrained);
  recording.learner->record_minibatches(make_recorder(torch::kCPU));
  auto all = play_all(7, kConflicts, other.policy, 5);
  for (Trajectory& trajectory : all) {
    for (Step& step : trajectory.steps)
      step.cost = {0.1F, 0.2F * static_cast<float>(step.place.size())};
  }
  const Experience mine = share(all, communicator->rank(), communicator->size(), kConflicts, 2);
  const std::int64_t states = 7 * kLength;
  for (std::int64_t iteration = 0; iteration < 2; ++iteration) {
    for (Student* student : {&recording, &other}) {
      if (student->constraint) student->constraint->observe(2.0);
    }
    const UpdateResult a = recording.learner->update(mine, states, iteration);
    const UpdateResult b = other.learner->update(mine, states, iteration);
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.statistics.decisions, b.statistics.decisions);
    EXPECT_EQ(a.statistics.selections, b.statistics.selections);
    EXPECT_NEAR(a.statistics.approx_kl, b.statistics.approx_kl, 1e-4);
    EXPECT_NEAR(a.statistics.value_loss, b.statistics.value_loss, 1e-3);
    EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-3 * std::max(1.0, b.grad_norm));
  }
  // Sums are taken in another order, and Adam divides by the root of small squares: what rounding
  // makes of a step is small beside the step, which is the learning rate of 1e-2.
  const torch::Tensor& a = recording.learner->parameters().flat();
  const torch::Tensor& b = other.learner->parameters().flat();
  EXPECT_LT((a - b).abs().max().item<double>(), 1e-3);
  comm::check_replicas_equal(*communicator, a, "parameters");
}
INSTANTIATE_TEST_SUITE_P(
    Ways, ARecordingLearner,
    ::testing::Values(Way{.action = {"categorical", false}}, Way{.action = {"categorical", true}},
                      Way{.action = {"acceleration", true}}, Way{.action = {"target_speed", false}},
                      Way{.action = {"categorical", true}, .accumulation_steps = 3},
                      // Of some minibatches a rank of three has no state.
                      Way{.action = {"categorical", false}, .minibatch_size = 6},
                      Way{.action = {"categorical", true}, .constrained = true}));

}  // namespace
}  // namespace traffic::train
