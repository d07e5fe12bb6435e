#include "dense_products.h"

#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>
#include <ATen/ops/zeros.h>

#include <cstdint>

namespace traffic::model {

at::Tensor dense(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  return at::cpu::addmm(bias, x, weight.t());
}

at::Tensor product_of_transposed(const at::Tensor& a, const at::Tensor& b) {
  return at::cpu::mm(a.t(), b);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) { return at::cpu::mm(a, b); }

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

}  // namespace traffic::model
