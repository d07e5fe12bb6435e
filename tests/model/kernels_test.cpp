/// All instruction sets of this processor compute the same results.
#include "model/kernels/kernels.h"

#include <gtest/gtest.h>

#include <functional>

#include "model/attention_arguments.h"
#include "model/buffer_pool.h"
#include "references.h"

namespace traffic::model {
namespace {

using namespace testing;  // NOLINT: the references in this folder
using kernels::Bf16;
using kernels::InstructionSet;
using torch::Tensor;

using Outputs = std::vector<Tensor>;

/// Runs the work with every instruction set and compares all outputs with those of the last, plain
/// one.
/// @param tolerance relative to an output's largest entry; 0: bit-identical
void expect_all_agree(const std::function<Outputs(const InstructionSet&)>& work, double tolerance) {
  std::vector<const InstructionSet*> sets;
  for (int i = 0; kernels::usable_instruction_set(i) != nullptr; ++i)
    sets.push_back(kernels::usable_instruction_set(i));
  ASSERT_STREQ(sets.back()->name, "x86_64");
  EXPECT_EQ(sets.front(), &kernels::instruction_set());
  const Outputs expected = work(*sets.back());
  for (const InstructionSet* set : sets) {
    const Outputs outputs = work(*set);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_LE(difference(outputs[i], expected[i].to(torch::kDouble)), tolerance)
          << set->name << ", output " << i;
    }
  }
}

template <typename T>
const kernels::Table<T>& table_of(const InstructionSet& set) {
  if constexpr (std::is_same_v<T, float>) {
    return set.for_float;
  } else {
    return set.for_bf16;
  }
}

template <typename T>
class Kernels : public ::testing::Test {
 protected:
  void SetUp() override { torch::manual_seed(1); }
  static Tensor draw(at::IntArrayRef sizes) { return torch::randn(sizes); }
  static Tensor operand(at::IntArrayRef sizes) { return draw(sizes).to(kScalarType<T>); }
  static Tensor blank(at::IntArrayRef sizes) { return torch::zeros(sizes, kScalarType<T>); }
  /// Instruction sets add in another order or use fused multiply-add: an error of 2^-24 for each of
  /// some dozens of terms. A bf16 result may then be rounded the other way, which changes it by at
  /// most 2^-7 of its size.
  static constexpr double kTolerance = std::is_same_v<T, float> ? 5e-6 : 1.0 / 128;
};
using Types = ::testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Kernels, Types);

constexpr std::int64_t kRows = 21;
constexpr std::int64_t kWidth = 96;

TYPED_TEST(Kernels, OfLayerNormAgree) {
  using T = TypeParam;
  const Tensor product = this->draw({kRows, kWidth}), residual = this->draw({kRows, kWidth});
  const Tensor bias = this->draw({kWidth}), gamma = this->draw({kWidth}),
               beta = this->draw({kWidth}), grad_out = this->draw({kRows, kWidth});
  expect_all_agree(
      [&](const InstructionSet& set) -> Outputs {
        const Tensor xhat = this->blank({kRows, kWidth}), operand = this->blank({kRows, kWidth}),
                     rstd = torch::zeros({kRows}), out = torch::zeros({kRows, kWidth});
        table_of<T>(set).layer_norm({.rows = kRows,
                                     .width = kWidth,
                                     .product = data<float>(product),
                                     .bias = data<float>(bias),
                                     .residual = data<float>(residual),
                                     .gamma = data<float>(gamma),
                                     .beta = data<float>(beta),
                                     .eps = 1e-5F,
                                     .xhat = data<T>(xhat),
                                     .rstd = data<float>(rstd),
                                     .out = data<float>(out),
                                     .out_operand = {data<T>(operand), kWidth}});
        const Tensor grad = torch::zeros({kRows, kWidth}), g_op = this->blank({kRows, kWidth}),
                     sums = torch::zeros({3, kWidth}), pairs = this->blank({kRows + 1, kWidth});
        table_of<T>(set).layer_norm_backward({.rows = kRows,
                                              .width = kWidth,
                                              .grad_out = data<float>(grad_out),
                                              .xhat = data<T>(xhat),
                                              .rstd = data<float>(rstd),
                                              .gamma = data<float>(gamma),
                                              .grad = data<float>(grad),
                                              .grad_operand = {data<T>(g_op), kWidth},
                                              .grad_gamma = data<float>(sums),
                                              .grad_beta = data<float>(sums) + kWidth,
                                              .grad_bias = data<float>(sums) + 2 * kWidth});
        table_of<T>(set).scale_shift_pairs(data<T>(xhat), data<float>(gamma), data<float>(beta),
                                           kRows, kWidth, data<T>(pairs));
        return {xhat, rstd, out, operand, grad, g_op, sums, pairs};
      },
      this->kTolerance);
}

