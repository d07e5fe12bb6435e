// Queries, keys and values of a thin input (encoder_layer.h), and their backward pass.
#include "thin_projection.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/zeros.h>

#include "buffer_pool.h"

namespace traffic::model {

ThinProjection project_thin(const ThinBasis& thin, const LayerParameters& parameters) {
  return {.weight = pack_forward<float>(parameters[kQkvWeight].mm(thin.basis.t())),
          .bias = at::addmv(parameters[kQkvBias], parameters[kQkvWeight], thin.offset)};
}

ThinGradients::ThinGradients(const ThinInput& input, const LayerParameters& parameters,
                             std::int64_t groups)
    : input_(input),
      qkv_weight_(parameters[kQkvWeight]),
      transposed_(pack_backward<float>(qkv_weight_.mm(input.of.basis.t()))),
      basis_(pack_forward<float>(input.of.basis)),
      grad_rows_(at::empty_like(input.rows)),
      grad_weight_(at::empty({groups, input.rows.size(1), qkv_weight_.size(0)})),
      grad_basis_(at::empty({groups, input.rows.size(1), input.of.basis.size(1)})),
      grad_offset_(at::zeros({groups, input.of.basis.size(1)})) {}

void ThinGradients::add_group(const ThinGroup& group) {
  const std::int64_t rank = input_.rows.size(1);
  const std::int64_t width = input_.of.basis.size(1);
  const std::int64_t rows = group.rows;
  const kernels::Rows<float> grad_rows{data<float>(grad_rows_) + group.first * rank, rank};
  multiply<float>(group.grad_qkv, rows, transposed_.operand, grad_rows, false);
  multiply<float>(group.grad_x, rows, basis_.operand, grad_rows, true);
  Scratch scratch;
  const kernels::Rows<float> transposed{scratch.take<float>(rank * padded(rows)), padded(rows)};
  transpose_rows<float>({input_.rows.const_data_ptr<float>() + group.first * rank, rank}, rows,
                        rank, {}, transposed);
  const auto sum_into = [&](const at::Tensor& sums, kernels::Rows<const float> grad,
                            std::int64_t columns) {
    multiply<float>({transposed.data, transposed.stride}, rank,
                    plain_operand<float>(grad.data, rows, columns, grad.stride),
                    {data<float>(sums) + group.index * rank * columns, columns}, false);
  };
  sum_into(grad_weight_, group.grad_qkv, 3 * width);
  sum_into(grad_basis_, group.grad_x, width);
  kernels::float_table().column_sums(group.grad_x, rows, width,
                                     data<float>(grad_offset_) + group.index * width);
}

void ThinGradients::finish(LayerGradients& grads) const {
  const at::Tensor grad_weight = grad_weight_.sum(0);
  const at::Tensor& grad_bias = grads.parameters[kQkvBias];
  grads.parameters[kQkvWeight] =
      at::addmm(at::outer(grad_bias, input_.of.offset), grad_weight.t(), input_.of.basis);
  // multiply() instead of addmm and addmv: on some processors MKL rounds those differently with
  // another number of threads.
  const std::int64_t depth = qkv_weight_.size(0);
  const std::int64_t width = qkv_weight_.size(1);
  const at::Tensor grad_basis = grad_basis_.sum(0);
  const at::Tensor grad_offset = grad_offset_.sum(0);
  const Operand<float> weight =
      plain_operand<float>(qkv_weight_.const_data_ptr<float>(), depth, width, width);
  const auto add_product = [&](const at::Tensor& grad, std::int64_t rows, const at::Tensor& to) {
    multiply<float>({grad.const_data_ptr<float>(), depth}, rows, weight, {data<float>(to), width},
                    true);
  };
  add_product(grad_weight, grad_weight.size(0), grad_basis);
  add_product(grad_bias, 1, grad_offset);
  finish_products<float>();
  grads.thin = {grad_rows_, {grad_basis, grad_offset}};
}

}  // namespace traffic::model
