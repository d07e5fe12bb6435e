// The input layer of the graph encoder, LayerNorm(W x + b), for inference on the CPU.
#include "input_projection.h"

#include <torch/types.h>

#include "buffer_pool.h"
#include "encoder_layer.h"

namespace traffic::model {

InputProjection pack_input(const torch::nn::LinearImpl& input,
                           const torch::nn::LayerNormImpl& norm) {
  InputProjection packed{.weight = input.weight.detach().t().contiguous(),
                         .operand = {},
                         .bias = input.bias.detach(),
                         .gamma = norm.weight.detach(),
                         .beta = norm.bias.detach()};
  const std::int64_t width = packed.weight.size(1);
  packed.operand =
      plain_operand(packed.weight.const_data_ptr<float>(), packed.weight.size(0), width, width);
  return packed;
}

at::Tensor project_input(const at::Tensor& features, const InputProjection& packed) {
  const at::Tensor x = features.contiguous();
  const std::int64_t rows = x.size(0);
  const std::int64_t width = packed.operand.columns;
  at::Tensor h = pooled_empty<float>({rows, width});
  for_row_blocks(0, rows, [&](std::int64_t row, std::int64_t count) {
    Scratch scratch;
    auto* product = scratch.take<float>(count * width);
    multiply<float>({x.const_data_ptr<float>() + row * x.size(1), x.size(1)}, count, packed.operand,
                    {product, width}, false);
    kernels::table<float>().layer_norm({.rows = count,
                                        .width = width,
                                        .product = product,
                                        .bias = packed.bias.const_data_ptr<float>(),
                                        .residual = nullptr,
                                        .gamma = packed.gamma.const_data_ptr<float>(),
                                        .beta = packed.beta.const_data_ptr<float>(),
                                        .eps = static_cast<float>(kNormEps),
                                        .xhat = nullptr,
                                        .rstd = nullptr,
                                        .out = data<float>(h) + row * width,
                                        .out_operand = {nullptr, 0}});
  });
  return h;
}

}  // namespace traffic::model