TYPED_TEST(Kernels, OfGeluAgreeAndAreTheExactForm) {
  using T = TypeParam;
  const Tensor tile = 2 * this->draw({kRows, 64}), bias = this->draw({64}),
               grad_after = this->draw({kRows, 64});
  expect_all_agree(
      [&](const InstructionSet& set) -> Outputs {
        const Tensor before = this->blank({kRows, 64}), after = this->blank({kRows, 64}),
                     grad = this->blank({kRows, 64}), pairs = this->blank({kRows + 1, 64}),
                     sums = torch::zeros({64});
        table_of<T>(set).gelu({data<float>(tile), kRows, 64, 64}, data<float>(bias),
                              {data<T>(before), 64}, {data<T>(after), 64});
        table_of<T>(set).gelu_backward({data<float>(grad_after), kRows, 64, 64},
                                       {data<T>(before), 64}, {data<T>(grad), 64}, data<T>(pairs),
                                       data<float>(sums));
        EXPECT_LT(difference(after, at::gelu((tile + bias).to(torch::kDouble))), this->kTolerance);
        const Tensor x = before.to(torch::kDouble).requires_grad_(true);
        (at::gelu(x) * grad_after.to(torch::kDouble)).sum().backward();
        EXPECT_LT(difference(grad, x.grad()), this->kTolerance);
        return {before, after, grad, pairs, sums};
      },
      this->kTolerance);
}

TYPED_TEST(Kernels, OfLstmGatesAgree) {
  using T = TypeParam;
  const Tensor product = this->draw({kRows, 64}), bias = this->draw({64}),
               previous = this->draw({kRows, 16}), grad_output = this->draw({kRows, 16}),
               grad_cell_in = this->draw({kRows, 16});
  const Tensor present = (torch::rand({kRows}) < 0.7).to(torch::kByte);
  expect_all_agree(
      [&](const InstructionSet& set) -> Outputs {
        const Tensor cell = torch::zeros({kRows, 16}), output = this->blank({kRows, 16}),
                     output_float = torch::zeros({kRows, 16}), gates = this->blank({kRows, 64});
        table_of<T>(set).lstm_gates({.rows = kRows,
                                     .product = data<float>(product),
                                     .bias = data<float>(bias),
                                     .previous_cell = {data<float>(previous), 16},
                                     .present = data<std::uint8_t>(present),
                                     .cell = {data<float>(cell), 16},
                                     .output = {data<T>(output), 16},
                                     .output_float = {data<float>(output_float), 16},
                                     .gates = data<T>(gates)});
        const Tensor grad_cell = grad_cell_in.clone(), grad_gates = this->blank({kRows, 64}),
                     grad_bias = torch::zeros({64});
        table_of<T>(set).lstm_gates_backward({.rows = kRows,
                                              .grad_output = {data<float>(grad_output), 16},
                                              .grad_cell = data<float>(grad_cell),
                                              .gates = data<T>(gates),
                                              .cell = data<float>(cell),
                                              .previous_cell = data<float>(previous),
                                              .present = data<std::uint8_t>(present),
                                              .grad_gates = {data<T>(grad_gates), 64},
                                              .grad_bias = data<float>(grad_bias)});
        return {cell, output, output_float, gates, grad_cell, grad_gates, grad_bias};
      },
      this->kTolerance);
}

