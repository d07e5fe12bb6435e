/// Tests of the building blocks of the fused layers (several operations in one pass over memory):
/// packed operands, products, gradients of weights.
#include <gtest/gtest.h>

#include <type_traits>
#include <vector>

#include "model/buffer_pool.h"
#include "model/gemm.h"
#include "model/packed_weight.h"
#include "references.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the reference implementations in this folder
using kernels::Bf16;
using torch::Tensor;

template <typename T>
Tensor rounded(const Tensor& t) {
  return t.to(kScalarType<T>).contiguous();
}
/// The weight, with its rows in the order in which they are packed for a product.
Tensor reordered(const Tensor& weight, RowOrder order) {
  std::vector<Tensor> groups;
  for (std::int64_t g = 0; g < weight.size(0) / 16; ++g) {
    const std::int64_t row = order.first_row(g, weight.size(0));
    groups.push_back(weight.slice(0, row, row + 16));
  }
  return torch::cat(groups);
}

template <typename T>
class Products : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::is_same_v<T, float> && !has_bf16_products()) {
      GTEST_SKIP() << "this machine cannot multiply in bfloat16, so it fuses no bfloat16 layers";
    }
  }
};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Products, Types);

constexpr std::int64_t kOuts[] = {16, 64, 96, 192, 320};
constexpr std::int64_t kIns[] = {16, 48, 64, 144};

TYPED_TEST(Products, WithPackedWeightsEqualPlainOnes) {
  using T = TypeParam;
  torch::manual_seed(1);
  for (const std::int64_t gates : {1, 4}) {
    for (const std::int64_t out : kOuts) {
      if (out % (16 * gates) != 0) continue;
      for (const std::int64_t in : kIns) {
        const RowOrder order{gates};
        const Tensor weight = torch::randn({out, in});
        const Tensor x = rounded<T>(torch::randn({37, in}));
        const Tensor grad = rounded<T>(torch::randn({37, out}));
        const Tensor w = reordered(rounded<T>(weight), order).to(torch::kDouble);
        const Tensor y = torch::full({37, out}, 2.0F);
        const auto forward = pack_forward<T>(weight, order);
        multiply<T>({data<T>(x), in}, 37, forward.operand, {data<float>(y), out}, true);
        const Tensor grad_x = torch::empty({37, in});
        const auto backward = pack_backward<T>(weight, order);
        multiply<T>({data<T>(grad), out}, 37, backward.operand, {data<float>(grad_x), in}, false);
        finish_products<T>();
        // A product of two bfloat16 numbers is exact in float. So for bfloat16, too, only the float
        // arithmetic rounds, and the tolerance is that of float.
        EXPECT_LT(difference(y, x.to(torch::kDouble).matmul(w.t()) + 2.0), kFloatTolerance);
        EXPECT_LT(difference(grad_x, grad.to(torch::kDouble).matmul(w)), kFloatTolerance)
            << out << " x " << in << ", gates " << gates;
      }
    }
  }
}

TYPED_TEST(Products, OfTransposedGradientsAndInputsAreTheGradientOfTheWeight) {
  using T = TypeParam;
  torch::manual_seed(2);
  for (const std::int64_t gates : {1, 4}) {
    for (const std::int64_t rows : {1, 2, 31, 32, 100, 129}) {
      const std::int64_t out = 192;
      const std::int64_t in = 144;
      const RowOrder order{gates};
      const Tensor grad_y = rounded<T>(torch::randn({rows, out}));
      const Tensor x = rounded<T>(torch::randn({rows, in}));
      const std::int64_t depth = product_depth<T>(rows);
      const std::int64_t stride = padded(depth);
      const Tensor transposed = pooled_empty<T>({out, stride});
      const Tensor pairs = pooled_empty<T>({depth, in});
      transposed.fill_(1e9);  // entries that are not overwritten would show
      pairs.fill_(1e9);
      transpose_rows<T>({data<T>(grad_y), out}, rows, out, order, {data<T>(transposed), stride});
      kernels::table<T>().pack_pairs({data<T>(x), in}, rows, in, {data<T>(pairs), in});
      const Tensor grad = torch::full({out, in}, 3.0F);
      add_weight_gradient<T>({{data<T>(transposed), stride},
                              plain_operand<T>(data<T>(pairs), depth, in, in),
                              grad,
                              true});
      const Tensor product = grad_y.to(torch::kDouble).t().matmul(x.to(torch::kDouble)) + 3.0;
      EXPECT_LT(difference(reordered(grad, order), product), kFloatTolerance)
          << rows << " rows, gates " << gates;
    }
  }
}

TEST(Products, WriteNothingBehindTheLastRowIfTheNumberOfRowsIsOdd) {
  const Tensor x = torch::ones({3, 64});
  const Tensor out = torch::full({4, 64}, 7.0F);
  const auto& table = kernels::table<float>();
  table.pack_pairs({data<float>(x), 64}, 3, 64, {data<float>(out), 64});
  EXPECT_TRUE(out[3].eq(7.0).all().item<bool>());
  table.scale_shift_pairs(data<float>(x), data<float>(x), data<float>(x), 3, 64, data<float>(out));
  EXPECT_TRUE(out[3].eq(7.0).all().item<bool>());
  const Tensor gradient = torch::empty({3, 64});
  const Tensor sums = torch::zeros({64});
  table.gelu_backward({data<float>(x), 3, 64, 64}, {data<float>(x), 64},
                      {data<float>(gradient), 64}, data<float>(out), data<float>(sums));
  EXPECT_TRUE(out[3].eq(7.0).all().item<bool>());
}

TEST(Scratch, NestsAndNeverOverlaps) {
  std::vector<std::pair<std::byte*, std::int64_t>> taken;
  const auto take = [&](Scratch& scratch, std::int64_t bytes) {
    auto* p = scratch.take<std::byte>(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
    for (const auto& [other, size] : taken) EXPECT_TRUE(p + bytes <= other || other + size <= p);
    taken.emplace_back(p, bytes);
    return p;
  };
  Scratch outer;
  take(outer, 100);
  std::byte* first = nullptr;
  {
    Scratch inner;
    first = take(inner, 3'000'000);
    take(inner, 9'000'000);  // more than one block of the thread's scratch memory holds
    take(inner, 1);
    taken.resize(1);
  }
  Scratch again;
  EXPECT_EQ(take(again, 3'000'000), first);  // the memory is used again
}

}  // namespace
}  // namespace traffic::model
