#include "traffic/model/lstm.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "references.h"
#include "traffic/core/error.h"
#include "traffic/model/initialise.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

struct Shape {
  std::int64_t input;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t steps;
  std::int64_t vehicles;
};

Lstm make_lstm(const Shape& shape) {
  Lstm lstm(LstmOptions{shape.input, shape.hidden, shape.layers});
  initialise(*lstm, 7);
  return lstm;
}

/// Vehicles that appear late, leave, and return; a third is present throughout.
Tensor random_presence(const Shape& shape) {
  Tensor present = torch::rand({shape.steps, shape.vehicles}) < 0.7;
  present.slice(1, 0, shape.vehicles / 3).fill_(true);
  return present;
}

struct Passes {
  Tensor out;
  Tensor grad_x;
  NamedTensors gradients;
};
Passes run_lstm(Lstm& lstm, const Tensor& x, const Tensor& present, const Tensor& cotangent) {
  zero_gradients(*lstm);
  const Tensor input = x.detach().clone().requires_grad_(true);
  const Tensor out = lstm->forward(input, present);
  (out * cotangent).sum().backward();
  return {out.detach(), input.grad(), gradients_of(*lstm)};
}

class LstmOfShape : public ::testing::TestWithParam<Shape> {};

TEST_P(LstmOfShape, EqualsTheReferenceForwardAndInAllGradients) {
  const Shape shape = GetParam();
  Lstm lstm = make_lstm(shape);
  torch::manual_seed(1);
  const Tensor x = torch::randn({shape.steps, shape.vehicles, shape.input});
  const Tensor cotangent = torch::randn({shape.vehicles, shape.hidden});
  for (const Tensor& present : {Tensor(), random_presence(shape)}) {
    const Passes fused = run_lstm(lstm, x, present, cotangent);
    const NamedTensors p = in_double(*lstm);
    const Tensor input = x.to(torch::kDouble).requires_grad_(true);
    const Tensor expected = lstm_by_step(input, present, p, shape.layers);
    (expected * cotangent.to(torch::kDouble)).sum().backward();
    EXPECT_LT(difference(fused.out, expected), kFloatTolerance);
    EXPECT_LT(difference(fused.grad_x, input.grad()), kGradientTolerance);
    ASSERT_EQ(fused.gradients.size(), p.size());
    for (const auto& [name, parameter] : p) {
      EXPECT_LT(difference(fused.gradients.at(name), parameter.grad()), kGradientTolerance) << name;
    }
  }
}
// One block and several, blocks of odd size, one step, one layer, and sizes that are not fused.
INSTANTIATE_TEST_SUITE_P(Shapes, LstmOfShape,
                         ::testing::Values(Shape{64, 64, 2, 5, 37}, Shape{256, 256, 2, 10, 40},
                                           Shape{96, 48, 3, 4, 300}, Shape{32, 80, 1, 7, 129},
                                           Shape{64, 64, 2, 1, 20}, Shape{64, 32, 2, 6, 1},
                                           Shape{20, 24, 2, 4, 9}),
                         [](const auto& test) {
                           const Shape& s = test.param;
                           return "in" + std::to_string(s.input) + "hidden" +
                                  std::to_string(s.hidden) + "layers" + std::to_string(s.layers) +
                                  "steps" + std::to_string(s.steps) + "vehicles" +
                                  std::to_string(s.vehicles);
                         });

TEST(Lstm, EqualsTorchsLstmWithTheSameParameters) {
  const Shape shape{64, 64, 2, 6, 50};
  Lstm lstm = make_lstm(shape);
  torch::nn::LSTM theirs(torch::nn::LSTMOptions(64, 64).num_layers(2));
  const torch::NoGradGuard no_grad;
  for (const auto& item : lstm->named_parameters())
    theirs->named_parameters()[item.key()].copy_(item.value());
  torch::manual_seed(2);
  const Tensor x = torch::randn({6, 50, 64});
  const Tensor expected = std::get<0>(theirs->forward(x))[5];
  EXPECT_LT(difference(lstm->forward(x), expected.to(torch::kDouble)), kFloatTolerance);
}

TEST(Lstm, AVehicleThatAppearsLateStartsFromZero) {
  const Shape shape{64, 64, 2, 6, 4};
  Lstm lstm = make_lstm(shape);
  torch::manual_seed(3);
  const Tensor x = torch::randn({6, 4, 64});
  Tensor present = torch::ones({6, 4}, torch::kBool);
  present.slice(0, 0, 3).fill_(false);
  const torch::NoGradGuard no_grad;
  // The same products on the same rows are bit-identical.
  EXPECT_TRUE(same_bits(lstm->forward(x, present), lstm->forward(x.slice(0, 3))));
  EXPECT_EQ(lstm->forward(x, torch::zeros({6, 4}, torch::kBool)).abs().max().item<float>(), 0.0F);
}

class LstmSteps : public ::testing::TestWithParam<bool> {};

