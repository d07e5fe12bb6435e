/// Compares the dense layers of small matrices with ATen in double, for every instruction set.
#include "model/dense_products.h"

#include <gtest/gtest.h>
#include <torch/autograd.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <tuple>

#include "model/buffer_pool.h"
#include "model/kernels/kernels.h"
#include "references.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using torch::Tensor;

/// Rows, depth and columns of a product. The tests use numbers around 16, the lanes of a vector,
/// and around the sizes of blocks.
using ProductSizes = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

class DenseProducts : public ::testing::TestWithParam<ProductSizes> {
 protected:
  void SetUp() override { torch::manual_seed(1); }
  [[nodiscard]] std::int64_t rows() const { return std::get<0>(GetParam()); }
  [[nodiscard]] std::int64_t depth() const { return std::get<1>(GetParam()); }
  [[nodiscard]] std::int64_t columns() const { return std::get<2>(GetParam()); }
};

Tensor exact(const Tensor& x) { return x.to(torch::kDouble); }

TEST_P(DenseProducts, EqualThoseOfAten) {
  const Tensor a = torch::randn({rows(), depth()});
  const Tensor b = torch::randn({depth(), columns()});
  EXPECT_LT(difference(product(a, b), exact(a).mm(exact(b))), kFloatTolerance);
  const Tensor a_transposed = a.t().contiguous();
  EXPECT_LT(difference(product_of_transposed(a_transposed, b), exact(a).mm(exact(b))),
            kFloatTolerance);
  const Tensor weight = torch::randn({columns(), depth()});
  const Tensor bias = torch::randn({columns()});
  EXPECT_LT(difference(dense(a, weight, bias), exact(a).mm(exact(weight).t()) + exact(bias)),
            kFloatTolerance);
}

TEST_P(DenseProducts, AcceptColumnRangesOfWiderRows) {
  const Tensor a = torch::randn({rows(), depth() + 3}).narrow(1, 2, depth());
  const Tensor b = torch::randn({depth(), columns() + 5}).narrow(1, 1, columns());
  EXPECT_LT(difference(product(a, b), exact(a).mm(exact(b))), kFloatTolerance);
}

TEST_P(DenseProducts, ARowDoesNotDependOnTheOtherRows) {
  const Tensor x = torch::randn({rows(), depth()});
  const Tensor weight = torch::randn({columns(), depth()});
  const Tensor bias = torch::randn({columns()});
  const Tensor all = dense(x, weight, bias);
  for (std::int64_t row = 0; row < rows(); ++row) {
    EXPECT_TRUE(same_bits(dense(x.narrow(0, row, 1), weight, bias), all.narrow(0, row, 1))) << row;
  }
}

TEST_P(DenseProducts, AllInstructionSetsAgree) {
  const Tensor a = torch::randn({rows(), depth()});
  const Tensor b = torch::randn({depth(), columns()});
  const std::int64_t padded_rows = (rows() + 15) / 16 * 16;
  for (int i = 0; kernels::usable_instruction_set(i) != nullptr; ++i) {
    const kernels::InstructionSet& set = *kernels::usable_instruction_set(i);
    const Tensor c = torch::full({rows(), columns()}, 7.0F);
    set.common.product({.rows = rows(),
                        .depth = depth(),
                        .columns = columns(),
                        .a = data<float>(a),
                        .a_row_stride = depth(),
                        .a_depth_stride = 1,
                        .b = data<float>(b),
                        .b_stride = columns(),
                        .c = data<float>(c),
                        .c_stride = columns()});
    EXPECT_LT(difference(c, exact(a).mm(exact(b))), kFloatTolerance) << set.name;
    const Tensor transposed = torch::full({depth(), padded_rows}, 7.0F);
    set.common.transpose_all({data<float>(a), depth()}, rows(), depth(),
                             {data<float>(transposed), padded_rows});
    EXPECT_TRUE(same_bits(transposed.narrow(1, 0, rows()).contiguous(), a.t().contiguous()))
        << set.name;
    EXPECT_EQ(transposed.narrow(1, rows(), padded_rows - rows()).abs().sum().item<float>(), 0.0F);
    const Tensor y = 3 * a.clone();
    set.common.tanh_all(data<float>(y), y.numel());
    EXPECT_LT((exact(y) - (3 * exact(a)).tanh()).abs().max().item<double>(), 4e-7) << set.name;
  }
}

TEST_P(DenseProducts, GradientsThroughTanhEqualThoseOfAten) {
  const Tensor x = torch::randn({rows(), columns()}).requires_grad_();
  const Tensor grad = torch::randn({rows(), columns()});
  const Tensor expected = torch::autograd::grad({(x.tanh() * grad).sum()}, {x})[0];
  const Tensor y = tanh_in_place(x.detach().clone());
  // 1 - y^2 cancels where y is near 1: an error of 2e-7 in y becomes one of 4e-7.
  EXPECT_LT((through_tanh(grad, y) - expected).abs().max().item<double>(), 4e-6);
}

INSTANTIATE_TEST_SUITE_P(Shapes, DenseProducts,
                         ::testing::Values(ProductSizes{1, 1, 1}, ProductSizes{5, 178, 64},
                                           ProductSizes{6, 16, 16}, ProductSizes{7, 17, 3},
                                           ProductSizes{13, 64, 178}, ProductSizes{64, 33, 31},
                                           ProductSizes{3, 320, 65}, ProductSizes{20, 48, 96},
                                           ProductSizes{129, 7, 130}));

TEST(DenseProducts, AProductOfNoRowsIsEmpty) {
  const Tensor none = torch::zeros({0, 9});
  EXPECT_EQ(dense(none, torch::randn({4, 9}), torch::randn({4})).sizes(),
            (std::vector<std::int64_t>{0, 4}));
  // Without rows the gradient of a weight is zero.
  EXPECT_EQ(product_of_transposed(none, torch::zeros({0, 20})).abs().sum().item<float>(), 0.0F);
}

}  // namespace
}  // namespace traffic::model
