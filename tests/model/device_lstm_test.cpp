/// The GPU implementation of the LSTM with its kernels emulated on the CPU.
#include "model/device/device_lstm.h"

#include <gtest/gtest.h>

#include "references.h"
#include "traffic/model/initialise.h"
#include "traffic/model/lstm.h"
#include "warp_emulation.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

struct SequenceShape {
  std::int64_t input;
  std::int64_t hidden;
  std::int64_t layers;
  std::int64_t steps;
  std::int64_t vehicles;
};

const EmulatedLstm kKernels;

struct Sequence {
  explicit Sequence(const SequenceShape& s)
      : lstm(LstmOptions{s.input, s.hidden, s.layers}), shape(s) {
    initialise(*lstm, 7);
    torch::manual_seed(1);
    x = torch::randn({s.steps, s.vehicles, s.input}).requires_grad_(true);
    present = torch::rand({s.steps, s.vehicles}) < 0.7;
    cotangent = torch::randn({s.vehicles, s.hidden});
    for (const auto& item : lstm->named_parameters()) parameters.push_back(item.value());
  }
  [[nodiscard]] Tensor last(const Tensor& mask, at::ScalarType type = at::kFloat) const {
    return device::differentiable_lstm(x, mask.defined() ? mask.view(torch::kByte) : mask,
                                       parameters, type, kKernels);
  }

  Lstm lstm;
  SequenceShape shape;
  Tensor x, present, cotangent;
  std::vector<Tensor> parameters;
};

class DeviceLstm : public ::testing::TestWithParam<SequenceShape> {};

TEST_P(DeviceLstm, EqualsTheReferenceForwardAndInAllGradients) {
  Sequence s(GetParam());
  for (const Tensor& present : {Tensor(), s.present}) {
    zero_gradients(*s.lstm);
    s.x.mutable_grad().reset();
    const Tensor out = s.last(present);
    (out * s.cotangent).sum().backward();
    const NamedTensors p = in_double(*s.lstm);
    const Tensor input = s.x.detach().to(torch::kDouble).requires_grad_(true);
    const Tensor expected = lstm_by_step(input, present, p, s.shape.layers);
    (expected * s.cotangent.to(torch::kDouble)).sum().backward();
    EXPECT_LT(difference(out, expected), kFloatTolerance);
    EXPECT_LT(difference(s.x.grad(), input.grad()), kGradientTolerance);
    const NamedTensors gradients = gradients_of(*s.lstm);
    for (const auto& [name, parameter] : p) {
      EXPECT_LT(difference(gradients.at(name), parameter.grad()), kGradientTolerance) << name;
    }
  }
}
// One step, one layer, more units than a block has threads, and odd numbers of rows and units.
INSTANTIATE_TEST_SUITE_P(Shapes, DeviceLstm,
                         ::testing::Values(SequenceShape{20, 24, 2, 4, 9},
                                           SequenceShape{16, 40, 1, 6, 5},
                                           SequenceShape{32, 160, 2, 3, 2},
                                           SequenceShape{20, 24, 3, 1, 7}),
                         [](const auto& test) {
                           return "hidden" + std::to_string(test.param.hidden) + "layers" +
                                  std::to_string(test.param.layers) + "steps" +
                                  std::to_string(test.param.steps);
                         });

TEST(DeviceLstm, SingleStepsGiveTheBitsOfTheSequence) {
  const Sequence s({20, 24, 2, 5, 6});
  const torch::NoGradGuard no_grad;
  const auto layers = by_layer(s.parameters);
  const auto run = [&](const Tensor& x, const Tensor& hidden, const Tensor& cell) {
    return device::device_lstm({x, {}, hidden, cell}, layers, at::kFloat, kKernels);
  };
  const LstmOutput all = run(s.x.detach(), {}, {});
  EXPECT_TRUE(same_bits(all.last, s.last({})));
  LstmOutput now{{}, torch::zeros({2, 6, 24}), torch::zeros({2, 6, 24})};
  for (std::int64_t t = 0; t < 5; ++t)
    now = run(s.x.detach().slice(0, t, t + 1), now.hidden, now.cell);
  EXPECT_LT(difference(now.last, all.last.to(torch::kDouble)), kFloatTolerance);
  EXPECT_LT(difference(now.hidden, all.hidden.to(torch::kDouble)), kFloatTolerance);
  EXPECT_LT(difference(now.cell, all.cell.to(torch::kDouble)), kFloatTolerance);
}

TEST(DeviceLstm, InHalfPrecisionStaysCloseToFloat) {
  Sequence s({64, 64, 2, 5, 6});
  const auto gradient = [&](at::ScalarType type) {
    zero_gradients(*s.lstm);
    (s.last(s.present, type) * s.cotangent).sum().backward();
    return gradients_of(*s.lstm).at("weight_hh_l0").clone();
  };
  const Tensor exact = gradient(at::kFloat);
  for (const auto type : {at::kBFloat16, at::kHalf}) {
    // Operands are rounded to 8 or 11 bits. A gradient passes through about ten such roundings.
    const double tolerance = type == at::kHalf ? 0.01 : 0.05;
    EXPECT_LT(mean_difference(gradient(type), exact.to(torch::kDouble)), tolerance) << type;
    EXPECT_LT(mean_difference(s.last(s.present, type), s.last(s.present).to(torch::kDouble)),
              tolerance);
  }
}

TEST(DeviceLstm, WithoutVehiclesThereIsNoGradient) {
  Sequence s({20, 24, 2, 3, 0});
  zero_gradients(*s.lstm);
  s.last({}).sum().backward();
  for (const auto& [name, gradient] : gradients_of(*s.lstm)) {
    EXPECT_EQ(gradient.abs().max().item<float>(), 0.0F) << name;
  }
}

}  // namespace
}  // namespace traffic::model
