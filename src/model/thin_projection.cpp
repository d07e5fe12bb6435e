#include "thin_projection.h"

#include <ATen/ops/addmm.h>
#include <ATen/ops/addmv.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/mv.h>
#include <ATen/ops/outer.h>

#include "buffer_pool.h"

namespace traffic::model {

ThinProjection::ThinProjection(const ThinInput& input, const LayerParameters& parameters)
    : input_(input),
      weight_(pack_forward<float>(parameters[kQkvWeight].mm(input.basis.t()))),
      bias_(at::addmv(parameters[kQkvBias], parameters[kQkvWeight], input.offset)) {}

ThinGradients::ThinGradients(const ThinInput& input, const LayerParameters& parameters,
                             std::int64_t groups)
    : input_(input),
      qkv_weight_(parameters[kQkvWeight]),
      transposed_(pack_backward<float>(qkv_weight_.mm(input.basis.t()))),
      grad_rows_(at::empty_like(input.rows)),
      grad_weight_(at::empty({groups, input.rows.size(1), qkv_weight_.size(0)})) {}

void ThinGradients::add_group(kernels::Rows<const float> grad_qkv, std::int64_t group,
                              std::int64_t first, std::int64_t rows) {
  const std::int64_t rank = input_.rows.size(1);
  const std::int64_t width = qkv_weight_.size(0);
  multiply<float>(grad_qkv, rows, transposed_.operand,
                  {data<float>(grad_rows_) + first * rank, rank}, false);
  Scratch scratch;
  const kernels::Rows<float> transposed{scratch.take<float>(rank * padded(rows)), padded(rows)};
  transpose_rows<float>({input_.rows.const_data_ptr<float>() + first * rank, rank}, rows, rank, {},
                        transposed);
  multiply<float>({transposed.data, transposed.stride}, rank,
                  plain_operand<float>(grad_qkv.data, rows, width, grad_qkv.stride),
                  {data<float>(grad_weight_) + group * rank * width, width}, false);
}

void ThinGradients::finish(LayerGradients& grads) const {
  const at::Tensor grad_weight = grad_weight_.sum(0);
  const at::Tensor& grad_bias = grads.parameters[kQkvBias];
  grads.parameters[kQkvWeight] =
      at::addmm(at::outer(grad_bias, input_.offset), grad_weight.t(), input_.basis);
  grads.thin = {grad_rows_, grad_weight.mm(qkv_weight_), qkv_weight_.t().mv(grad_bias)};
}

}  // namespace traffic::model