TYPED_TEST(Kernels, ThatOnlyMoveDataGiveTheSameBits) {
  using T = TypeParam;
  const Tensor in = this->draw({kRows, kWidth});
  const Tensor rows = this->operand({kRows, kWidth});
  expect_all_agree(
      [&](const InstructionSet& set) -> Outputs {
        const auto& table = table_of<T>(set);
        const Tensor converted = this->blank({kRows, kWidth}), back = torch::zeros({kRows, kWidth}),
                     pairs = this->blank({kRows + 1, kWidth}),
                     pairs_float = this->blank({kRows + 1, kWidth}),
                     panel = this->blank({kWidth, 64}), transposed = this->blank({kWidth, 32});
        table.convert({data<float>(in), kRows, kWidth, kWidth}, {data<T>(converted), kWidth});
        table.convert_to_float({data<T>(rows), kWidth}, kRows, kWidth, data<float>(back));
        EXPECT_TRUE(torch::equal(back, rows.to(torch::kFloat)));
        EXPECT_TRUE(torch::equal(converted, in.to(kScalarType<T>)));
        table.pack_pairs({data<T>(rows), kWidth}, kRows, kWidth, {data<T>(pairs), kWidth});
        table.pack_pairs_float({data<float>(in), kWidth}, kRows, kWidth,
                               {data<T>(pairs_float), kWidth});
        table.pack_weight_rows(data<float>(in), kWidth, kWidth, data<T>(panel));
        table.transpose({data<T>(rows), kWidth}, kRows, kWidth, {data<T>(transposed), 32});
        EXPECT_TRUE(torch::equal(transposed.slice(1, 0, kRows), rows.t()));
        return {converted, back, pairs, pairs_float, panel, transposed};
      },
      0.0);
}

struct Heads {
  std::int64_t heads;
  std::int64_t channels;
};
class AttentionKernels : public ::testing::TestWithParam<Heads> {};

TEST_P(AttentionKernels, Agree) {
  const GraphBatch graph = random_graphs({40, 1, 25}, 9, 5);
  const std::int64_t heads = GetParam().heads;
  const std::int64_t width = heads * GetParam().channels;
  const EdgeIndex index = make_edge_index(graph, true);
  const EdgeParameters p{torch::randn({width, 4}), torch::randn({32, 4}), torch::randn({32}),
                         torch::randn({heads, 32}), torch::randn({heads})};
  const PackedEdgeParameters packed(p, heads);
  const kernels::AttentionEdges edges = packed.with(index);
  const Tensor qkv = torch::randn({66, 3 * width}), grad_out = torch::randn({66, width});
  expect_all_agree(
      [&](const InstructionSet& set) -> Outputs {
        const Tensor out = torch::zeros({66, width}),
                     probability = torch::zeros({graph.num_edges(), heads}),
                     grad = torch::zeros({66, 3 * width}),
                     scratch = torch::zeros({graph.num_edges(), kernels::kMaxHeads});
        set.common.attention(
            {edges, 0, data<float>(qkv), data<float>(out), data<float>(probability)}, 0, 66,
            data<float>(scratch));
        const AttentionGradients sums(1, width, heads);
        set.common.attention_backward({.edges = edges,
                                       .base = 0,
                                       .qkv = data<float>(qkv),
                                       .grad_out = data<float>(grad_out),
                                       .grad_qkv = data<float>(grad),
                                       .probability = data<float>(probability),
                                       .out_ptr = index.out_ptr.const_data_ptr<std::int32_t>(),
                                       .out_edge = index.out_edge.const_data_ptr<std::int32_t>(),
                                       .edge_dst = index.edge_dst.const_data_ptr<std::int32_t>()},
                                      sums.group(0), 0, 66, data<float>(scratch));
        const EdgeParameters total = sums.total();
        return {out,
                probability,
                grad,
                total.edge_weight,
                total.risk_in_weight,
                total.risk_in_bias,
                total.risk_out_weight};
      },
      // Five times kFloatTolerance, because the exponential of a score enlarges the score's error.
      5e-5);
}
INSTANTIATE_TEST_SUITE_P(Sizes, AttentionKernels,
                         ::testing::Values(Heads{8, 32}, Heads{4, 16}, Heads{3, 48}, Heads{12, 16}),
                         [](const auto& test) {
                           return std::to_string(test.param.heads) + "heads";
                         });

}  // namespace
}  // namespace traffic::model
