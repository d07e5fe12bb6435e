// Layers of small float matrices on the CPU, computed by the kernels in kernels/dense.h.
#include "dense_products.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdint>

#include "buffer_pool.h"
#include "kernels/kernels.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// The left factor of a product: a matrix or, with exchanged strides, the transpose of one.
struct Left {
  std::int64_t rows;
  std::int64_t depth;
  const float* data;
  std::int64_t row_stride;
  std::int64_t depth_stride;
};

/// @param rows dimension of x that is used as rows: 0, or 1 for the transpose of x
Left left(const at::Tensor& x, std::int64_t rows) {
  return {.rows = x.size(rows),
          .depth = x.size(1 - rows),
          .data = x.const_data_ptr<float>(),
          .row_stride = x.stride(rows),
          .depth_stride = x.stride(1 - rows)};
}

at::Tensor multiply(const Left& a, const at::Tensor& b) {
  TRAFFIC_CHECK(b.size(0) == a.depth && (b.stride(1) == 1 || b.size(1) <= 1),
                "a product needs {} rows without gaps on its right-hand side, found {}", a.depth,
                b.size(0));
  at::Tensor c = at::empty({a.rows, b.size(1)}, b.options());
  kernels::float_table().product({.rows = a.rows,
                                  .depth = a.depth,
                                  .columns = b.size(1),
                                  .a = a.data,
                                  .a_row_stride = a.row_stride,
                                  .a_depth_stride = a.depth_stride,
                                  .b = b.const_data_ptr<float>(),
                                  .b_stride = b.stride(0),
                                  .c = data<float>(c),
                                  .c_stride = b.size(1)});
  return c;
}

}  // namespace

at::Tensor dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  TRAFFIC_CHECK(weight.stride(1) == 1 && x.size(1) == weight.size(1),
                "a layer needs {} inputs and weight rows without gaps, found {} inputs",
                weight.size(1), x.size(1));
  const std::int64_t rows = x.size(0);
  const std::int64_t depth = x.size(1);
  const std::int64_t width = weight.size(0);
  const std::int64_t padded_width =
      (width + kernels::kWidthUnit - 1) / kernels::kWidthUnit * kernels::kWidthUnit;
  const auto& kernels = kernels::float_table();
  Scratch scratch;
  auto* transposed = scratch.take<float>(depth * padded_width);
  kernels.transpose_all({weight.const_data_ptr<float>(), weight.stride(0)}, width, depth,
                        {transposed, padded_width});
  at::Tensor out = at::empty({rows, width}, x.options());
  auto* to = data<float>(out);
  auto* product = width == padded_width ? to : scratch.take<float>(rows * padded_width);
  kernels.product({.rows = rows,
                   .depth = depth,
                   .columns = padded_width,
                   .a = x.const_data_ptr<float>(),
                   .a_row_stride = x.stride(0),
                   .a_depth_stride = x.stride(1),
                   .b = transposed,
                   .b_stride = padded_width,
                   .c = product,
                   .c_stride = padded_width});
  if (product != to) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::copy_n(product + r * padded_width, width, to + r * width);
  }
  if (!bias.defined()) return out;
  const auto* b = bias.const_data_ptr<float>();
  for (std::int64_t r = 0; r < rows; ++r, to += width) {
    for (std::int64_t c = 0; c < width; ++c) to[c] += b[c];
  }
  return out;
}

at::Tensor product_of_transposed(const at::Tensor& a, const at::Tensor& b) {
  return multiply(left(a, 1), b);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return multiply(left(a, 0), b); }

at::Tensor sum_rows(const at::Tensor& x) {
  const std::int64_t width = x.size(1);
  at::Tensor sum = at::zeros({width}, x.options());
  auto* total = sum.mutable_data_ptr<float>();
  const auto* row = x.const_data_ptr<float>();
  for (std::int64_t i = 0; i < x.size(0); ++i, row += width) {
    for (std::int64_t c = 0; c < width; ++c) total[c] += row[c];
  }
  return sum;
}

void add_shared(at::Tensor& x, const at::Tensor& shared, const at::Tensor& group) {
  const std::int64_t width = x.size(1);
  const auto* of_row = group.const_data_ptr<std::int64_t>();
  auto* row = x.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < x.size(0); ++i, row += width) {
    const float* common = shared.const_data_ptr<float>() + of_row[i] * width;
    for (std::int64_t c = 0; c < width; ++c) row[c] += common[c];
  }
}

at::Tensor sum_groups(const at::Tensor& x, const at::Tensor& group, std::int64_t groups) {
  const std::int64_t width = x.size(1);
  at::Tensor sums = at::zeros({groups, width}, x.options());
  const auto* of_row = group.const_data_ptr<std::int64_t>();
  const auto* row = x.const_data_ptr<float>();
  for (std::int64_t i = 0; i < x.size(0); ++i, row += width) {
    float* sum = sums.mutable_data_ptr<float>() + of_row[i] * width;
    for (std::int64_t c = 0; c < width; ++c) sum[c] += row[c];
  }
  return sums;
}

at::Tensor tanh_in_place(const at::Tensor& x) {
  TRAFFIC_CHECK(x.is_contiguous(), "x must be contiguous");
  kernels::float_table().tanh_all(data<float>(x), x.numel());
  return x;
}

at::Tensor through_tanh(const at::Tensor& grad, const at::Tensor& y) {
  TRAFFIC_CHECK(grad.is_contiguous() && y.is_contiguous() && grad.sizes() == y.sizes(),
                "grad and y must be contiguous and of equal shape");
  at::Tensor out = at::empty_like(y);
  kernels::float_table().tanh_backward_all(grad.const_data_ptr<float>(), y.const_data_ptr<float>(),
                                           y.numel(), data<float>(out));
  return out;
}

}  // namespace traffic::model