TEST_P(LstmSteps, SingleStepsGiveTheResultsOfTheSequence) {
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    const Shape shape = GetParam() ? Shape{64, 48, 2, 5, 150} : Shape{20, 24, 2, 5, 30};
    Lstm lstm = make_lstm(shape);
    lstm->set_compute_type(type);
    torch::manual_seed(4);
    const Tensor x = torch::randn({shape.steps, shape.vehicles, shape.input});
    const torch::NoGradGuard no_grad;
    const Tensor sequence = lstm->forward(x);
    const auto last_of = [&] {
      LstmState state = lstm->zero_state(shape.vehicles);
      Tensor out;
      for (std::int64_t t = 0; t < shape.steps; ++t) out = lstm->step(x[t], state);
      return out;
    };
    // In float only the first product (with zeros, or omitted) differs; in bf16 the carried state
    // is rounded as within a sequence.
    EXPECT_LT(difference(last_of(), sequence.to(torch::kDouble)), kFloatTolerance);
    const Tensor before = last_of();
    lstm->pack_for_inference();
    EXPECT_TRUE(same_bits(last_of(), before));
  }
}
INSTANTIATE_TEST_SUITE_P(Fused, LstmSteps, ::testing::Bool());

TEST(Lstm, RepeatsToTheBitWithAnyNumberOfThreads) {
  const Shape shape{64, 64, 2, 4, 401};
  Lstm lstm = make_lstm(shape);
  torch::manual_seed(5);
  const Tensor x = torch::randn({4, 401, 64});
  const Tensor present = random_presence(shape);
  const Tensor cotangent = torch::randn({401, 64});
  const int before = at::get_num_threads();
  for (const auto type : {torch::kFloat, torch::kBFloat16}) {
    lstm->set_compute_type(type);
    at::set_num_threads(1);
    const Passes first = run_lstm(lstm, x, present, cotangent);
    for (const int threads : {1, 2, 3}) {
      at::set_num_threads(threads);
      const Passes again = run_lstm(lstm, x, present, cotangent);
      EXPECT_TRUE(same_bits(again.out, first.out));
      EXPECT_TRUE(same_bits(again.grad_x, first.grad_x));
      for (const auto& [name, g] : first.gradients)
        EXPECT_TRUE(same_bits(g, again.gradients.at(name))) << name << " " << threads;
    }
  }
  at::set_num_threads(before);
}

TEST(Lstm, Bf16StaysCloseToFloat) {
  const Shape shape{64, 96, 2, 10, 151};
  Lstm lstm = make_lstm(shape);
  torch::manual_seed(6);
  const Tensor x = torch::randn({10, 151, 64});
  const Tensor present = random_presence(shape);
  const Tensor cotangent = torch::randn({151, 96});
  const Passes exact = run_lstm(lstm, x, present, cotangent);
  lstm->set_compute_type(torch::kBFloat16);
  const Passes rounded = run_lstm(lstm, x, present, cotangent);
  // Operands are rounded with errors of 2^-9, in ten steps of two layers.
  EXPECT_LT(mean_difference(rounded.out, exact.out.to(torch::kDouble)), 0.01);
  EXPECT_LT(mean_difference(rounded.grad_x, exact.grad_x.to(torch::kDouble)), 0.02);
  for (const auto& [name, g] : exact.gradients)
    EXPECT_LT(mean_difference(rounded.gradients.at(name), g.to(torch::kDouble)), 0.02) << name;
}

TEST(Lstm, GivesTheSameBitsWithCheckpointing) {
  for (const Shape& shape :
       {Shape{64, 64, 2, 5, 37}, Shape{20, 24, 2, 4, 9}}) {  // fused and not fused
    Lstm lstm = make_lstm(shape);
    torch::manual_seed(8);
    const Tensor x = torch::randn({shape.steps, shape.vehicles, shape.input});
    const Tensor present = random_presence(shape);
    const Tensor cotangent = torch::randn({shape.vehicles, shape.hidden});
    for (const auto type : {torch::kFloat, torch::kBFloat16, torch::kHalf}) {
      lstm->set_compute_type(type);
      lstm->set_checkpointing(false);
      const Passes kept = run_lstm(lstm, x, present, cotangent);
      lstm->set_checkpointing(true);
      const Passes again = run_lstm(lstm, x, present, cotangent);
      EXPECT_TRUE(same_bits(again.out, kept.out));
      EXPECT_TRUE(same_bits(again.grad_x, kept.grad_x));
      for (const auto& [name, g] : kept.gradients)
        EXPECT_TRUE(same_bits(g, again.gradients.at(name))) << name;
    }
  }
}

TEST(Lstm, AcceptsABatchWithoutVehicles) {
  Lstm lstm = make_lstm({64, 64, 2, 3, 0});
  const Passes nothing = run_lstm(lstm, torch::zeros({3, 0, 64}), {}, torch::zeros({0, 64}));
  EXPECT_EQ(nothing.out.sizes(), torch::IntArrayRef({0, 64}));
  for (const auto& [name, g] : nothing.gradients)
    EXPECT_EQ(g.abs().max().item<float>(), 0.0F) << name;
}

TEST(Lstm, RefusesInputsOfOtherShapes) {
  Lstm lstm = make_lstm({64, 64, 2, 3, 5});
  EXPECT_THROW(lstm->forward(torch::zeros({0, 5, 64})), ShapeError);
  EXPECT_THROW(lstm->forward(torch::zeros({3, 5, 32})), ShapeError);
  EXPECT_THROW(lstm->forward(torch::zeros({3, 5, 64}), torch::ones({3, 4}, torch::kBool)),
               ShapeError);
  EXPECT_THROW(lstm->forward(torch::zeros({3, 5, 64}), torch::ones({3, 5})), ShapeError);
  LstmState state = lstm->zero_state(5);
  EXPECT_THROW(lstm->step(torch::zeros({4, 64}), state), ShapeError);
}

}  // namespace
}  // namespace traffic::model
