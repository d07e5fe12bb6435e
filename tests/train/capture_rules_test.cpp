/// What is recorded on a GPU breaks none of the rules of recording.
#include "capture_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphed_fixture.h"
#include "traffic/core/operations_only.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: the helpers beside this file
using ::testing::IsEmpty;
using ::testing::Not;

/// Watches the work wherever it is done.
class WatchingRecorder final : public Recorder {
 public:
  WatchingRecorder(const std::vector<torch::Tensor>& fixed, std::vector<std::string>& broken)
      : fixed_(fixed), broken_(broken) {}
  void warm_up(const Work& work) override { broken_ = broken_capture_rules(work, fixed_); }
  void record(const Work& work) override { work_ = work; }
  void replay() override { warm_up(work_); }
  void reset() override {}

 private:
  const std::vector<torch::Tensor>& fixed_;
  std::vector<std::string>& broken_;
  Work work_;
};

class ARecordedMinibatch : public ::testing::TestWithParam<ActionKind> {};

TEST_P(ARecordedMinibatch, BreaksNoRuleOfRecordingForwardOrBackward) {
  const config::Config config = config_of(GetParam());
  const Lesson lesson(config);
  Pupil pupil(config);
  std::vector<torch::Tensor> fixed{pupil.parameters.flat(), pupil.gradients.flat()};
  std::vector<std::string> broken;
  GraphedMinibatch graphed(pupil.policy, kCoefficients,
                           std::make_unique<WatchingRecorder>(fixed, broken));
  graphed.reserve(lesson.experience, lesson.parts());
  fixed.push_back(graphed.minibatch().tensors().own);  // all share one buffer
  for (const torch::Tensor& states : lesson.parts()) {
    padded(pupil, graphed, lesson, states);
    EXPECT_THAT(broken, IsEmpty());
  }
}
INSTANTIATE_TEST_SUITE_P(Actions, ARecordedMinibatch,
                         ::testing::Values(ActionKind{"categorical", false},
                                           ActionKind{"categorical", true},
                                           ActionKind{"acceleration", true},
                                           ActionKind{"target_speed", false}));

class CaptureRules : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> broken_by(const std::function<void()>& work) const {
    return broken_capture_rules(work, {x_, weight_, n_});
  }

  torch::Tensor x_ = torch::arange(6.0).view({2, 3});
  torch::Tensor weight_ = torch::ones({3}).requires_grad_();
  torch::Tensor n_ = torch::tensor({1, 2});
};

TEST_F(CaptureRules, FindPlantedViolations) {
  using Planted = std::pair<const char*, std::function<void()>>;
  const std::vector<Planted> planted{
      {"item", [&] { x_.sum().item<float>(); }},
      {"is_nonzero", [&] { static_cast<void>(x_.sum().is_nonzero()); }},
      {"equal", [&] { static_cast<void>(torch::equal(x_, x_)); }},
      {"nonzero", [&] { x_.nonzero(); }},
      {"masked_select", [&] { x_.masked_select(x_ > 2.0); }},
      {"index by a mask", [&] { x_.index({x_ > 2.0}); }},
      {"unique", [&] { at::_unique(x_); }},
      {"repeat_interleave", [&] { x_.repeat_interleave(n_, 0); }},
      {"a constant of where", [&] { x_.where(x_ > 2.0, 0.0); }},
      {"a tensor built on the host",
       [&] {
         x_ + torch::tensor({1.0F, 2.0F, 3.0F});
       }},
      {"a number built on the host", [&] { x_ + torch::tensor(1.0F); }},
      {"memory of the host",
       [&] {
         float one = 1.0F;
         x_ + torch::from_blob(&one, {1});
       }},
      {"to a device", [&] { x_.to(torch::kCPU); }},
      {"to the CPU", [&] { x_.cpu(); }},
      {"in the backward pass",
       [&] {
         torch::Tensor y = (x_ * weight_).sum();
         weight_.register_hook([](const torch::Tensor& grad) { grad.sum().item<float>(); });
         y.backward();
       }},
      {"segments built on the host",
       [&] {
         const rl::Segments segments(torch::tensor({std::int64_t{0}, std::int64_t{2}}));
         static_cast<void>(segments.sum(x_.select(1, 0)));
       }},
  };
  for (const auto& [name, work] : planted) EXPECT_THAT(broken_by(work), Not(IsEmpty())) << name;
}

TEST_F(CaptureRules, AllowWhatStaysOnTheDevice) {
  EXPECT_THAT(broken_by([&] {
                torch::Tensor y = (2.0 * x_ + 1.0).masked_fill(x_ > 2.0, 0.0) * weight_;
                y = y.clamp(0.0, 9.0) + torch::full({3}, 4.0, x_.options()) + torch::zeros_like(x_);
                y.index_select(0, torch::arange(2, n_.options())).sum().backward();
                y.detach().sum(torch::kDouble).copy_(n_.to(torch::kDouble).sum());
                weight_.mutable_grad().zero_();
              }),
              IsEmpty());
}

TEST_F(CaptureRules, FindTheLoopsOfTheCpu) {
  // What OperationsOnly is for: without it, the CPU's loops fill tensors on the host.
  const config::Config config = config_of({"categorical", false});
  const Lesson lesson(config);
  Pupil pupil(config);
  const Minibatch all = take(lesson.experience, torch::arange(20), torch::kCPU);
  const std::vector<torch::Tensor> fixed{
      pupil.parameters.flat(), pupil.gradients.flat(),     all.input.own,
      all.input.shared,        all.input.segments.index(), all.input.segments.starts(),
      all.decisions.picks,     all.decisions.row,          all.decisions.action};
  const auto evaluate = [&] { pupil.policy.evaluate(all.input, all.decisions).log_prob.sum(); };
  EXPECT_THAT(broken_capture_rules(evaluate, fixed), Not(IsEmpty()));
  const OperationsOnly operations;
  EXPECT_THAT(broken_capture_rules(evaluate, fixed), IsEmpty());
}

}  // namespace
}  // namespace traffic::train
